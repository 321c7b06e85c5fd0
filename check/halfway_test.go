package check

import (
	"testing"

	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestExact_Halfway: gelu of what is large is that times a number that is 1 but for a
// rounding. Where the product lies halfway between two numbers of the output, such a
// rounding decides which of both it becomes: either is right, and the next one is not.
func TestExact_Halfway(t *testing.T) {
	const m, k, n, seed = 40, 70, 33, 5
	p := problemtest.New(1, m, k, n, tile.Int8, tile.Int8, tile.BFloat16, "per_channel+token", "bias+gelu")
	ref, err := ReferenceOf(t.Context(), p, nil, seed, Exact)
	if err != nil {
		t.Fatal(err)
	}
	array := func(name string, d tile.Dtype, shape ...int) tile.Tensor {
		a := tile.NewTensor(d, shape...)
		if err := Fill(t.Context(), a, name, p, seed, Exact); err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, b := array("a", p.A, m, k), array("b", p.B, k, n)
	sa, sb, bias := array("sa", tile.Float32, m, 1), array("sb", tile.Float32, 1, n), array("bias", tile.Float32, 1, n)
	results := map[float64]tile.Tensor{}
	halfway := 0
	for _, phi := range []float64{1 - 0x1p-23, 1, 1 + 0x1p-23} {
		out := tile.NewTensor(p.Out, m, n)
		for i := range m {
			for j := range n {
				sum := 0.0
				for l := range k {
					sum += a.At(i*k+l) * b.At(l*n+j)
				}
				out.Set(i*n+j, float64(float32((sum*sa.At(i)*sb.At(j)+bias.At(j))*phi)))
			}
		}
		results[phi] = out
		if r, err := ref.Verify(t.Context(), nil, nil, map[string]tile.Tensor{"o": out}); err != nil || !r.OK {
			t.Errorf("gelu(x) = %.9g x: %+v, %v", phi, r, err)
		}
	}
	off := results[1]
	for i := range off.Len() {
		if results[1-0x1p-23].At(i) != results[1+0x1p-23].At(i) {
			halfway++
		}
		was, want := off.BFloat16s()[i], off.At(i)
		for _, v := range []uint16{was - 1, was + 1} {
			off.BFloat16s()[i] = v
			either := off.At(i) == results[1-0x1p-23].At(i) || off.At(i) == results[1+0x1p-23].At(i)
			if r, err := ref.Verify(t.Context(), nil, nil, map[string]tile.Tensor{"o": off}); err != nil || r.OK != either {
				t.Fatalf("element %d is %g, not %g: %+v, %v", i, off.At(i), want, r, err)
			}
		}
		off.BFloat16s()[i] = was
	}
	if halfway == 0 {
		t.Error("no element lies halfway: nothing is tested")
	}
}
