package program

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"matladder/backend"
	"matladder/lower/stablehlo"
	"matladder/machine"
	"matladder/problem"
)

// Backend is one program on a device.
type Backend struct {
	name   string
	family *problem.Family
	asked  *problem.Asked
	file   File
	on     backend.Backend

	signature stablehlo.Signature
	known     bool
}

var (
	_ backend.Backend           = (*Backend)(nil)
	_ backend.Solver            = (*Backend)(nil)
	_ backend.BaselinePredictor = (*Backend)(nil)
	_ backend.Plugged           = (*Backend)(nil)
)

// New returns a program as a backend: name is that of its rows. It computes problems of a
// family: those of what is asked, or of whatever fits its shapes if that is nil. on compiles
// it; Close leaves that open.
func New(name string, family *problem.Family, asked *problem.Asked, file File, on backend.Backend) *Backend {
	b := &Backend{name: name, family: family, asked: asked, file: file, on: on}
	if asked != nil {
		whole := family.Make(family.Sample, *asked).Asked() // with what follows from it
		b.asked = &whole
	}
	b.signature, b.known = stablehlo.ReadSignature(file.Program)
	return b
}

// Name is the program's.
func (b *Backend) Name() string { return b.name }

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
	if p.Family() != b.family {
		return fmt.Errorf("%s computes %s", b.name, b.family.Title)
	}
	if b.asked != nil {
		asked := p.Asked()
		if asked.Precision = b.asked.Precision; asked != *b.asked {
			return fmt.Errorf("%s computes %s", b.name, b.asked)
		}
	}
	if !b.known {
		return nil
	}
	return b.signature.Solves(p)
}

// Variants is the program as it is.
func (b *Backend) Variants(problem.Problem) []string { return []string{""} }

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
		return fmt.Errorf("%w: %s runs on one device", backend.ErrUnsupported, b.name)
	}
	spec.Program = b.file.Program
	return nil
}
