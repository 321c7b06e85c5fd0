// Package seeded makes the inputs of any executable from a seed, and verifies its outputs,
// beside the device (package check says how).
//
//  1. Of puts an Executable around a backend's. LoadSeeded makes inputs where they lie, as far
//     as a backend.InPlace lets it, else in arrays of its own, which it loads.
//  2. Check looks at the outputs in the same way and compares them with a reference in float64.
//     References keep the last few of these.
//  3. Of puts a Guest around a backend.Changing, a function that somebody else wrote: it changes
//     inputs before each launch and judges by arrays of its own.
//
// A worker (package backend/worker) puts it around the executables in its child process:
// specs and verdicts cross the pipe, arrays do not. An executable of a worker is a
// backend.Seeded, of which Of returns the executable itself.
package seeded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/check"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// Executable is an executable with inputs made from a seed.
type Executable struct {
	backend.Executable
	programs   []*tile.Program
	references *References
	spec       *backend.InputSpec // nil where the inputs are others
}

var _ backend.Seeded = (*Executable)(nil)

// Of returns e, compiled from programs (nil for what a Solver made), as a backend.Seeded.
func Of(e backend.Executable, programs []*tile.Program, r *References) backend.Seeded {
	switch e := e.(type) {
	case backend.Seeded:
		return e
	case backend.Changing:
		return newGuest(e, r)
	}
	return &Executable{Executable: e, programs: programs, references: r}
}

// Inner is the executable that e was put around, or e itself.
func Inner(e backend.Executable) backend.Executable {
	switch e := e.(type) {
	case *Executable:
		return e.Executable
	case *Guest:
		return e.Changing
	}
	return e
}

// Load copies arrays in.
func (e *Executable) Load(in ...tile.Tensor) error {
	e.spec = nil
	return e.Executable.Load(in...)
}

// LoadSeeded makes the inputs.
func (e *Executable) LoadSeeded(ctx context.Context, spec backend.InputSpec) error {
	e.spec = nil
	in, _, err := Arrays(e.Executable, e.programs, spec.Problem)
	if err != nil {
		return err
	}
	made := e.made(spec)
	if x, ok := e.Executable.(backend.InPlace); ok {
		err = x.Fill(ctx, func(i int, at tile.Tensor) (tile.Tensor, error) {
			if at.Data != nil || !e.references.keeps(made) {
				return fill(ctx, in[i], at, made)
			}
			all, err := e.references.inputsOf(ctx, made, in)
			if err != nil {
				return at, err
			}
			return all[i], nil
		})
	} else {
		var all []tile.Tensor
		if all, err = e.references.inputsOf(ctx, made, in); err == nil {
			err = e.Executable.Load(all...)
		}
	}
	if err == nil {
		e.spec = &spec
	}
	return err
}

// fill makes an input, in at if that has memory.
func fill(ctx context.Context, a problem.Operand, at tile.Tensor, spec backend.InputSpec) (tile.Tensor, error) {
	if at.Data == nil {
		at = tile.NewTensor(a.Dtype, a.Shape...)
	}
	if err := check.Fill(ctx, at, a.Name, spec.Problem, spec.Seed, spec.Dist); err != nil {
		return at, fmt.Errorf("fill %s: %w", a.Name, err)
	}
	return at, nil
}

// Arrays are those that an executable of p takes and gives. It is compiled from programs (nil
// for what a Solver made).
func Arrays(e backend.Executable, programs []*tile.Program, p problem.Problem) (in, out []problem.Operand, err error) {
	if x, ok := e.(backend.InPlace); ok {
		in, out = x.Arrays()
		return in, out, nil
	}
	if programs != nil {
		bound, err := tile.Bind(programs)
		return stage.Operands(bound.In), stage.Operands(bound.Out), err
	}
	in, out = stage.Split(p.Operands())
	return in, out, nil
}

