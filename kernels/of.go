package kernels

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// Typed is a kernel that is written for problems of one type.
type Typed[P problem.Problem] interface {
	Number() int
	Name() string
	Supports(p P) error
	Variants(p P) []string
	Candidates(p P, m problem.Machine) []tile.Blocks
	Build(p P, variant string, b tile.Blocks) ([]*tile.Program, error)
}

// Of is k as a Kernel: one that supports no problem of another type, and proposes and
// builds nothing for it.
func Of[P problem.Problem](k Typed[P]) Kernel { return of[P]{k} }

type of[P problem.Problem] struct{ k Typed[P] }

func (o of[P]) Number() int  { return o.k.Number() }
func (o of[P]) Name() string { return o.k.Name() }

func (o of[P]) Family() *problem.Family {
	var p P
	return p.Family()
}

func (o of[P]) Supports(p problem.Problem) error {
	typed, ok := p.(P)
	if !ok {
		return fmt.Errorf("a kernel of %s takes no problem of %s", o.Family().Name, p.Family().Name)
	}
	return o.k.Supports(typed)
}

func (o of[P]) Variants(p problem.Problem) []string {
	if typed, ok := p.(P); ok {
		return o.k.Variants(typed)
	}
	return nil
}

func (o of[P]) Candidates(p problem.Problem, m problem.Machine) []tile.Blocks {
	if typed, ok := p.(P); ok {
		return o.k.Candidates(typed, m)
	}
	return nil
}

func (o of[P]) Build(p problem.Problem, variant string, b tile.Blocks) ([]*tile.Program, error) {
	typed, ok := p.(P)
	if !ok {
		return nil, o.Supports(p)
	}
	return o.k.Build(typed, variant, b)
}

// RequestsVMEM reports whether k is a VMEMRequester that requests some.
func (o of[P]) RequestsVMEM() bool {
	r, ok := o.k.(VMEMRequester)
	return ok && r.RequestsVMEM()
}
