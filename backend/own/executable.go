package own

import (
	"context"
	"errors"
	"fmt"
	"time"

	"matladder/backend"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"
)

// executable is a function with the arrays of a problem.
type executable struct {
	call    Call
	on      func(func()) // runs what calls the function
	problem problem.Problem
	sizes   []int
	arrays  []tile.Tensor // of all operands
	names   []string
	inputs  int // of these

	spec                        backend.InputSpec
	seeded, loaded, ran, closed bool
	sweep, exact                answers
}

// answers are what outputs of a spec are compared with.
type answers struct {
	spec backend.InputSpec
	check.Verifier
}

var (
	errClosed  = errors.New("own: the executable is closed")
	errNoInput = errors.New("own: nothing was loaded")
)

func newExecutable(call Call, p problem.Problem, on func(func())) (*executable, error) {
	e := &executable{call: call, on: on, problem: p, sizes: sizesOf(p)}
	for _, o := range p.Operands() {
		if !o.Out {
			e.inputs++
		}
		e.arrays = append(e.arrays, tile.NewTensor(o.Dtype, o.Shape...))
		e.names = append(e.names, o.Name)
	}
	return e, nil
}

func (e *executable) in() []tile.Tensor  { return e.arrays[:e.inputs] }
func (e *executable) out() []tile.Tensor { return e.arrays[e.inputs:] }

// LoadSeeded makes the inputs.
func (e *executable) LoadSeeded(ctx context.Context, spec backend.InputSpec) error {
	if e.closed {
		return errClosed
	}
	if spec.Problem != e.problem {
		return fmt.Errorf("own: inputs of %s for %s", spec.Problem, e.problem)
	}
	e.seeded, e.loaded, e.ran = false, false, false
	for i, t := range e.in() {
		if err := check.Fill(ctx, t, e.names[i], spec.Problem, spec.Seed, spec.Dist); err != nil {
			return fmt.Errorf("own: fill %s: %w", e.names[i], err)
		}
	}
	e.spec, e.seeded, e.loaded = spec, true, true
	return nil
}

// Load copies the inputs in.
func (e *executable) Load(in ...tile.Tensor) error {
	if e.closed {
		return errClosed
	}
	e.seeded, e.loaded, e.ran = false, false, false
	if err := e.copyAll(e.in(), in, true); err != nil {
		return fmt.Errorf("own: load: %w", err)
	}
	e.loaded = true
	return nil
}

// copyAll copies theirs into ours, or ours into theirs.
func (e *executable) copyAll(ours, theirs []tile.Tensor, inwards bool) error {
	if len(theirs) != len(ours) {
		return fmt.Errorf("have %d arrays, want %d", len(theirs), len(ours))
	}
	for i, t := range ours {
		if o := theirs[i]; o.Dtype != t.Dtype || fmt.Sprint(o.Shape) != fmt.Sprint(t.Shape) {
			return fmt.Errorf("have %s%v, want %s%v", o.Dtype, o.Shape, t.Dtype, t.Shape)
		}
		if inwards {
			copy(t.Data, theirs[i].Data)
		} else {
			copy(theirs[i].Data, t.Data)
		}
	}
	return nil
}

// Run calls the function a number of times.
func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	switch {
	case e.closed:
		return backend.Sample{}, errClosed
	case launches < 1:
		return backend.Sample{}, fmt.Errorf("own: run: %d launches", launches)
	case !e.loaded:
		return backend.Sample{}, errNoInput
	}
	e.ran = false
	var elapsed time.Duration
	var err error
	e.on(func() {
		begin := time.Now()
		for range launches {
			if err = ctx.Err(); err == nil {
				err = e.call(e.sizes, e.arrays)
			}
			if err != nil {
				return
			}
		}
		elapsed = time.Since(begin)
	})
	if err != nil {
		return backend.Sample{}, err
	}
	e.ran = true
	return backend.Sample{Elapsed: elapsed, Method: "direct"}, nil
}

// Poison fills the outputs with ones: NaN, or -1.
func (e *executable) Poison(context.Context) error {
	if e.closed {
		return errClosed
	}
	e.ran = false
	for _, o := range e.out() {
		for i := range o.Data {
			o.Data[i] = 0xff
		}
	}
	return nil
}

// Check verifies the outputs of the last Run.
func (e *executable) Check(ctx context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	switch {
	case e.closed:
		return backend.CheckResult{}, errClosed
	case !e.seeded || e.spec != spec.InputSpec:
		return backend.CheckResult{}, errors.New("own: check: the inputs are not those of LoadSeeded with this spec")
	case !e.ran:
		return backend.CheckResult{Detail: "nothing was run"}, nil
	}
	in := map[string]tile.Tensor{}
	for i, t := range e.in() {
		in[e.names[i]] = t
	}
	kept := &e.sweep
	if check.IsExact(spec.Dist) {
		kept = &e.exact // each comes once, and those of the sweep again and again
	}
	if kept.Verifier == nil || kept.spec != spec.InputSpec {
		v, err := check.ReferenceOf(ctx, e.problem, in, spec.Seed, spec.Dist)
		if err != nil {
			return backend.CheckResult{}, err
		}
		*kept = answers{spec.InputSpec, v}
	}
	out := map[string]tile.Tensor{}
	for i, o := range e.out() {
		out[e.names[e.inputs+i]] = o
	}
	out, err := check.Damage(spec.Fault, out)
	if err != nil {
		return backend.CheckResult{}, fmt.Errorf("own: check: %w", err)
	}
	return kept.Verify(ctx, nil, in, out)
}

// Results copies the outputs out.
func (e *executable) Results(out ...tile.Tensor) error {
	switch {
	case e.closed:
		return errClosed
	case !e.ran:
		return errors.New("own: results: nothing was run on these inputs")
	}
	if err := e.copyAll(e.arrays[e.inputs:], out, false); err != nil {
		return fmt.Errorf("own: results: %w", err)
	}
	return nil
}

// Close frees the arrays. Closing twice is no error.
func (e *executable) Close() error {
	e.closed, e.arrays = true, nil
	return nil
}
