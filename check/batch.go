package check

import (
	"context"
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// newBatchReference makes a reference for each element of a batch. Together they
// compute about as many rows as one of a single product would.
func newBatchReference(ctx context.Context, p problem.Matmul, in map[string]tile.Tensor, products int, salt uint64) (*Reference, error) {
	r, single := &Reference{p: p}, p
	single.Batch = 1
	for e := range p.Batch {
		one, err := elementOf(p, in, e)
		if err != nil {
			return nil, err
		}
		ops, err := operandsOf(ctx, single, one)
		if err != nil {
			return nil, err
		}
		ops.salt = salt
		part, err := newReference(ctx, ops, products/p.Batch)
		if err != nil {
			return nil, err
		}
		r.parts = append(r.parts, part)
	}
	return r, nil
}

// elementOf are the inputs of element e of a batch.
func elementOf(p problem.Matmul, in map[string]tile.Tensor, e int) (map[string]tile.Tensor, error) {
	one := map[string]tile.Tensor{}
	for name, t := range in {
		part, err := element(p, t, e)
		if err != nil {
			return nil, fmt.Errorf("check: %s: %w", name, err)
		}
		one[name] = part
	}
	return one, nil
}

// element is t[e]; a view, unless its first element shares a byte.
func element(p problem.Matmul, t tile.Tensor, e int) (tile.Tensor, error) {
	if len(t.Shape) < 2 || t.Shape[0] != p.Batch {
		return tile.Tensor{}, fmt.Errorf("shape %v of a batch of %d", t.Shape, p.Batch)
	}
	n := t.Len() / p.Batch
	part := tile.Tensor{Dtype: t.Dtype, Shape: t.Shape[1:]}
	bits := n * t.Dtype.Bits()
	if bits%8 == 0 {
		part.Data = t.Data[e*bits/8 : (e+1)*bits/8]
		return part, nil
	}
	part = tile.NewTensor(t.Dtype, t.Shape[1:]...)
	for i := range n {
		part.Set(i, t.At(e*n+i))
	}
	return part, nil
}

// verifyBatch compares each element of a batch; the verdict is the worst.
func (r *Reference) verifyBatch(ctx context.Context, programs []*tile.Program, in map[string]tile.Tensor, out tile.Tensor) (verdict, error) {
	all := verdict{OK: true}
	for e, part := range r.parts {
		one, err := elementOf(r.p, in, e)
		if err != nil {
			return all, err
		}
		o, err := element(r.p, out, e)
		if err != nil {
			return all, fmt.Errorf("check: output: %w", err)
		}
		v, err := part.verify(ctx, programs, one, o)
		if err != nil {
			return all, err
		}
		if !v.OK && all.OK {
			all.OK, all.Detail = false, fmt.Sprintf("element %d of the batch: %s", e, v.Detail)
		}
		all.worst = max(all.worst, v.worst)
		all.rounding.Join(v.rounding)
		all.loss.Join(v.loss)
		all.known = v.known
	}
	return all, ctx.Err()
}
