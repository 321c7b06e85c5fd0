package interp_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"matladder/tile"
	"matladder/tile/interp"
)

// ragged is a product of groups of rows, each with weights of its own, whose sizes
// are data: a block of rows is visited once for each group that has rows in it, and
// each visit stores the rows of its group.
type ragged struct {
	sizes            []int
	k, n, bm, bk, bn int
}

func (c ragged) rows() int {
	m := 0
	for _, s := range c.sizes {
		m += s
	}
	return m
}

// most is how many visits there can be, whatever the sizes.
func (c ragged) most() int { return tile.Ceil(c.rows(), c.bm) + len(c.sizes) - 1 }

func (c ragged) program() ([]*tile.Program, error) {
	t := tile.New("ragged_matmul")
	m, most := c.rows(), c.most()
	visits := t.Table("visits", 1)
	group, block := t.Table("group", most), t.Table("block", most)
	from := t.Table("from", len(c.sizes)+1)
	j := t.Axis("j", tile.Ceil(c.n, c.bn), tile.Parallel)
	s := t.BoundedAxis("s", most, tile.Arbitrary, visits.At(tile.Const(0)))
	k := t.Axis("k", tile.Ceil(c.k, c.bk), tile.Arbitrary)

	x := t.In("x", tile.BFloat16, tile.Array(m, c.k), tile.Block(c.bm, c.bk).At(block.At(s), k))
	w := t.In("w", tile.BFloat16, tile.Array(len(c.sizes), c.k, c.n), tile.Block(tile.Squeezed, c.bk, c.bn).At(group.At(s), k, j))
	o := t.Out("o", tile.Float32, tile.Array(m, c.n), tile.Block(c.bm, c.bn).At(block.At(s), j))
	acc := t.Scratch("acc", tile.Float32, c.bm, c.bn)

	t.When(k.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(x, w))
	t.When(k.Last(), func() {
		first := tile.Times(block.At(s), -c.bm)
		t.StoreRows(o, tile.Plus(from.At(group.At(s)), first), tile.Plus(from.At(tile.Plus(group.At(s), tile.Const(1))), first), acc)
	})
	return t.Programs()
}

// tables are the visits of the sizes; tables are filled to their end with the last.
func (c ragged) tables() (visits, group, block, from tile.Tensor) {
	visits, from = tile.NewTensor(tile.Int32, 1), tile.NewTensor(tile.Int32, len(c.sizes)+1)
	group, block = tile.NewTensor(tile.Int32, c.most()), tile.NewTensor(tile.Int32, c.most())
	n, row := 0, 0
	for g, size := range c.sizes {
		for b := row / c.bm; size > 0 && b*c.bm < row+size; b++ {
			for i := n; i < c.most(); i++ {
				group.Set(i, float64(g))
				block.Set(i, float64(b))
			}
			n++
		}
		row += size
		from.Set(g+1, float64(row))
	}
	visits.Set(0, float64(n))
	return visits, group, block, from
}

func TestRaggedMatmul(t *testing.T) {
	for _, c := range []ragged{
		{[]int{5, 0, 11, 8, 1}, 23, 17, 8, 8, 8},
		{[]int{16}, 4, 4, 16, 4, 4},
		{[]int{0, 3, 0, 0, 2}, 5, 3, 16, 8, 2},
		{[]int{1, 1, 1, 1}, 3, 2, 2, 3, 2},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs := must(t)(c.program())
			in := inputs(t, programs)
			in[0], in[1], in[2], in[3] = c.tables()
			o := run(t, programs, in...)[0]
			row := 0
			for g, size := range c.sizes {
				for i := row; i < row+size; i++ {
					for j := range c.n {
						var want, sum float64
						for l := range c.k {
							p := element(in[4], i, l) * element(in[5], g, l, j)
							want += p
							sum += math.Abs(p)
						}
						near(t, element(o, i, j), want, epsFloat32*float64(c.k)*sum, i, j)
					}
				}
				row += size
			}
		})
	}
}

// TestBounds: what a table says wrong is found when the program runs.
func TestBounds(t *testing.T) {
	c := ragged{[]int{5, 0, 11, 8, 1}, 23, 17, 8, 8, 8}
	programs := must(t)(c.program())
	for want, change := range map[string]func(visits, block tile.Tensor){
		"axis s: its bound visits[0] is 9, want 0 … 8":         func(visits, _ tile.Tensor) { visits.Set(0, 9) },
		"axis s: its bound visits[0] is -1, want 0 … 8":        func(visits, _ tile.Tensor) { visits.Set(0, -1) },
		"o[24, 0] is never written":                            func(visits, _ tile.Tensor) { visits.Set(0, visits.At(0)-1) },
		"x: block 4 along dimension 0 at j=0, s=7, k=0, where": func(_, block tile.Tensor) { block.Set(7, 4) },
	} {
		in := inputs(t, programs)
		in[0], in[1], in[2], in[3] = c.tables()
		change(in[0], in[2])
		if _, err := interp.Run(context.Background(), programs, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestColumnStatistics reduces along rows of a block, masked where the array ends,
// and has exp2 and log.
func TestColumnStatistics(t *testing.T) {
	const rows, cols = 11, 13
	b := tile.New("log_sum_exp2")
	j, i := b.Axis("j", 2, tile.Parallel), b.Axis("i", 3, tile.Arbitrary)
	zero := tile.Const(0)
	x := b.In("x", tile.Float32, tile.Array(rows, cols), tile.Block(4, 8).At(i, j))
	o := b.Out("o", tile.Float32, tile.Array(1, cols), tile.Block(1, 8).At(zero, j))
	top, sum := b.Scratch("top", tile.Float32, 1, 8), b.Scratch("sum", tile.Float32, 1, 8)
	b.When(i.First(), func() {
		b.Fill(top, -1e30)
		b.Fill(sum, 0)
	})
	masked := tile.Select(tile.InBounds(x, 0), x, tile.Number(-1e30))
	next := tile.Max(top, tile.ReduceMax(masked, 0))
	b.Store(sum, tile.Add(tile.Mul(sum, tile.Exp2(tile.Sub(top, next))), tile.ReduceSum(tile.Exp2(tile.Sub(masked, next)), 0)))
	b.Store(top, next)
	b.When(i.Last(), func() { b.Store(o, tile.Add(tile.Mul(top, tile.Number(math.Ln2)), tile.Log(sum))) })
	programs := must(t)(b.Programs())
	in := inputs(t, programs)
	out := run(t, programs, in...)[0]
	for c := range cols {
		sum := 0.0
		for r := range rows {
			sum += math.Exp2(element(in[0], r, c))
		}
		want := math.Log(sum)
		near(t, element(out, 0, c), want, 16*epsFloat32*(1+math.Abs(want)), c)
	}
}
