package check

import (
	"context"
	"math"
	"slices"

	"matladder/problem"
	"matladder/tile"
)

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
