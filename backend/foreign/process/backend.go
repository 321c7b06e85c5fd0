package process

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/machine"
	"matladder/problem"
)

// Unsigned is the variant in which an int8 operand a is handed over as uint8, 128 added to each
// element, for libraries that multiply uint8 by int8 faster or not otherwise. The 128 is taken
// out again where the output is verified, outside the timed region; in a scaled product the
// library does so itself, as the zero point of a.
const Unsigned = "uint8"

// Options are for Open.
type Options struct {
	Program string // of Program
	Library Library
	Threads int            // that the library may use; at least 1
	Host    machine.Device // the machine, which the library is a program of

	// Packed has b laid out by the library ahead of launches, by its own interface for
	// that (MKL, oneDNN): what Program.Prepack of package matladder is compared with.
	Packed bool

	// CallTimeout limits what takes no context: inputs, check, results. 10 minutes if 0.
	CallTimeout time.Duration
}

// Backend is one library.
type Backend struct {
	options Options
	version string
	has     []string // names of forms of a product, or of families
	asks    dialect

	mu     sync.Mutex
	spare  *process // which has greeted and computes nothing now, where the dialect keeps processes
	closed bool
}

// A dialect is how a kind of library is asked for what it computes.
type dialect interface {
	hello(b *Backend) (request string, arrays [][]byte)
	supports(b *Backend, p problem.Problem) error
	variants(b *Backend, p problem.Problem) []string
	// request is what makes a process ready for a problem that is supported.
	request(b *Backend, spec backend.ProblemSpec) (string, error)
	products(b *Backend) []string // for people
	keeps() bool                  // a process takes long to begin and may compute one problem after another
}

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Solver  = (*Backend)(nil)
	_ backend.Plugged = (*Backend)(nil)
)

// Open loads the library once to see that it works and what it has.
func Open(ctx context.Context, o Options) (*Backend, error) {
	var asks dialect = multiplies{}
	if o.Library.kind == kindTorch {
		asks = torch{}
	}
	b, err := open(ctx, o, asks)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", o.Library.Name, o.Library.Path, err)
	}
	return b, nil
}

func open(ctx context.Context, o Options, asks dialect) (*Backend, error) {
	if o.Threads < 1 {
		return nil, fmt.Errorf("peer: %d threads", o.Threads)
	}
	o.CallTimeout = cmp.Or(o.CallTimeout, 10*time.Minute)
	b := &Backend{options: o, asks: asks}
	p, ready, err := b.greeted(ctx)
	if err != nil {
		return nil, err
	}
	b.done(p)
	has, version, _ := strings.Cut(ready, " ")
	b.has, b.version = strings.Split(has, ","), strings.TrimSpace(version)
	return b, nil
}

// Name is the library's.
func (b *Backend) Name() string { return b.options.Library.Name }

// Device is the machine.
func (b *Backend) Device() machine.Device { return b.options.Host }

// Plugin is the library's file and its version, with the cores that it takes
// those of this machine for, where it says so.
func (b *Backend) Plugin() (name, version string) {
	return filepath.Base(b.options.Library.Path), b.version
}

// Close ends the process that was kept for the next problem. Those of executables are theirs.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.spare != nil {
		b.spare.end()
		b.spare = nil
	}
	return nil
}

// Supports returns why the library does not compute p, or nil.
func (b *Backend) Supports(p problem.Problem) error { return b.asks.supports(b, p) }

// Variants lists the forms in which the library computes p: "" as asked, or Unsigned.
func (b *Backend) Variants(p problem.Problem) []string { return b.asks.variants(b, p) }

// Products lists what the library computes, for people.
func (b *Backend) Products() []string { return b.asks.products(b) }

// process is one that has greeted: the one that was kept, or a new one.
func (b *Backend) process(ctx context.Context) (process, error) {
	b.mu.Lock()
	kept := b.spare
	b.spare = nil
	b.mu.Unlock()
	if kept != nil {
		if kept.Alive() {
			return *kept, nil
		}
		kept.end()
	}
	p, _, err := b.greeted(ctx)
	return p, err
}

// greeted is a new process that is ready, and what it says of itself.
func (b *Backend) greeted(ctx context.Context) (p process, ready string, err error) {
	if p, err = start(b.options); err != nil {
		return p, "", err
	}
	request, arrays := b.asks.hello(b)
	if ready, err = p.answer(ctx, "loading the "+b.options.Library.what(), "ready", request, arrays, nil); err != nil {
		p.end()
	}
	return p, ready, err
}

// done takes a process that computes nothing any more: it is kept or ended.
func (b *Backend) done(p process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asks.keeps() && b.spare == nil && !b.closed && p.Alive() {
		b.spare = &p
		return
	}
	p.end()
}

// Solve has a process compute the problem.
func (b *Backend) Solve(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	if err := b.Supports(spec.Problem); err != nil {
		return nil, fmt.Errorf("%w: %w", err, backend.ErrUnsupported)
	}
	if !slices.Contains(b.Variants(spec.Problem), spec.Variant) {
		return nil, fmt.Errorf("%s has no variant %q of %s: %w", b.Name(), spec.Variant, spec.Problem, backend.ErrUnsupported)
	}
	request, err := b.asks.request(b, spec)
	if err != nil {
		return nil, err
	}
	in, out, err := operandsOf(spec.Problem)
	if err != nil {
		return nil, err
	}
	process, err := b.process(ctx)
	if err != nil {
		return nil, err
	}
	if _, err = process.ask(ctx, request, nil, nil); err != nil {
		process.end()
		return nil, err
	}
	e := &executable{backend: b, process: process, in: in, out: out, unsigned: spec.Variant == Unsigned}
	if _, ok := b.asks.(guest); ok {
		return stage.NewChanging("peer", in, out, e, e.runChanged), nil
	}
	return stage.New("peer", in, out, e), nil
}
