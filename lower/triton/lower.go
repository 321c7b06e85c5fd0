package triton

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// Options say for what a program is written.
type Options struct {
	Target Target // the zero Target is the first of Targets
	Params Params
}

// Launch is what one launch runs: kernels, in order.
type Launch = mlir.Launch[Kernel]

// Kernel is one program as Triton text.
type Kernel struct {
	Name     string
	Program  *tile.Program // that it computes: one of those given, with SplitK a half of one, with products of groups as one product, or a copy
	Body     string        // the module
	Programs int64         // how many programs the grid has
	Params   Params        // with what Lower chose
	Memory   Memory        // what one program takes, by a model
	Turns    bool          // it copies an array, for an operand that is to lie along k

	operands, results []*tile.Ref
	alongK            map[*tile.Ref]bool // arrays that are not row-major
}

// Lower writes programs that run in order in one launch. It is an error if one
// does not verify; an *UnsupportedError if one has no Triton text for the target,
// a *TooBigError if one needs more registers or shared memory than it has.
func Lower(programs []*tile.Program, opts Options) (*Launch, error) {
	if err := opts.Params.check(); err != nil {
		return nil, err
	}
	if opts.Target.Name == "" {
		opts.Target = targets[0]
	}
	bound, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	l := &Launch{In: bound.In, Out: bound.Out}
	turned := map[string]bool{} // arrays of which a kernel has made a copy along k
	for _, p := range programs {
		if err := p.Verify(); err != nil { // before anything is read of it
			return nil, err
		}
		if err := refuse(p); err != nil {
			return nil, err
		}
		l.Name = mlir.Symbol(p.Name)
		list := []*tile.Program{p}
		if n := opts.Params.SplitK; n > 1 && hasProduct(p) {
			if list, err = splitK(p, n); err != nil {
				return nil, err
			}
		}
		for _, p := range list {
			k, err := lower(p, opts)
			if err != nil {
				return nil, err
			}
			for _, r := range k.operands {
				if k.alongK[r] && !turned[r.Name] {
					turned[r.Name] = true
					t, err := opts.Target.turn(r)
					if err != nil {
						return nil, err
					}
					l.Kernels = append(l.Kernels, *t)
				}
			}
			l.Kernels = append(l.Kernels, *k)
		}
	}
	return l, nil
}

// refuse names what of the language has no text yet.
func refuse(p *tile.Program) error {
	for _, a := range p.Grid {
		if a.Bound != nil {
			return unsupported(a.Pos(), p, "bound", a.Name, "how many programs run along an axis is a number that the device alone knows")
		}
	}
	if p.CopiesItself() {
		return unsupported(p.Body[0].Pos, p, "copy", "", "copies that a program starts itself, and devices that wait for each other, have no text")
	}
	var err error
	p.Walk(func(s *tile.Stmt) {
		if s.IsPart() && err == nil {
			err = unsupported(s.Pos, p, "store", s.Ref.Name, "of some rows of a block")
		}
	})
	return err
}

func lower(given *tile.Program, opts Options) (*Kernel, error) {
	p := cut(given)
	if err := opts.Target.checkProducts(p); err != nil {
		return nil, err
	}
	p, scaled := opts.Target.withScaled(p)
	if len(scaled) > 0 {
		given = p
	}
	params, memory, err := opts.Target.choose(p, scaled, opts.Params)
	if err != nil {
		return nil, err
	}
	return opts.Target.kernelOf(given, p, params, memory, seen{opts.Target.alongK(p, scaled), scaled})
}

// kernelOf writes the kernel of a program that was given, as p has it.
func (t Target) kernelOf(given, p *tile.Program, params Params, memory Memory, in seen) (*Kernel, error) {
	body, programs, err := t.writeKernel(p, params, in)
	if err != nil {
		return nil, err
	}
	return &Kernel{
		Name: mlir.Symbol(p.Name), Program: given, Body: body, Programs: programs, Params: params, Memory: memory, alongK: in.alongK,
		operands: append(p.RefsOf(tile.Table), p.RefsOf(tile.In)...), results: p.RefsOf(tile.Out),
	}, nil
}

const maker = "triton"

// UnsupportedError is the answer to a program that has no Triton text, or none
// that a generation has the instructions for: Pos, Program, Op, Ref and Reason say what and why.
type UnsupportedError = mlir.UnsupportedError

func unsupported(pos tile.Pos, p *tile.Program, op, ref, format string, args ...any) error {
	return &UnsupportedError{Maker: maker, Pos: pos, Program: p.Name, Op: op, Ref: ref, Reason: fmt.Sprintf(format, args...)}
}

// TooBigError is the answer to a program whose blocks do not fit one
// multiprocessor: its registers or shared memory.
type TooBigError = mlir.TooBigError

func (t Target) tooBig(p *tile.Program, what string, needed, limit int64) error {
	kibi := func(bytes int64) float64 { return float64(bytes) / (1 << 10) }
	return &TooBigError{Program: p.Name, What: what, Needed: needed, Limit: limit, Text: fmt.Sprintf("triton: %s: one program needs %.1f KiB of %s, %s has %.1f KiB",
		p.Name, kibi(needed), what, t.Name, kibi(limit))}
}
