package check

import (
	"context"
	"math"

	"matladder/internal/each"
	"matladder/problem"
	"matladder/problem/quant"
	"matladder/tile"
)

// fillQuantized sets the arrays that exist because p is quantized, and those
// that hold codes; it reports whether it did.
func fillQuantized(ctx context.Context, t tile.Tensor, name string, p problem.Matmul, seed uint64, dist string) (bool, error) {
	scheme, err := p.Scheme()
	if err != nil || scheme.B == problem.NoGrain {
		return false, err
	}
	if name == "b_sums" {
		return true, fillSums(ctx, t, p, seed, dist)
	}
	ofA := name == "a" || name == "sa" || name == "za" || name == "ta"
	given := name == "b" || name == "sb" || name == "zb" || name == "tb" || ofA && scheme.A != problem.NoGrain && !scheme.Dynamic
	if !fromFloats(dist) || !given {
		return false, nil
	}
	m := operandCodes(name[len(name)-1:], p, scheme)
	elements := m.rows * m.cols
	x := original(m.name, p, seed, dist)
	for e := range p.Batch {
		at := func(row, col int) float32 { return x(e*elements + row*m.cols + col) }
		steps, err := m.steps(ctx, at)
		if err != nil {
			return true, err
		}
		switch name[0] {
		case 't':
			t.Set(e, float64(m.All))
		case 's':
			for i, s := range steps {
				t.Set(e*len(steps)+i, float64(s.Stored))
			}
		case 'z':
			for i, s := range steps {
				t.Set(e*len(steps)+i, float64(s.Zero))
			}
		default:
			// Pairs of int4 that two elements of a batch share are written after one another.
			err = setPart(ctx, t, e*elements, (e+1)*elements, func(i int) float64 {
				row, col := i/m.cols%m.rows, i%m.cols
				return steps[m.Group(row, col, m.cols)].Quantize(x(i))
			})
			if err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

// codes is one operand of p in one element of the batch, as it is quantized.
type codes struct {
	name       string
	rows, cols int
	dtype      tile.Dtype
	quant.Grouping
}

func operandCodes(name string, p problem.Matmul, s problem.Scheme) codes {
	a, _ := p.Factors()
	if name == "a" {
		return codes{"a", p.M, p.K, a, quant.GroupingOf(s, true)}
	}
	return codes{"b", p.K, p.N, p.B, quant.GroupingOf(s, false)}
}

// steps finds the step of each group of a matrix of which at gives the elements,
// and the scale of all where it has one, on all cores.
func (c *codes) steps(ctx context.Context, at func(row, col int) float32) (steps []quant.Step, err error) {
	steps = make([]quant.Step, tile.Elements(c.Shape(c.rows, c.cols)))
	if c.Scales == tile.Float8E4M3FN {
		least, most, err := extremes(ctx, c.rows, c.cols, at)
		if err != nil {
			return nil, err
		}
		c.All = quant.ScaleOfAll(max(-least, most), c.dtype)
	}
	switch c.Grain {
	case problem.Tensor:
		var least, most float32
		if least, most, err = extremes(ctx, c.rows, c.cols, at); err == nil {
			steps[0] = quant.Fit(least, most, c.dtype, c.Grouping)
		}
	case problem.Token, problem.TokenBlock:
		err = inStrips(ctx, c.rows, c.cols, func(from, to int) {
			some := quant.Fits(to-from, c.cols, c.dtype, c.Grouping, func(row, col int) float32 { return at(from+row, col) })
			copy(steps[len(steps)/c.rows*from:], some)
		})
	default:
		err = inStrips(ctx, c.cols, c.rows, func(from, to int) {
			some := quant.Fits(c.rows, to-from, c.dtype, c.Grouping, func(row, col int) float32 { return at(row, from+col) })
			for g := range len(some) / (to - from) {
				copy(steps[g*c.cols+from:], some[g*(to-from):(g+1)*(to-from)])
			}
		})
	}
	return steps, err
}

// extremes returns the least and the largest element of a matrix of which at gives
// the elements, on all cores.
func extremes(ctx context.Context, rows, cols int, at func(row, col int) float32) (least, most float32, err error) {
	lo, hi := make([]float32, rows), make([]float32, rows)
	err = inStrips(ctx, rows, cols, func(from, to int) {
		row := make([]float32, cols)
		for i := from; i < to; i++ {
			for j := range row {
				row[j] = at(i, j)
			}
			lo[i], hi[i] = quant.Extremes(row)
		}
	})
	least, _ = quant.Extremes(lo)
	_, most = quant.Extremes(hi)
	return least, most, err
}

// fillSums sets t to the sum of each column of b.
func fillSums(ctx context.Context, t tile.Tensor, p problem.Matmul, seed uint64, dist string) error {
	b := tile.NewTensor(p.B, p.Batch, p.K, p.N)
	if err := Fill(ctx, b, "b", p, seed, dist); err != nil {
		return err
	}
	row, sums := make([]float64, p.N), make([]float64, p.N)
	for e := range p.Batch {
		clear(sums)
		for k := range p.K {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.Decode(row, (e*p.K+k)*p.N, 1)
			for j, x := range row {
				sums[j] += x
			}
		}
		for j, x := range sums {
			t.Set(e*p.N+j, x)
		}
	}
	return nil
}

// original returns element i of an operand before it was quantized, or of an array of floats.
func original(name string, p problem.Matmul, seed uint64, dist string) func(i int) float32 {
	start := startOf(name, seed)
	if dist != Normal {
		return func(i int) float32 { return float32(2*unit(start, i) - 1) }
	}
	width := func(int) float32 { return 1 }
	switch name {
	case "a":
		widths := spread(startOf(name+" widths", seed), p.Batch*p.M)
		width = func(i int) float32 { return widths[i/p.K] }
	case "b":
		widths := spread(startOf(name+" widths", seed), p.Batch*p.N)
		width = func(i int) float32 { return widths[i/(p.K*p.N)*p.N+i%p.N] }
	}
	return func(i int) float32 { return bell(mix(start+uint64(i))) * width(i) }
}

// spread is n factors from 1/4 to 4.
func spread(start uint64, n int) []float32 {
	return each.Upto(n, func(i int) float32 { return float32(math.Exp2(4*unit(start, i) - 2)) })
}

// bell is nearly normal, of mean 0 and variance 1: the sum of four numbers of 16 random bits each.
func bell(bits uint64) float32 {
	sum := bits&0xFFFF + bits>>16&0xFFFF + bits>>32&0xFFFF + bits>>48
	const mean, deviation = 4 * 32767.5, 65536 / 1.7320508075688772 // 65536·√(4/12)
	return float32((float64(sum) - mean) / deviation)
}

// Unquantized makes r measure what quantization costs: it computes the sampled rows on the operands
// that Fill quantized, from the same seed and distribution. It does nothing for a problem without
// quantization, and none for codes that no quantizer made.
func (r *Reference) Unquantized(ctx context.Context, in map[string]tile.Tensor, seed uint64, dist string) error {
	scheme, err := r.p.Scheme()
	if err != nil || scheme.B == problem.NoGrain || !fromFloats(dist) {
		return err
	}
	if r.parts == nil {
		return r.unquantized(ctx, r.p, in, 0, seed, dist)
	}
	for e, part := range r.parts {
		one, err := elementOf(r.p, in, e)
		if err != nil {
			return err
		}
		if err := part.unquantized(ctx, r.p, one, e, seed, dist); err != nil {
			return err
		}
	}
	return nil
}

// unquantized is Unquantized of element e of the batch of p.
func (r *Reference) unquantized(ctx context.Context, p problem.Matmul, in map[string]tile.Tensor, e int, seed uint64, dist string) error {
	ops, err := operandsOf(ctx, r.p, in)
	if err != nil {
		return err
	}
	a, b := original("a", p, seed, dist), original("b", p, seed, dist)
	avals := make([][]float64, len(r.rows))
	for i, row := range r.rows {
		avals[i] = make([]float64, p.K)
		if isWide := p.A.Bits() > 8; isWide {
			ops.a.Decode(avals[i], row*p.K, 1)
			continue
		}
		for k := range avals[i] {
			avals[i][k] = float64(a((e*p.M+row)*p.K + k))
		}
	}
	r.meant = make([]float64, len(r.rows)*p.N)
	return parallel(ctx, p.N, func(lo, hi int) {
		brow := make([]float64, hi-lo)
		for k := 0; k < p.K && ctx.Err() == nil; k++ {
			for j := range brow {
				brow[j] = float64(b((e*p.K+k)*p.N + lo + j))
			}
			for i := range r.rows {
				av, sums := avals[i][k], r.meant[i*p.N+lo:i*p.N+hi]
				for j, bv := range brow {
					sums[j] += av * bv
				}
			}
		}
		for i := range r.rows {
			sums := r.meant[i*p.N+lo : i*p.N+hi]
			for j := range sums {
				sums[j] = activate(p.Activation, sums[j]+ops.bias[lo+j])
			}
		}
	})
}