// made is what inputs of spec are made of: exact probes of numbers that the device
// multiplies and adds exactly.
func (e *Executable) made(spec backend.InputSpec) backend.InputSpec {
	if x, ok := e.Executable.(backend.Inexact); ok && spec.Dist == check.Exact {
		if _, narrow := x.Products(spec.Problem); narrow {
			spec.Dist = check.ExactNarrow
		}
	}
	return spec
}

// Check verifies what the last Run left. Inputs that the host does not see, and that are not
// kept, are made once more for it, and forgotten.
func (e *Executable) Check(ctx context.Context, spec backend.CheckSpec) (worst backend.CheckResult, err error) {
	if e.spec == nil || *e.spec != spec.InputSpec {
		return worst, errOtherInputs
	}
	arrays, results, err := Arrays(e.Executable, e.programs, spec.Problem)
	if err != nil {
		return worst, err
	}
	var in map[string]tile.Tensor // once there is an output
	var last []tile.Tensor        // of the set before
	err = e.outputs(ctx, results, func(out []tile.Tensor) error {
		if last != nil && slices.EqualFunc(last, out, func(a, b tile.Tensor) bool { return bytes.Equal(a.Data, b.Data) }) {
			return nil
		}
		if in == nil {
			if in, err = e.inputs(ctx, spec.InputSpec, arrays); err != nil {
				return err
			}
		}
		r, err := e.verify(ctx, spec, in, named(results, out))
		if err != nil {
			return err
		}
		if last == nil || !r.OK || r.ErrOverBound > worst.ErrOverBound {
			worst = r
		}
		last = slices.Clone(out)
		if !r.OK {
			return errWrong
		}
		return nil
	})
	switch {
	case errors.Is(err, backend.ErrNoOutput):
		return backend.CheckResult{Detail: "nothing was run"}, nil
	case err != nil && err != errWrong:
		return backend.CheckResult{}, fmt.Errorf("check: %w", err)
	}
	return worst, nil
}

var errOtherInputs = errors.New("check: the inputs are not those of LoadSeeded with this spec")

// errWrong says that a set is wrong: others need not be looked at.
var errWrong = errors.New("wrong")

// outputs calls look with the outputs of each set.
func (e *Executable) outputs(ctx context.Context, results []problem.Operand, look func([]tile.Tensor) error) error {
	if x, ok := e.Executable.(backend.InPlace); ok {
		return x.Outputs(ctx, look)
	}
	out := each.Of(results, func(a problem.Operand) tile.Tensor { return tile.NewTensor(a.Dtype, a.Shape...) })
	if err := e.Executable.Results(out...); err != nil {
		return err
	}
	return look(out)
}

// inputs are the inputs in host memory, by name. The answers of exact probes need none.
func (e *Executable) inputs(ctx context.Context, spec backend.InputSpec, arrays []problem.Operand) (map[string]tile.Tensor, error) {
	if check.IsExact(spec.Dist) {
		return map[string]tile.Tensor{}, nil
	}
	if x, ok := e.Executable.(backend.InPlace); ok {
		if in := x.Inputs(); in != nil {
			return named(arrays, in), nil
		}
	}
	in, err := e.references.inputsOf(ctx, spec, arrays)
	return named(arrays, in), err
}

func named(arrays []problem.Operand, ts []tile.Tensor) map[string]tile.Tensor {
	list := map[string]tile.Tensor{}
	for i, t := range ts {
		list[arrays[i].Name] = t
	}
	return list
}

// verify verifies the outputs of one set.
func (e *Executable) verify(ctx context.Context, spec backend.CheckSpec, in, out map[string]tile.Tensor) (backend.CheckResult, error) {
	out, err := check.Damage(spec.Fault, out)
	if err != nil {
		return backend.CheckResult{}, err
	}
	key := referenceKey{InputSpec: e.made(spec.InputSpec)}
	if x, ok := e.Executable.(backend.Inexact); ok {
		key.roundoff, _ = x.Products(spec.Problem)
	}
	return e.references.verify(ctx, key, e.programs, in, out)
}
