package library

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"matladder/backend"
	"matladder/backend/foreign"
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
