// Package lowertest is what tests of lowerings that run their text have in common.
package lowertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
	"matladder/tile/tiletest"
)

// Products are products of which texts are kept, by the names of their files: one of each
// dtype, and what is more than a dtype.
func Products() map[string]problem.Matmul {
	const m, k, n = 512, 384, 768
	cases := map[string]problem.Matmul{
		"float32":  problem.New(m, k, n, tile.Float32),
		"bfloat16": problem.New(m, k, n, tile.BFloat16),
		"int8":     problem.New(m, k, n, tile.Int8),
		"ragged":   problem.New(m-12, k-84, n+10, tile.BFloat16),
	}
	scaled := problem.New(m, k, n, tile.Int8)
	scaled.Quant, scaled.Out = problem.PerTensor, tile.BFloat16
	cases["int8_scaled"] = scaled
	highest := problem.New(m, k, n, tile.Float32)
	highest.Precision = tile.Highest
	cases["float32_highest"] = highest
	return cases
}

// Programs runs programs beyond the ladder on random inputs and compares with interp.
// refused has, by the name of a program, what be may say that it cannot do.
func Programs(t *testing.T, be backend.Backend, refused map[string]string) {
	cases, err := tiletest.Small()
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range cases {
		t.Run(fmt.Sprintf("%s.%d", c.Name, n), func(t *testing.T) { compare(t, be, c, refused[c.Name]) })
	}
}

func compare(t *testing.T, be backend.Backend, c tiletest.Case, refused string) {
	ctx := context.Background()
	in := randomInputs(t, c)
	want, err := interp.Run(ctx, c.Programs, in)
	if err != nil {
		t.Fatal(err)
	}
	e, err := backend.Compile(ctx, be, c.Programs, backend.Params{})
	if refused != "" && errors.Is(err, backend.ErrUnsupported) && strings.Contains(err.Error(), refused) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(in...); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(ctx, 1); err != nil {
		t.Fatal(err)
	}
	bound, err := tile.Bind(c.Programs)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]tile.Tensor, len(bound.Out))
	for i, r := range bound.Out {
		got[i] = tile.NewTensor(r.Dtype, r.Array...)
	}
	if err := e.Results(got...); err != nil {
		t.Fatal(err)
	}
	for o := range want {
		largest := 0.0
		for i := range want[o].Len() {
			largest = max(largest, math.Abs(want[o].At(i)))
		}
		for i := range want[o].Len() {
			if w, g := want[o].At(i), got[o].At(i); !(math.Abs(w-g) <= c.Rounding*largest) {
				t.Fatalf("%s[%d] is %v, should be %v", bound.Out[o].Name, i, g, w)
			}
		}
	}
}

// randomInputs draws floats from the normal distribution, integers from their
// whole range, and tables, unless the case has them, from the blocks that there are.
func randomInputs(t *testing.T, c tiletest.Case) []tile.Tensor {
	t.Helper()
	bound, err := tile.Bind(c.Programs)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 0))
	in := make([]tile.Tensor, len(bound.In))
	for i, r := range bound.In {
		in[i] = tile.NewTensor(r.Dtype, r.Array...)
		lo, hi := r.Dtype.Range()
		if r.Kind == tile.Table {
			lo, hi = 0, 3
		}
		for e := range in[i].Len() {
			v := random.NormFloat64()
			if r.Dtype.IsInteger() {
				v = math.Floor(lo + (hi-lo+1)*random.Float64())
			}
			if t := c.Tables[r.Name]; t != nil {
				v = float64(t[e])
			}
			in[i].Set(e, v)
		}
	}
	return in
}
