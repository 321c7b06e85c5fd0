package problemtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/problem/quant/quanttest"
	"matladder/tile"
)

// A Machine runs programs in order on inputs in the order of tile.Bind, and returns
// the outputs by name.
type Machine func(programs []*tile.Program, in []tile.Tensor) map[string]tile.Tensor

// Codes quantizes Rows and Halves by the programs that the fifth rung puts ahead of its
// product, and compares codes, scales and zero points with those of package quant,
// to the bit; a NaN is any NaN. Variants that do both in one program are compared
// with the product of the codes and scales that package quant made, where sums are
// integers, to the bit too. flushes says that run takes numbers that are not normal
// for 0.
func Codes(t *testing.T, flushes bool, run Machine) {
	for _, p := range Quantized(1, 41, 70, 11, 32) {
		scheme, err := p.Scheme()
		if err != nil {
			t.Fatal(err)
		}
		if !scheme.Dynamic {
			continue
		}
		inputs := []tile.Tensor{Rows(p.A, p.M, p.K, scheme.A == problem.Tensor), Halves(p.A, p.M, p.K)}
		if scheme.A == problem.Tensor { // one scale of all rows, and then of none
			inputs = append(inputs, Rows(p.A, p.M, p.K, false))
		}
		for i, a := range inputs {
			t.Run(fmt.Sprintf("%s/%d", Label(p), i), func(t *testing.T) {
				codes, _ := p.Factors()
				want, err := quanttest.Quantize(seen(a, flushes), codes, quant.GroupingOf(scheme, true))
				if err != nil {
					t.Fatal(err)
				}
				testCodes(t, p, a, want, run)
				for _, variant := range Kernel(p).Variants(p)[1:] {
					if p.Acc.IsInteger() && scheme.B != problem.Block {
						testProduct(t, p, variant, a, want, run)
					}
				}
			})
		}
	}
}

var blocks = tile.Blocks{M: 8, K: 64, N: 8}

func testCodes(t *testing.T, p problem.Matmul, a tile.Tensor, want quanttest.Matrix, run Machine) {
	all := map[string]tile.Tensor{"a": a}
	programs := build(t, p, "")
	for _, program := range programs[:len(programs)-1] {
		one := []*tile.Program{program}
		for name, out := range run(one, inputs(t, one, all)) {
			all[name] = out
		}
	}
	for name, w := range map[string]tile.Tensor{"qa": want.Codes, "sa": want.Scales, "za": want.Zeros} {
		if w.Data != nil {
			same(t, name, w, all[name])
		}
	}
}

func testProduct(t *testing.T, p problem.Matmul, variant string, a tile.Tensor, codes quanttest.Matrix, run Machine) {
	given := p
	given.A = codes.Codes.Dtype
	scheme, _ := p.Scheme()
	scheme.Dynamic = false
	given.Quant = scheme.Quant()
	static := build(t, given, "")
	all := map[string]tile.Tensor{"a": codes.Codes, "sa": codes.Scales, "za": codes.Zeros}
	want := run(static, inputs(t, static, all))["o"]
	all["a"] = a
	programs := build(t, p, variant)
	same(t, variant, want, run(programs, inputs(t, programs, all))["o"])
}

func build(t *testing.T, p problem.Matmul, variant string) []*tile.Program {
	t.Helper()
	programs, err := Kernel(p).Build(p, variant, blocks)
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// inputs are what programs take of all; what is missing there is drawn, and added.
func inputs(t *testing.T, programs []*tile.Program, all map[string]tile.Tensor) []tile.Tensor {
	t.Helper()
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	var in []tile.Tensor
	for _, r := range bound.In {
		x, ok := all[r.Name]
		if !ok {
			rng := rand.New(rand.NewPCG(5, uint64(len(r.Name))))
			x = tile.NewTensor(r.Dtype, r.Array...)
			for i := range x.Len() {
				if x.Set(i, float64(rng.IntN(15)-7)); !r.Dtype.IsInteger() {
					x.Set(i, (1+rng.Float64())/128)
				}
			}
			all[r.Name] = x
		}
		in = append(in, x)
	}
	return in
}

// seen is x as a machine sees it: without what it takes for 0.
func seen(x tile.Tensor, flushes bool) tile.Tensor {
	if !flushes {
		return x
	}
	x.Data = slices.Clone(x.Data)
	for i := range x.Len() {
		if math.Abs(x.At(i)) < x.Dtype.SmallestNormal() {
			x.Set(i, 0)
		}
	}
	return x
}

func same(t *testing.T, name string, want, got tile.Tensor) {
	t.Helper()
	wrong := 0
	for i := range want.Len() {
		a, b := want.At(i), got.At(i)
		if a != b && (a == a || b == b) {
			if wrong++; wrong < 5 {
				t.Errorf("%s: element %d of %v is %v, should be %v", name, i, want.Shape, b, a)
			}
		}
	}
}
