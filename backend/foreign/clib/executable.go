package clib

import (
	"context"
	"fmt"
	"slices"
	"time"

	"matladder/backend"
	"matladder/backend/internal/stage"
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

	stage  stage.Stage
	checks *stage.References // of the inputs of a sweep, which come again and again, and of the last exact probe
}

func newExecutable(call Call, p problem.Problem, on func(func())) (*executable, error) {
	e := &executable{call: call, on: on, problem: p, sizes: sizesOf(p), stage: stage.Of("own"), checks: stage.Keep(2)}
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
	if spec.Problem != e.problem {
		return fmt.Errorf("own: inputs of %s for %s", spec.Problem, e.problem)
	}
	return e.stage.LoadSeeded(spec, func() error {
		for i, t := range e.in() {
			if err := check.Fill(ctx, t, e.names[i], spec.Problem, spec.Seed, spec.Dist); err != nil {
				return fmt.Errorf("own: fill %s: %w", e.names[i], err)
			}
		}
		return nil
	})
}

// Load copies the inputs in.
func (e *executable) Load(in ...tile.Tensor) error {
	return stage.Load(&e.stage, in, e.in(), matches, func() error { return copyAll(e.in(), in) })
}

func matches(theirs, ours tile.Tensor) error {
	if theirs.Dtype != ours.Dtype || !slices.Equal(theirs.Shape, ours.Shape) {
		return fmt.Errorf("have %s%v, want %s%v", theirs.Dtype, theirs.Shape, ours.Dtype, ours.Shape)
	}
	return nil
}

func copyAll(to, from []tile.Tensor) error {
	for i, t := range to {
		copy(t.Data, from[i].Data)
	}
	return nil
}

// Run calls the function a number of times.
func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	return e.stage.Run(launches, func() (s backend.Sample, err error) {
		s.Method = "direct"
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
			s.Elapsed = time.Since(begin)
		})
		return s, err
	})
}

// Poison fills the outputs with ones: NaN, or -1.
func (e *executable) Poison(context.Context) error {
	return e.stage.Poison(func() error {
		for _, o := range e.out() {
			for i := range o.Data {
				o.Data[i] = 0xff
			}
		}
		return nil
	})
}

// Check verifies the outputs of the last Run.
func (e *executable) Check(ctx context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	return e.stage.Check(spec, func() (r backend.CheckResult, err error) {
		in, out := map[string]tile.Tensor{}, map[string]tile.Tensor{}
		for i, t := range e.in() {
			in[e.names[i]] = t
		}
		for i, o := range e.out() {
			out[e.names[e.inputs+i]] = o
		}
		if out, err = check.Damage(spec.Fault, out); err != nil {
			return r, err
		}
		return e.checks.Verify(ctx, spec.InputSpec, nil, in, out)
	})
}

// Results copies the outputs out.
func (e *executable) Results(out ...tile.Tensor) error {
	return stage.Results(&e.stage, out, e.out(), matches, func() error { return copyAll(out, e.out()) })
}

// Close frees the arrays. Closing twice is no error.
func (e *executable) Close() error {
	return e.stage.Close(func() error {
		e.arrays, e.inputs = nil, 0
		return nil
	})
}
