package check

import (
	"context"
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// A Family is how inputs of a problem family are made and outputs of it verified.
type Family struct {
	// Fill sets input array name of p. Of exact probes it is asked only where HasExact.
	Fill func(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error
	// HasExact reports whether there are exact probes of p; nil if there are none.
	HasExact func(p problem.Problem) bool
	// Reference computes what outputs are compared with, of inputs that Fill made. in may be
	// nil for exact probes.
	Reference func(ctx context.Context, p problem.Problem, in map[string]tile.Tensor, seed uint64, dist string) (Verifier, error)
}

// A Verifier compares outputs with what they must be. It does not keep the inputs, which
// are given again to Verify, and may be used for many programs, by one goroutine at a
// time.
type Verifier interface {
	// Verify compares all outputs, by name, with what inputs lead to. programs, nil if they
	// are not known, say how often a result is rounded on its way.
	Verify(ctx context.Context, programs []*tile.Program, in, out map[string]tile.Tensor) (Result, error)
	// ProductsOff says that the device's products of float32 numbers are off by up to a part
	// of themselves.
	ProductsOff(part float64)
}

// families are those of this program, by name.
var families = map[string]Family{}

// Register adds a problem family. It panics if that is registered already: call it in an
// init function, or in a test before others begin.
func Register(f *problem.Family, how Family) {
	if _, ok := families[f.Name]; ok || how.Fill == nil || how.Reference == nil {
		panic("check: family " + f.Name + " is registered twice, or lacks something")
	}
	families[f.Name] = how
}

func familyOf(p problem.Problem) (Family, error) {
	f, ok := families[p.Family().Name]
	if !ok {
		return f, fmt.Errorf("check: nothing says how problems of %s are verified", p.Family().Name)
	}
	return f, nil
}

// HasExact reports whether there are exact probes of p.
func HasExact(p problem.Problem) bool {
	f, err := familyOf(p)
	return err == nil && f.HasExact != nil && f.HasExact(p)
}

// ReferenceOf computes what outputs of p are compared with on the inputs that Fill makes
// from a seed and a distribution. in may be nil for exact probes.
func ReferenceOf(ctx context.Context, p problem.Problem, in map[string]tile.Tensor, seed uint64, dist string) (Verifier, error) {
	f, err := familyOf(p)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return f.Reference(ctx, p, in, seed, dist)
}

// HasExactFamily reports whether there are exact probes of any problem of p's family.
func HasExactFamily(p problem.Problem) bool {
	f, err := familyOf(p)
	return err == nil && f.HasExact != nil
}
