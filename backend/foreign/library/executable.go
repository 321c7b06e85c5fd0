package library

import (
	"context"
	"time"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/problem"
	"matladder/tile"
)

// call is a function with the arrays of a problem.
type call struct {
	f      Call
	on     func(func()) // runs what calls the function
	sizes  []int
	arrays []tile.Tensor // of all operands
	inputs int           // of these
}

func newExecutable(f Call, p problem.Problem, on func(func())) backend.Executable {
	in, out := stage.Split(p.Operands())
	c := &call{f: f, on: on, sizes: sizesOf(p), inputs: len(in)}
	for _, o := range append(in[:len(in):len(in)], out...) {
		c.arrays = append(c.arrays, tile.NewTensor(o.Dtype, o.Shape...))
	}
	return stage.New("own", in, out, c)
}

// Fill makes the inputs where they lie.
func (c *call) Fill(_ context.Context, source backend.Source) error {
	for i, t := range c.Inputs() {
		if _, err := source(i, t); err != nil {
			return err
		}
	}
	return nil
}

// Inputs are the arrays that the function reads.
func (c *call) Inputs() []tile.Tensor { return c.arrays[:c.inputs] }

// Outputs looks at those that it writes.
func (c *call) Outputs(_ context.Context, look func([]tile.Tensor) error) error {
	return look(c.arrays[c.inputs:])
}

// Run calls the function a number of times.
func (c *call) Run(ctx context.Context, launches int) (s backend.Sample, err error) {
	s.Method = "direct"
	c.on(func() {
		begin := time.Now()
		for range launches {
			if err = ctx.Err(); err == nil {
				err = c.f(c.sizes, c.arrays)
			}
			if err != nil {
				return
			}
		}
		s.Elapsed = time.Since(begin)
	})
	return s, err
}

// Poison fills the outputs with ones: NaN, or -1.
func (c *call) Poison(context.Context) error {
	for _, o := range c.arrays[c.inputs:] {
		stage.SetBits(o.Data)
	}
	return nil
}

// Close frees the arrays.
func (c *call) Close() error {
	c.arrays, c.inputs = nil, 0
	return nil
}
