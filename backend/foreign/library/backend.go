package library

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/internal/stage"
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
	f      Call
	on     func(func()) // runs what calls the function
	sizes  []int
	arrays []tile.Tensor // of all operands
	inputs int           // of these
}

func newExecutable(f Call, p problem.Problem, on func(func())) backend.Executable {
	in, out := stage.Split(p.Operands())
	c := &call{f: f, on: on, sizes: p.Family().Required(p.Sizes()), inputs: len(in)}
	for _, o := range append(in[:len(in):len(in)], out...) {
		c.arrays = append(c.arrays, tile.NewTensor(o.Dtype, o.Shape...))
	}
	return stage.New("own", in, out, c)
}

// Fill makes the inputs where they lie.
func (c *call) Fill(_ context.Context, source backend.Source) error {
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
	return look(c.arrays[c.inputs:])
}

// Run calls the function a number of times.
func (c *call) Run(ctx context.Context, launches int) (s backend.Sample, err error) {
	s.Method = "direct"
	c.on(func() {
		begin := time.Now()
		for range launches {
			if err = ctx.Err(); err == nil {
				err = c.f(c.sizes, c.arrays)
			}
			if err != nil {
				return
			}
		}
		s.Elapsed = time.Since(begin)
	})
	return s, err
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
	c.arrays, c.inputs = nil, 0
	return nil
}
