package clib

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"matladder/backend"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// Call computes a problem: sizes are those of the family that have no default, in its
// order, and arrays the problem's operands, inputs first.
type Call func(sizes []int, arrays []tile.Tensor) error

// Function is a function of one's own, and which problems it computes.
type Function struct {
	Name   string          // of its rows, one word
	Family *problem.Family // whose problems it computes
	Asked  problem.Asked   // all that is asked of them beside sizes; any precision will do
	Call   Call            // not nil for New
}

// Backend is one function.
type Backend struct {
	Function
	file, version string
	host          machine.Device
	solve         func(context.Context, backend.ProblemSpec) (backend.Executable, error)
	close         func() error
}

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Solver  = (*Backend)(nil)
	_ backend.Plugged = (*Backend)(nil)
)

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// New returns a Go function as a backend; host is the machine. The function runs in this
// process: one that panics has a row that says so, and one that does not return is waited
// for.
func New(f Function, host machine.Device) (*Backend, error) {
	if f.Call == nil {
		return nil, fmt.Errorf("own: %s has nothing to call", f.Name)
	}
	b, err := newBackend(f, host)
	if err != nil {
		return nil, err
	}
	b.solve = func(_ context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
		return newExecutable(f.Call, spec.Problem, func(f func()) { f() }), nil
	}
	return b, nil
}

func newBackend(f Function, host machine.Device) (*Backend, error) {
	if !word.MatchString(f.Name) {
		return nil, fmt.Errorf("%q is no name for a function: letters, digits, _, . and - are", f.Name)
	}
	if f.Asked.Quant != problem.NoQuant {
		return nil, fmt.Errorf("%s cannot be asked for %s: a function is handed no scales", f.Name, f.Asked)
	}
	f.Asked = f.Family.Make(f.Family.Sample, f.Asked).Asked() // with what follows from it
	return &Backend{Function: f, host: host, close: func() error { return nil }}, nil
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

// Supports returns why the function is not called for p, or nil.
func (b *Backend) Supports(p problem.Problem) error {
	if p.Family() != b.Family {
		return fmt.Errorf("%s computes %s", b.Name(), b.Family.Title)
	}
	asked := p.Asked()
	if asked.Precision = b.Asked.Precision; asked != b.Asked {
		return fmt.Errorf("%s computes %s", b.Name(), b.Asked)
	}
	for i, size := range b.Family.Sizes {
		if n := p.Sizes()[i]; size.Default != 0 && n != size.Default {
			return fmt.Errorf("%s is not told of %s, which is %d", b.Name(), size.Name, n)
		}
	}
	return nil
}

// Variants is the function as it is.
func (b *Backend) Variants(problem.Problem) []string { return []string{""} }

// Solve makes the arrays of a problem, for the function to compute it in.
func (b *Backend) Solve(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	if err := b.Supports(spec.Problem); err != nil {
		return nil, fmt.Errorf("%w: %w", err, backend.ErrUnsupported)
	}
	return b.solve(ctx, spec)
}

// sizesOf are the sizes of a problem that have no default in its family.
func sizesOf(p problem.Problem) []int {
	var list []int
	for i, size := range p.Family().Sizes {
		if size.Default == 0 {
			list = append(list, p.Sizes()[i])
		}
	}
	return list
}

// Signature is how the function is called in C, under the name symbol, for people.
func (f Function) Signature(symbol string) string {
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
