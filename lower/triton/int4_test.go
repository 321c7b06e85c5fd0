package triton_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/tile"
	"matladder/tile/interp"
)

// int4Copy copies an int4 array: whole blocks to int4 and int8, and of each block n columns
// from some on. Rows may be of odd length, blocks begin inside a byte or overhang, and one
// dimension may be squeezed.
type int4Copy struct {
	array, block []int
	from, n      int
	loop         bool // from is what a loop counts in steps of from
}

func (c int4Copy) program() ([]*tile.Program, error) {
	t := tile.New("int4_copy")
	var at, outside []tile.IndexExpr
	sizes := []int{}
	for d, n := range c.array {
		b := max(1, c.block[d])
		var x tile.IndexExpr = tile.Const(0)
		if tiles := tile.Ceil(n, b); tiles > 1 {
			x = t.Axis(fmt.Sprint("i", d), tiles, tile.Parallel)
		}
		at = append(at, x)
		if c.block[d] != tile.Squeezed {
			sizes = append(sizes, b)
		}
	}
	last := len(c.array) - 1
	part, partBlock := append([]int(nil), c.array...), append([]int(nil), c.block...)
	part[last], partBlock[last] = c.n*tile.Ceil(c.array[last], c.block[last]), c.n
	outside = append(outside, at...)
	x := t.In("x", tile.Int4, tile.Array(c.array...), tile.Block(c.block...).At(at...))
	same := t.Out("same", tile.Int4, tile.Array(c.array...), tile.Block(c.block...).At(at...))
	wide := t.Out("wide", tile.Int8, tile.Array(c.array...), tile.Block(c.block...).At(at...))
	some := t.Out("some", tile.Int4, tile.Array(part...), tile.Block(partBlock...).At(outside...))
	t.Store(same, x)
	t.Store(wide, tile.Cast(x, tile.Int8))
	columns := func(from tile.IndexExpr) tile.Value {
		dim := len(sizes) - 1
		return tile.Select(tile.Slice(tile.InBounds(x, dim), dim, from, c.n), tile.Slice(x, dim, from, c.n), tile.Number(0))
	}
	if c.loop {
		t.Loop("s", 2, func(s *tile.Axis) { t.Store(some, columns(tile.Times(s, c.from))) })
	} else {
		t.Store(some, columns(tile.Const(c.from)))
	}
	return t.Programs()
}

// TestInt4Meaning: what is loaded of int4 arrays, by bytes or by halves of them, and what is
// stored, is what interp loads and stores.
func TestInt4Meaning(t *testing.T) {
	cases := []int4Copy{
		{[]int{6, 32}, []int{4, 16}, 0, 8, false}, {[]int{6, 32}, []int{4, 16}, 4, 8, false}, {[]int{6, 32}, []int{4, 16}, 3, 8, false},
		{[]int{6, 32}, []int{4, 16}, 8, 8, true}, {[]int{6, 32}, []int{4, 16}, 5, 6, true}, {[]int{6, 32}, []int{4, 16}, 5, 5, false},
		{[]int{6, 30}, []int{4, 16}, 2, 14, false}, {[]int{5, 31}, []int{4, 16}, 2, 14, false}, {[]int{5, 30}, []int{4, 15}, 1, 2, false},
		{[]int{3, 4, 6}, []int{tile.Squeezed, 2, 4}, 2, 2, false}, {[]int{4, 3, 10}, []int{2, tile.Squeezed, 4}, 1, 2, false}, {[]int{3, 5, 7}, []int{2, 2, 7}, 3, 4, false},
		{[]int{1, 2}, []int{1, 2}, 0, 2, false}, {[]int{7, 2}, []int{2, 2}, 0, 2, false}, {[]int{7, 1}, []int{2, 1}, 0, 1, false}, {[]int{1, 3}, []int{1, 2}, 0, 2, false},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 / thoroughtest.OneIn(1, 4, 4) {
		rank := 2 + rng.IntN(2)
		c := int4Copy{array: make([]int, rank), block: make([]int, rank), loop: rng.IntN(4) == 0}
		for d := range rank {
			c.array[d] = 1 + rng.IntN(20)
			c.block[d] = 1 + rng.IntN(c.array[d])
		}
		if rank == 3 && rng.IntN(2) == 0 {
			c.block[rng.IntN(2)] = tile.Squeezed
		}
		b := c.block[rank-1]
		c.n = 1 + rng.IntN(b)
		if c.from = rng.IntN(b - c.n + 1); c.loop {
			c.from = (b - c.n)
		}
		cases = append(cases, c)
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			programs, err := c.program()
			if err != nil {
				t.Fatal(err)
			}
			in := []tile.Tensor{tile.NewTensor(tile.Int4, c.array...)}
			for i := range in[0].Len() {
				in[0].Set(i, float64(rng.IntN(16)-8))
			}
			want, err := interp.Run(context.Background(), programs, in)
			if err != nil {
				t.Fatal(err)
			}
			got := runText(t, programs, backend.Params{}, in)
			for o, name := range []string{"same", "wide", "some"} {
				for i := range want[o].Len() {
					if g, w := got[name].At(i), want[o].At(i); g != w {
						t.Fatalf("%s[%d] is %v, should be %v", name, i, g, w)
					}
				}
			}
		})
	}
}
