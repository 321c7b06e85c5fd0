package check

import (
	"context"
	"math"
	"slices"

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

// fillCache sets a table of cosines or sines of the positions of rows or keys: of pairs, or of
// all columns that are turned.
func fillCache(ctx context.Context, t tile.Tensor, name string, p problem.Attention) error {
	n, of, what := t.Shape[len(t.Shape)-1], name[:3], name[4:]
	ropes := []problem.Rope{p.RopeOfKeys()}
	if of == "row" {
		ropes = nil
		for b := range p.RowTables() {
			rows, keys := p.Rows, p.Keys
			if p.RowTables() > 1 {
				rows, keys = p.LengthsOf(b)
			}
			ropes = append(ropes, p.RopeOfRows(rows, keys))
		}
	}
	return setEach(ctx, t, func(i int) float64 {
		row, pair := i/n, i%n
		r := ropes[row/ropes[0].Rows]
		if n == r.Turned() {
			pair = r.Pair(pair)
		}
		cos, sin := r.CosSin(row%r.Rows, pair)
		return map[string]float64{"cos": cos, "sin": sin}[what]
	})
}

// ropeCache is the cosines and sines of all keys, by position, then pair; none where keys stay.
type ropeCache struct {
	p        problem.Attention
	cos, sin [][]float64
}

// newRopeCache is nil where nothing is turned.
func newRopeCache(p problem.Attention) *ropeCache {
	if p.Rope == problem.TurnedNone {
		return nil
	}
	c := &ropeCache{p: p}
	if p.Rope == problem.TurnedBoth {
		for j := range p.Keys {
			cos, sin := cosSines(p.RopeOfKeys(), j)
			c.cos, c.sin = append(c.cos, cos), append(c.sin, sin)
		}
	}
	return c
}

// cosSines are those of row i's pairs.
func cosSines(r problem.Rope, i int) (cos, sin []float64) {
	for d := range r.Turned() / 2 {
		c, s := r.CosSin(i, d)
		cos, sin = append(cos, c), append(sin, s)
	}
	return cos, sin
}

// ropeTurns turns rows of q and k, of which it keeps those of one head.
type ropeTurns struct {
	*ropeCache
	head      int
	k, doubts [][]float64 // by key; nil of one that was not met
}

// own returns what one worker turns with; nil where nothing is turned.
func (c *ropeCache) own() *ropeTurns {
	if c == nil {
		return nil
	}
	return &ropeTurns{ropeCache: c, head: -1, k: make([][]float64, len(c.cos)), doubts: make([][]float64, len(c.cos))}
}

// row turns q, row i of an example of so many rows and keys, and returns the doubts of its
// elements; nil where it stays.
func (t *ropeTurns) row(q []float64, rows, keys, i int) []float64 {
	if t == nil {
		return nil
	}
	r := t.p.RopeOfRows(rows, keys)
	cos, sin := cosSines(r, i)
	return turnRounded(r, q, cos, sin)
}

// key turns k, of key j of a head of an example, and returns the doubts of its elements; nil
// where it stays.
func (t *ropeTurns) key(k []float64, head, j int) []float64 {
	if t == nil || t.cos == nil {
		return nil
	}
	if t.head != head {
		t.head = head
		clear(t.k)
	}
	if t.k[j] == nil {
		t.doubts[j] = turnRounded(t.p.RopeOfKeys(), k, t.cos[j], t.sin[j])
		t.k[j] = slices.Clone(k)
	}
	copy(k, t.k[j])
	return t.doubts[j]
}

// turnRounded turns x and rounds it to the dtype. What a program makes of cos, sin, two products
// and a sum in float32 may lie on the other side of the middle between two numbers: doubts are
// how far these are apart where it may.
func turnRounded(r problem.Rope, x, cos, sin []float64) []float64 {
	const u = 0x1p-24
	doubts := make([]float64, len(x))
	for d := range cos {
		i, j := r.Columns(d)
		a, b := x[i], x[j]
		for _, c := range []struct {
			at   int
			p, m float64
		}{{i, a * cos[d], -b * sin[d]}, {j, b * cos[d], a * sin[d]}} {
			want, e := c.p+c.m, 3*u*(math.Abs(c.p)+math.Abs(c.m))
			x[c.at] = r.Dtype.Round(want)
			doubts[c.at] = r.Dtype.Round(want+e) - r.Dtype.Round(want-e)
		}
	}
	return doubts
}

// doubtOf is by how much the product of q and k may differ if their elements do by their doubts.
func doubtOf(q, qDoubt, k, kDoubt []float64) float64 {
	sum := 0.0
	for d := range q {
		if qDoubt != nil {
			sum += qDoubt[d] * math.Abs(k[d])
		}
		if kDoubt != nil {
			sum += math.Abs(q[d]) * kDoubt[d]
		}
	}
	return sum
}
