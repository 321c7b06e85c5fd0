package pjrt

import (
	"fmt"
	"testing"

	"matladder/check"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// split returns x as n bfloat16, the sum of which is x or close to it.
func split(x float64, n int) []float64 {
	parts := make([]float64, n)
	for i := range parts {
		parts[i] = tile.BFloat16.Round(x)
		x -= parts[i]
	}
	return parts
}

// cut leaves the ten bits of x behind the point that TF32 has.
func cut(x float64) float64 {
	t := tile.NewTensor(tile.Float32, 1)
	t.Set(0, x)
	t.Data[0], t.Data[1] = 0, t.Data[1]&0xe0
	return t.At(0)
}

// TestProductRoundoff multiplies as devices do, with float32 sums: the output must
// pass the check with that device's roundoff, must not always pass without, and no
// fault may pass.
func TestProductRoundoff(t *testing.T) {
	for _, device := range []struct {
		name      string
		kind      string
		precision tile.Precision
		products  func(a, b float64) []float64
		coarse    bool // fails without the roundoff
	}{
		{"TPU", machine.TPU, tile.Default, func(a, b float64) []float64 {
			return []float64{tile.BFloat16.Round(a) * tile.BFloat16.Round(b)}
		}, true},
		{"TPU highest", machine.TPU, tile.Highest, func(a, b float64) []float64 {
			x, y := split(a, 3), split(b, 3)
			return []float64{x[2] * y[0], x[1] * y[1], x[0] * y[2], x[1] * y[0], x[0] * y[1], x[0] * y[0]}
		}, false},
		{"GPU", machine.GPU, tile.Default, func(a, b float64) []float64 { return []float64{cut(a) * cut(b)} }, true},
		{"CPU", machine.CPU, tile.Default, func(a, b float64) []float64 { return []float64{a * b} }, false},
	} {
		for _, s := range [][3]int{{1, 1, 1}, {33, 7, 20}, {40, 700, 30}} {
			t.Run(fmt.Sprint(device.name, s), func(t *testing.T) {
				p := problem.New(s[0], s[1], s[2], tile.Float32)
				p.Precision = device.precision
				in := map[string]tile.Tensor{"a": tile.NewTensor(p.A, p.M, p.K), "b": tile.NewTensor(p.B, p.K, p.N)}
				for name, array := range in {
					if err := check.Fill(t.Context(), array, name, p, 9, check.Uniform); err != nil {
						t.Fatal(err)
					}
				}
				o := tile.NewTensor(p.Out, p.M, p.N)
				for i := range p.M {
					for j := range p.N {
						var acc float32
						for k := range p.K {
							for _, x := range device.products(in["a"].At(i*p.K+k), in["b"].At(k*p.N+j)) {
								acc += float32(x)
							}
						}
						o.Set(i*p.N+j, float64(acc))
					}
				}
				verify := func(roundoff float64, fault string) check.Result {
					r, err := check.NewReference(t.Context(), p, in)
					if err != nil {
						t.Fatal(err)
					}
					r.ProductsOff(roundoff)
					out := tile.Tensor{Dtype: o.Dtype, Shape: o.Shape, Data: append([]byte(nil), o.Data...)}
					if fault != "" {
						if err := check.Inject(fault, out); err != nil {
							t.Fatal(err)
						}
					}
					v, err := r.Verify(t.Context(), nil, in, map[string]tile.Tensor{"o": out})
					if err != nil {
						t.Fatal(err)
					}
					return v
				}
				u := productRoundoff(device.kind, p)
				if v := verify(u, ""); !v.OK {
					t.Errorf("%+v", v)
				}
				if v := verify(0, ""); v.OK == device.coarse {
					t.Errorf("without the roundoff: %+v", v)
				}
				for _, fault := range check.Faults() {
					if v := verify(u, fault); v.OK && (p.M > 1 || fault != check.FaultTile) {
						t.Errorf("%s is not found: %+v", fault, v)
					}
				}
			})
		}
	}
	for _, d := range []tile.Dtype{tile.BFloat16, tile.Int8} {
		if u := productRoundoff(machine.TPU, problem.New(8, 8, 8, d)); u != 0 {
			t.Errorf("products of %s are off by %g", d, u)
		}
	}
}
