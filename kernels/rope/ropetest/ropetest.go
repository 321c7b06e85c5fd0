// Package ropetest has a reference of rope for tests, and its problems.
package ropetest

import (
	"fmt"
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// Each calls f, in a subtest, for each rung of rope on all that the family spells out, of some
// rows and of one.
func Each(t *testing.T, f func(t *testing.T, p problem.Rope, programs []*tile.Program)) {
	family := problem.RopeFamily
	for _, words := range append(append([]string(nil), family.Dtypes...), family.Examples...) {
		asked, err := family.Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		for _, sizes := range []problem.Sizes{{37, 2, 40, 2}, {1, 19, 40, 2}} {
			p := family.Make(sizes, asked)
			for _, k := range kernels.Ladder(family) {
				programs, err := k.Build(p, "", tile.Blocks{M: 16})
				if err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprintf("%s/%d/%s", words, sizes[0], k.Name()), func(t *testing.T) { f(t, p.(problem.Rope), programs) })
			}
		}
	}
}

// Compare holds o to x turned pair by pair, to the bit; round is what becomes of each
// product and each sum.
func Compare(t *testing.T, p problem.Rope, x, o tile.Tensor, round func(float64) float64) {
	t.Helper()
	want := tile.NewTensor(p.Dtype, x.Shape...)
	copy(want.Data, x.Data)
	for row := range x.Len() / p.Dim {
		for d := range p.Turned() / 2 {
			c, s := p.CosSin(row%p.Rows, d)
			cos, sin := float64(float32(c)), float64(float32(s))
			first, second := p.Columns(d)
			first, second = row*p.Dim+first, row*p.Dim+second
			a, b := x.At(first), x.At(second)
			want.Set(first, round(round(a*cos)-round(b*sin)))
			want.Set(second, round(round(b*cos)+round(a*sin)))
		}
	}
	for i := range want.Len() {
		if o.At(i) != want.At(i) {
			t.Fatalf("o[%d, %d] is %v, want %v", i/p.Dim, i%p.Dim, o.At(i), want.At(i))
		}
	}
}
