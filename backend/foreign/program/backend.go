package program

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/lower/stablehlo"
	"matladder/machine"
	"matladder/problem"
)

// Backend is one program on a device.
type Backend struct {
	foreign.Function
	file File
	on   backend.Backend

	signature stablehlo.Signature
	known     bool

	host lazy // opens nothing where nothing is verified by it
}

var (
	_ backend.Backend           = (*Backend)(nil)
	_ backend.Solver            = (*Backend)(nil)
	_ backend.BaselinePredictor = (*Backend)(nil)
	_ backend.Plugged           = (*Backend)(nil)
	_ backend.Verifiable        = (*Backend)(nil)
)

// New returns a program as a backend. With f.Any it computes every problem of the family
// that fits its shapes. on compiles it; Close leaves that open.
func New(f foreign.Function, file File, on backend.Backend) (*Backend, error) {
	f, err := f.Complete()
	b := &Backend{Function: f, file: file, on: on}
	b.signature, b.known = stablehlo.ReadSignature(file.Program)
	return b, err
}

// Name is the program's.
func (b *Backend) Name() string { return b.Function.Name }

// Device is that of what runs it.
func (b *Backend) Device() machine.Device { return b.on.Device() }

// Plugin is the name of the file; its hash and the compiler's version.
func (b *Backend) Plugin() (name, version string) {
	return filepath.Base(b.file.Path), b.file.Hash + compiler(b.on)
}

// VerifyOn says how to open what a program that is predicted is verified by: a backend that
// takes programs on this machine. Close closes it.
func (b *Backend) VerifyOn(open func(context.Context) (backend.Backend, error)) { b.host.open = open }

// mostFLOPs are those of a problem that takes this machine seconds.
const mostFLOPs = 4e11

// OnHost compiles the program for this machine. One with kernels of Mosaic in it runs on a TPU
// alone.
func (b *Backend) OnHost(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, problem.Problem, string, error) {
	e, how, err := b.onHost(ctx, spec)
	return e, spec.Problem, how, err
}

func (b *Backend) onHost(ctx context.Context, spec backend.ProblemSpec) (_ backend.Executable, how string, err error) {
	switch {
	case b.host.open == nil:
		return nil, "", errors.New("nothing here runs it")
	case isMosaic(b.file.Program):
		return nil, "", errors.New("a kernel of Mosaic runs on a TPU alone")
	case spec.Problem.FLOPs() > mostFLOPs:
		return nil, "", errors.New("it would take this machine long")
	}
	if err := b.given(&spec); err != nil {
		return nil, "", err
	}
	host, err := b.host.get(ctx)
	if err != nil {
		return nil, "", err
	}
	e, err := backend.Solve(ctx, host, spec)
	return e, host.Name(), err
}

// Close closes what the program was verified by.
func (b *Backend) Close() error { return b.host.close() }

// Supports returns why the program does not compute p, or nil. Of bytecode it is known when
// it is compiled.
func (b *Backend) Supports(p problem.Problem) error {
	f := b.Function
	if f.Any { // scales are arrays as others are
		f.Asked, f.Any = p.Asked(), false
	}
	if err := f.Computes(p); err != nil {
		return err
	}
	if !b.known {
		return nil
	}
	return b.signature.Solves(p)
}

// Solve compiles the program for a problem.
func (b *Backend) Solve(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	if err := b.given(&spec); err != nil {
		return nil, err
	}
	return backend.Solve(ctx, b.on, spec)
}

// PredictBaseline predicts the program.
func (b *Backend) PredictBaseline(ctx context.Context, spec backend.ProblemSpec) (none backend.Prediction, err error) {
	if err := b.given(&spec); err != nil {
		return none, err
	}
	predictor, err := backend.As[backend.BaselinePredictor](b.on, "predicts no programs")
	if err != nil {
		return none, err
	}
	return predictor.PredictBaseline(ctx, spec)
}

// given puts the program into a question.
func (b *Backend) given(spec *backend.ProblemSpec) error {
	if err := b.Supports(spec.Problem); err != nil {
		return fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	if spec.Mesh != "" {
		return fmt.Errorf("%w: %s runs on one device", backend.ErrUnsupported, b.Name())
	}
	spec.Program = b.file.Program
	return nil
}

// lazy is a backend that is opened when it is first needed.
type lazy struct {
	open func(context.Context) (backend.Backend, error)
	mu   sync.Mutex
	b    backend.Backend // once it is open
}

// get opens the backend, unless it is.
func (l *lazy) get(ctx context.Context) (backend.Backend, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b != nil {
		return l.b, nil
	}
	b, err := l.open(ctx)
	if err == nil {
		l.b = b
	}
	return b, err
}

// close closes what is open.
func (l *lazy) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b == nil {
		return nil
	}
	b := l.b
	l.b = nil
	return b.Close()
}
