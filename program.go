package matladder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"matladder/backend"
	"matladder/backend/timeline"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// Program is tile programs compiled for a backend. Several goroutines may use it at once.
type Program struct {
	device   *device
	programs []*tile.Program
	packed   []*tile.Program // for a b that is packed beforehand; nil for the same
	params   backend.Params
	kernel   string
	blocks   tile.Blocks

	inputs, outputs []argument
	inPlace         map[int]int // number of an input, by that of the output that may be its memory
	bounds          []bound
	tabled          problem.Tabled // nil where nothing is known of tables but bounds

	variants atomic.Pointer[[]*variant]
	states   sync.Pool // of *call

	mu     sync.Mutex // compiling, and closing
	closed bool
}

// argument is an array of a program.
type argument struct {
	*tile.Ref
	rank  int
	shape [MaxRank]int
}

// mostArguments is what masks of them can hold.
const mostArguments = 64

// bound is what elements of an input, a table, may be at most: one that says how long an axis
// is, or those that say which block of an array a program has.
type bound struct {
	input       int
	first, last int    // elements
	length      *bound // of one element, which says how many of these there are; nil for all
	most        int
	what        string
}

// newProgram compiles what was chosen, and owns d if that succeeds.
func newProgram(ctx context.Context, d *device, c chosen, o Options) (*Program, error) {
	b, err := tile.Bind(c.programs)
	if err != nil {
		return nil, fmt.Errorf("matladder: %w", err)
	}
	p := &Program{device: d, programs: c.programs, packed: c.packed, params: d.with(o, c.tuned), kernel: c.kernel, blocks: c.blocks, tabled: c.tabled}
	p.states.New = func() any { return p.newCall() }
	for _, list := range []struct {
		refs []*tile.Ref
		to   *[]argument
	}{{b.In, &p.inputs}, {b.Out, &p.outputs}} {
		for _, r := range list.refs {
			a := argument{Ref: r, rank: len(r.Array)}
			if a.rank > MaxRank {
				return nil, fmt.Errorf("matladder: %s has %d dimensions, at most %d are supported: %w", r.Name, a.rank, MaxRank, ErrUnsupported)
			}
			copy(a.shape[:], r.Array)
			*list.to = append(*list.to, a)
		}
	}
	if n := max(len(p.inputs), len(p.outputs)); n > mostArguments {
		return nil, fmt.Errorf("matladder: %d arrays, at most %d are supported: %w", n, mostArguments, ErrUnsupported)
	}
	if err := p.allowInPlace(o.InPlace); err != nil {
		return nil, err
	}
	for _, t := range c.programs {
		p.boundTables(t)
	}
	v, err := p.compile(ctx, kind{})
	if err != nil {
		return nil, err
	}
	p.variants.Store(&[]*variant{v})
	return p, nil
}

// Argument describes an array of a program.
type Argument struct {
	Name  string
	Dtype tile.Dtype
	Shape []int
}

// Inputs are what Run takes, in their order.
func (p *Program) Inputs() []Argument { return described(p.inputs) }

// Outputs are what a launch writes; Run takes the one, Call all.
func (p *Program) Outputs() []Argument { return described(p.outputs) }

func described(list []argument) []Argument {
	return each.Of(list, func(a argument) Argument { return Argument{a.Name, a.Dtype, slices.Clone(a.Array)} })
}

// String names the kernel with its block shape and what it runs on.
func (p *Program) String() string {
	s := p.kernel + " " + p.blocks.String()
	if p.kernel == "" {
		s = p.programs[0].Name
	}
	s += " on " + p.device.key.name
	if p.params.Threads > 0 {
		s += fmt.Sprintf(" (%s, %d threads)", p.params.ISA, p.params.Threads)
	}
	return s
}

// WritePlan writes what the backend makes of the program, for people; it is an error that
// wraps ErrUnsupported where the backend does not tell.
func (p *Program) WritePlan(ctx context.Context, w io.Writer) error {
	planner, ok := p.device.backend.(backend.Planner)
	if !ok {
		return fmt.Errorf("matladder: backend %s does not tell what it makes of a program: %w", p.device.key.name, ErrUnsupported)
	}
	return planner.WritePlan(ctx, w, p.programs, p.params)
}

// Run computes out from the inputs, in the order of Inputs: that of the operands of a
// problem. Tensors have the dtypes and shapes of the program; lengths and sizes of groups
// are inputs as others, int32, so that one program serves all. It returns when out is
// written, and allocates nothing once a few calls have run, but for scattered elements.
//
// When ctx ends, the launch ends between two grid steps, and the error is the cause; what
// out then holds is unknown. A tensor that does not fit is an *ArgumentError.
func (p *Program) Run(ctx context.Context, out Tensor, in ...Tensor) error {
	if len(p.outputs) != 1 {
		return fmt.Errorf("matladder: the program has %d outputs: use Call", len(p.outputs))
	}
	return p.Call(ctx, unsafe.Slice(&out, 1), in)
}

