package check

import (
	"context"
	"math"

	"matladder/problem"
	"matladder/tile"
)

func init() {
	Register(problem.RopeFamily, Family{
		Fill: func(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error {
			return fillRope(ctx, t, name, p.(problem.Rope), seed, dist)
		},
		HasExact: func(problem.Problem) bool { return true },
		Reference: func(_ context.Context, p problem.Problem, _ map[string]tile.Tensor, seed uint64, dist string) (Verifier, error) {
			r := p.(problem.Rope)
			row := func(in map[string]tile.Tensor, i int, want, bound, _ []float64) { ropeRow(r, in["x"], i, want, bound) }
			if IsExact(dist) {
				row = func(_ map[string]tile.Tensor, i int, want, bound, x []float64) {
					exactRopeRow(r, seed, i, want, bound, x)
				}
			}
			return RowByRow(r.Batch*r.Heads*r.Rows, r.Dim, r.Dtype, row), nil
		},
	})
}

// fillRope sets an array. A table has a column for each pair, or for each column that is
// turned. Those of an exact probe are not of an angle but small integers, as x is: no
// product and no sum of two is rounded.
func fillRope(ctx context.Context, t tile.Tensor, name string, p problem.Rope, seed uint64, dist string) error {
	switch {
	case name == "x" && IsExact(dist):
		return setEach(ctx, t, func(i int) float64 { return ropeInteger(seed, name, i) })
	case name == "x":
		return FillPlain(ctx, t, name, p, seed, dist)
	}
	n := t.Shape[1]
	return setEach(ctx, t, func(i int) float64 {
		row, pair := i/n, i%n
		if n == p.Turned() {
			pair = p.Pair(pair)
		}
		if IsExact(dist) {
			return ropeInteger(seed, name, row*p.Dim+pair)
		}
		cos, sin := p.CosSin(row, pair)
		return map[string]float64{"cos": cos, "sin": sin}[name]
	})
}

// ropeInteger is an integer of an exact probe, from -7 to 7.
func ropeInteger(seed uint64, name string, i int) float64 {
	return float64(mix(startOf(name, seed)+uint64(i))%15) - 7
}

// exactRopeRow sets want to row i of the one answer of an exact probe: integers of at most
// 98, which bfloat16 holds.
func exactRopeRow(p problem.Rope, seed uint64, i int, want, bound, x []float64) {
	for j := range x {
		x[j] = ropeInteger(seed, "x", i*p.Dim+j)
	}
	copy(want, x)
	clear(bound)
	for d := range p.Turned() / 2 {
		at := i%p.Rows*p.Dim + d
		cos, sin := ropeInteger(seed, "cos", at), ropeInteger(seed, "sin", at)
		first, second := p.Columns(d)
		want[first], want[second] = x[first]*cos-x[second]*sin, x[second]*cos+x[first]*sin
	}
}

// ropeRow sets want to row i, and bound to how far a program may be off: cos and sin were
// rounded to float32, and each product and the sum are; then the sum to the dtype of o. What
// is not turned is x itself.
func ropeRow(p problem.Rope, x tile.Tensor, i int, want, bound []float64) {
	const u = 0x1p-24
	x.Decode(want, i*p.Dim, 1)
	clear(bound)
	for d := range p.Turned() / 2 {
		cos, sin := p.CosSin(i%p.Rows, d)
		j, k := p.Columns(d)
		a, b := want[j], want[k]
		want[j], want[k] = a*cos-b*sin, b*cos+a*sin
		for _, c := range []struct {
			at   int
			size float64
		}{{j, math.Abs(a*cos) + math.Abs(b*sin)}, {k, math.Abs(b*cos) + math.Abs(a*sin)}} {
			e := 3 * u * c.size
			bound[c.at] = (e+p.Dtype.Epsilon()*(math.Abs(want[c.at])+e))*1.01 + tile.Float32.SmallestNormal()
		}
	}
}
