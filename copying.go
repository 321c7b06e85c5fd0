package matladder

import (
	"context"
	"errors"

	"matladder/backend"
	"matladder/internal/each"
	"matladder/tile"
)

// copying calls executables that have arrays of their own: other devices.
type copying struct {
	turn    chan struct{} // holds a token while no call has the executable
	closed  bool          // held by who has the token
	e       backend.Executable
	in, out []tile.Tensor
}

func newCopying(e backend.Executable, p *Program) *copying {
	tensor := func(a argument) tile.Tensor { return tile.Tensor{Dtype: a.Dtype, Shape: a.Array} }
	c := &copying{turn: make(chan struct{}, 1), e: e, in: each.Of(p.inputs, tensor), out: each.Of(p.outputs, tensor)}
	c.turn <- struct{}{}
	return c
}

func (c *copying) Call(ctx context.Context, x *backend.Arguments) error {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { c.turn <- struct{}{} }()
	if c.closed {
		return ErrClosed
	}
	for i := range x.In {
		c.in[i].Data = x.In[i]
	}
	for i := range x.Out {
		c.out[i].Data = x.Out[i]
	}
	if err := c.e.Load(c.in...); err != nil {
		return err
	}
	if _, err := c.e.Run(ctx, 1); err != nil {
		return err
	}
	return c.e.Results(c.out...)
}

func (c *copying) Pack(context.Context, string, []byte) (backend.Packed, error) {
	return nil, errors.ErrUnsupported
}

func (c *copying) Close() error {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.e.Close()
}

// gather copies the elements of t to where they have no gaps.
func gather(dst []byte, t *Tensor) {
	walk(t, func(at, off, n int) { copy(dst[at:at+n], t.data[off:off+n]) })
}

// scatter is the way back.
func scatter(t *Tensor, src []byte) {
	walk(t, func(at, off, n int) { copy(t.data[off:off+n], src[at:at+n]) })
}

// walk calls f with each run of elements without gaps: where it would be without any, where
// it is, and its length, in bytes.
func walk(t *Tensor, f func(at, off, n int)) {
	size := t.dtype.Bits() / 8
	run, dims := 1, t.rank
	for dims > 0 && (t.shape[dims-1] == 1 || t.strides[dims-1] == run) {
		run *= t.shape[dims-1]
		dims--
	}
	var ids [MaxRank]int
	for at := 0; ; at += run * size {
		off := 0
		for i := range dims {
			off += ids[i] * t.strides[i]
		}
		f(at, off*size, run*size)
		i := dims - 1
		for ; i >= 0; i-- {
			if ids[i]++; ids[i] < t.shape[i] {
				break
			}
			ids[i] = 0
		}
		if i < 0 {
			return
		}
	}
}
