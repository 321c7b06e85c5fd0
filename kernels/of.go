package kernels

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// Of is a rung as a Kernel: one that supports no problem of another type, and proposes and
// builds nothing for it. Kernels are equal if they are of one call.
func Of[P problem.Problem](r problem.Rung[P]) Kernel { return &of[P]{r} }

type of[P problem.Problem] struct{ rung problem.Rung[P] }

func (o *of[P]) Number() int        { return o.rung.Number }
func (o *of[P]) Name() string       { return o.rung.Name }
func (o *of[P]) RequestsVMEM() bool { return o.rung.RequestsVMEM }

func (o *of[P]) Family() *problem.Family {
	var p P
	return p.Family()
}

func (o *of[P]) Supports(p problem.Problem) error {
	typed, ok := p.(P)
	if !ok {
		return fmt.Errorf("a kernel of %s takes no problem of %s", o.Family().Name, p.Family().Name)
	}
	return o.rung.Supports(typed)
}

func (o *of[P]) Variants(p problem.Problem) []string {
	typed, ok := p.(P)
	switch {
	case !ok:
		return nil
	case o.rung.Variants == nil:
		return []string{""}
	}
	return o.rung.Variants(typed)
}

func (o *of[P]) Candidates(p problem.Problem, m problem.Machine) []tile.Blocks {
	if typed, ok := p.(P); ok {
		return o.rung.Blocks(typed, m)
	}
	return nil
}

func (o *of[P]) Build(p problem.Problem, variant string, b tile.Blocks) ([]*tile.Program, error) {
	typed, ok := p.(P)
	if !ok {
		return nil, o.Supports(p)
	}
	return o.rung.Build(typed, variant, b)
}