// Call is Run of a program with any number of outputs.
func (p *Program) Call(ctx context.Context, out, in []Tensor) error {
	c := p.states.Get().(*call)
	err := c.run(ctx, out, in)
	p.states.Put(c)
	return err
}

// Trace is Call that records what each worker does when: packing, multiplying, waiting.
// Package timeline writes it for Perfetto, or draws it. A backend that does not tell is an
// error that wraps ErrUnsupported.
func (p *Program) Trace(ctx context.Context, out, in []Tensor) (*timeline.Timeline, error) {
	c := p.newCall()
	c.traced = true
	if err := c.run(ctx, out, in); err != nil {
		return nil, err
	}
	c.trace.Title = p.String()
	return c.trace, nil
}

// check refuses what does not fit the program.
func (p *Program) check(out, in []Tensor) error {
	switch {
	case len(in) != len(p.inputs):
		return fmt.Errorf("matladder: have %d inputs, want %d: %s", len(in), len(p.inputs), names(p.inputs))
	case len(out) != len(p.outputs):
		return fmt.Errorf("matladder: have %d outputs, want %d: %s", len(out), len(p.outputs), names(p.outputs))
	}
	for i := range in {
		if !p.inputs[i].fits(&in[i]) {
			return p.inputs[i].complaint(&in[i])
		}
	}
	for i := range out {
		if !p.outputs[i].fits(&out[i]) || out[i].packed != nil {
			return p.outputs[i].complaint(&out[i])
		}
		if out[i].lies() != dense && repeats(&out[i]) {
			return &ArgumentError{p.outputs[i].Name, true, "elements of an output must not be the same memory"}
		}
	}
	return p.checkOverlaps(out, in)
}

func names(list []argument) string {
	return strings.Join(each.Of(list, func(a argument) string { return a.Name }), ", ")
}

// boundTables takes note of the tables of a program that bound its axes, and of those whose
// elements are blocks of an array as they stand.
func (p *Program) boundTables(t *tile.Program) {
	lengths := map[*tile.Axis]*bound{}
	table := func(l tile.Lookup) int {
		return slices.IndexFunc(p.inputs, func(a argument) bool { return a.Name == l.Table.Name })
	}
	for _, axis := range t.Grid {
		l, bounded := axis.Bound.(tile.Lookup)
		at, fixed := l.At.(tile.Const)
		if !bounded || !fixed || table(l) < 0 {
			continue
		}
		b := bound{input: table(l), first: int(at), last: int(at) + 1, most: axis.Size, what: "bounds axis " + axis.Name}
		p.bounds = append(p.bounds, b)
		lengths[axis] = &b
	}
	for _, r := range t.Refs {
		for d, x := range r.Index {
			l, direct := x.(tile.Lookup)
			axis, along := l.At.(*tile.Axis)
			if !direct || !along || table(l) < 0 || axis.Bound != nil && lengths[axis] == nil {
				continue
			}
			p.bounds = append(p.bounds, bound{input: table(l), last: axis.Size, length: lengths[axis], most: r.Blocks()[d] - 1,
				what: fmt.Sprintf("is a block of %s along dimension %d", r.Name, d)})
		}
	}
}

// check refuses elements that the program has no place for. Those that are lengths of others
// were checked before.
func (b *bound) check(in [][]byte) error {
	element := func(input, i int) int { return int(*(*int32)(unsafe.Pointer(&in[input][4*i]))) }
	last := b.last
	if b.length != nil {
		last = element(b.length.input, b.length.first)
	}
	for i := b.first; i < last; i++ {
		if n := element(b.input, i); n < 0 || n > b.most {
			return fmt.Errorf("element %d is %d, and %s: want 0 … %d", i, n, b.what, b.most)
		}
	}
	return nil
}

func (a *argument) fits(t *Tensor) bool {
	return t.fault == noFault && t.dtype == a.Dtype && t.rank == a.rank && t.shape == a.shape && (len(t.data) > 0 || t.packed != nil)
}

// complaint is why t does not fit.
func (a *argument) complaint(t *Tensor) error {
	msg := t.complaint()
	switch {
	case msg != "":
	case t.packed != nil && t.dtype == a.Dtype && t.rank == a.rank && t.shape == a.shape:
		msg = "is packed: an output is written as it lies"
	case t.dtype == tile.InvalidDtype:
		msg = "is the zero Tensor: want " + a.String()
	default:
		msg = "have " + t.String() + ", want " + a.String()
	}
	return &ArgumentError{a.Name, a.Kind == tile.Out, msg}
}

// String is the dtype and shape, as of a Tensor.
func (a *argument) String() string {
	return Tensor{form: form{dtype: a.Dtype, rank: a.rank, shape: a.shape}}.String()
}

// Close waits for calls that run and frees the program's memory; tensors of Prepack are
// then of no more use. Closing twice is no error.
func (p *Program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	errs := each.Of(*p.variants.Load(), func(v *variant) error { return v.callable.Close() })
	errs = append(errs, p.device.release())
	return errors.Join(errs...)
}
