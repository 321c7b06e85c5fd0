package program

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/lower/stablehlo"
	"matladder/machine"
	"matladder/problem"
)

// Backend is one program on a device.
type Backend struct {
	foreign.Function
	any  bool // problem that fits
	file File
	on   backend.Backend

	signature stablehlo.Signature
	known     bool
}

var (
	_ backend.Backend           = (*Backend)(nil)
	_ backend.Solver            = (*Backend)(nil)
	_ backend.BaselinePredictor = (*Backend)(nil)
	_ backend.Plugged           = (*Backend)(nil)
)

// New returns a program as a backend. With any it computes every problem of the family that
// fits its shapes, whatever f is asked for. on compiles it; Close leaves that open.
func New(f foreign.Function, any bool, file File, on backend.Backend) (*Backend, error) {
	f, err := f.Complete()
	b := &Backend{Function: f, any: any, file: file, on: on}
	b.signature, b.known = stablehlo.ReadSignature(file.Program)
	return b, err
}

// Name is the program's.
func (b *Backend) Name() string { return b.Function.Name }

// Device is that of what runs it.
func (b *Backend) Device() machine.Device { return b.on.Device() }

// Plugin is the name of the file; its hash and the compiler's version.
func (b *Backend) Plugin() (name, version string) {
	version = b.file.Hash
	if p, ok := b.on.(backend.Plugged); ok {
		compiler, of := p.Plugin()
		version = strings.TrimSpace(version + " " + compiler + " " + of)
	}
	return filepath.Base(b.file.Path), version
}

// Close does nothing.
func (b *Backend) Close() error { return nil }

// Supports returns why the program does not compute p, or nil. Of bytecode it is known when
// it is compiled.
func (b *Backend) Supports(p problem.Problem) error {
	if p.Family() != b.Family {
		return fmt.Errorf("%s computes %s", b.Name(), b.Family.Title)
	}
	if err := b.Function.Supports(p); err != nil && !b.any {
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
