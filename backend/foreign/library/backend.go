package library

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/internal/stage"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// Call computes a problem: sizes are those of the family that have no default, in its
// order, and arrays the problem's operands, inputs first.
type Call func(sizes []int, arrays []tile.Tensor) error

// Backend is one function.
type Backend struct {
	foreign.Function
	file, version string
	symbol        string
	host          machine.Device
	solve         func(context.Context, backend.ProblemSpec) (backend.Executable, error)
	close         func() error
}

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Solver  = (*Backend)(nil)
	_ backend.Plugged = (*Backend)(nil)
)

// New returns a Go function as a backend, by which call computes f; host is the machine. The
// function runs in this process: one that panics has a row that says so, and one that does
// not return is waited for.
func New(f foreign.Function, call Call, host machine.Device) (*Backend, error) {
	if call == nil {
		return nil, fmt.Errorf("own: %s has nothing to call", f.Name)
	}
	b, err := newBackend(f, host)
	if err != nil {
		return nil, err
	}
	b.solve = func(_ context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
		return newExecutable(call, spec.Problem, func(f func()) { f() }), nil
	}
	return b, nil
}

func newBackend(f foreign.Function, host machine.Device) (*Backend, error) {
	f, err := f.Complete()
	return &Backend{Function: f, host: host, close: func() error { return nil }}, err
}

// Name is the function's.
func (b *Backend) Name() string { return b.Function.Name }

// Device is the machine.
func (b *Backend) Device() machine.Device { return b.host }

// Plugin is the name of the shared library, and the beginning of its SHA-256; empty for a
// Go function.
func (b *Backend) Plugin() (name, version string) {
	if b.file == "" {
		return "", ""
	}
	return filepath.Base(b.file), b.version
}

// Close ends the process of a shared library.
func (b *Backend) Close() error { return b.close() }

// Solve makes the arrays of a problem, for the function to compute it in.
func (b *Backend) Solve(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	if err := b.Supports(spec.Problem); err != nil {
		return nil, fmt.Errorf("%w: %w", err, backend.ErrUnsupported)
	}
	return b.solve(ctx, spec)
}

// Signature is how the function of a shared library is called in C, for people.
func (b *Backend) Signature() string { return signature(b.Function, b.symbol) }

func signature(f foreign.Function, symbol string) string {
	p := f.Family.Make(f.Family.Equal(1), f.Asked)
	var args []string
	for _, size := range f.Family.Sizes {
		if size.Default == 0 {
			args = append(args, "int64_t "+size.Name)
		}
	}
	for _, o := range p.Operands() {
		of := cType(o.Dtype) + " *" + o.Name
		if !o.Out {
			of = "const " + of
		}
		args = append(args, of)
	}
	return fmt.Sprintf("void %s(%s)", symbol, strings.Join(args, ", "))
}

func cType(d tile.Dtype) string {
	switch d {
	case tile.Float32:
		return "float"
	case tile.BFloat16:
		return "uint16_t"
	case tile.Int32, tile.Int8, tile.Uint8:
		return d.String() + "_t"
	}
	return "void"
}

// call is a function with the arrays of a problem.
type call struct {
	f       Call
	on      func(func()) // runs what calls the function
	sizes   []int
	of      []problem.Operand // inputs first
	inputs  int               // of these
	arrays  []tile.Tensor     // of all operands
	borders [][]byte          // before each and behind it
	left    []tile.Tensor     // outputs, as they were at the end of the last launch
}

// border is how many bytes lie before an array and behind it, for what is written there to be
// found. A page leaves arrays as they lie in pages.
const border = 4096

// allocate makes all arrays, at other addresses than before. Borders are full of ones, as a poisoned output is.
func (c *call) allocate() {
	array := func(o problem.Operand) tile.Tensor { return tile.NewTensor(o.Dtype, o.Shape...) }
	var arrays []tile.Tensor
	var borders [][]byte
	for _, o := range c.of {
		t := tile.Tensor{Dtype: o.Dtype, Shape: o.Shape}
		n := int(o.Dtype.Bytes(tile.Elements(o.Shape)))
		all := tile.NewTensor(tile.Uint8, n+2*border).Data
		t.Data = all[border : border+n : border+n]
		arrays, borders = append(arrays, t), append(borders, all[:border], all[border+n:])
	}
	for _, b := range borders {
		stage.SetBits(b)
	}
	c.arrays, c.borders, c.left = arrays, borders, each.Of(c.of[c.inputs:], array) // others than those that there were
}

// outside is ErrOutside where something was written to a border.
func (c *call) outside() error {
	for i, b := range c.borders {
		if slices.ContainsFunc(b, func(b byte) bool { return b != 0xff }) {
			return fmt.Errorf("%w: %s %s", backend.ErrOutside, []string{"ahead of", "behind"}[i%2], c.of[i/2].Name)
		}
	}
	return nil
}

func newExecutable(f Call, p problem.Problem, on func(func())) backend.Executable {
	in, out := stage.Split(p.Operands())
	c := &call{f: f, on: on, sizes: p.Family().Required(p.Sizes()), inputs: len(in), of: slices.Concat(in, out)}
	return stage.NewChanging("own", in, out, c, c.run)
}

// Fill makes the inputs, at other addresses than those of before.
func (c *call) Fill(_ context.Context, source backend.Source) error {
	c.allocate()
	for i, t := range c.Inputs() {
		if _, err := source(i, t); err != nil {
			return err
		}
	}
	return nil
}

// Inputs are the arrays that the function reads.
func (c *call) Inputs() []tile.Tensor { return c.arrays[:c.inputs] }

// Outputs looks at those that it writes.
func (c *call) Outputs(_ context.Context, look func([]tile.Tensor) error) error {
	return look(c.left)
}

// Run calls the function a number of times.
func (c *call) Run(ctx context.Context, launches int) (s backend.Sample, err error) {
	return c.launch(ctx, launches, nil, nil)
}

func (c *call) run(ctx context.Context, ahead, each backend.Changes) (s backend.Sample, err error) {
	return c.launch(ctx, each.Len(), ahead, each)
}

func (c *call) launch(ctx context.Context, launches int, ahead, each backend.Changes) (s backend.Sample, err error) {
	s.Method = "direct"
	ahead.MakeAll(c.arrays)
	c.on(func() {
		begin := time.Now()
		for i := range launches {
			if len(each) > 0 {
				each.Make(i, c.arrays)
			}
			if err = ctx.Err(); err == nil {
				err = c.f(c.sizes, c.arrays)
			}
			if err != nil {
				return
			}
		}
		s.Elapsed = time.Since(begin)
		for i := range c.left { // at once: what a thread of the function writes later is too late
			copy(c.left[i].Data, c.arrays[c.inputs+i].Data)
		}
	})
	return s, cmp.Or(err, c.outside())
}

// Poison fills the outputs with ones: NaN, or -1.
func (c *call) Poison(context.Context) error {
	for _, o := range c.arrays[c.inputs:] {
		stage.SetBits(o.Data)
	}
	return nil
}

// Close frees the arrays.
func (c *call) Close() error {
	c.arrays, c.borders, c.left, c.inputs = nil, nil, nil, 0
	return nil
}
