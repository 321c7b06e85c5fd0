package problemtest

import (
	"testing"

	quantized "matladder/kernels/v5_quant"
	"matladder/problem"
	"matladder/quant"
	"matladder/tile"
)

// Codes quantizes Rows by the programs that the fifth rung puts ahead of its
// product, with run as the machine, and compares codes, scales and zero points
// with those of package quant, to the bit; a NaN is any NaN. run returns the
// outputs of one program by name.
func Codes(t *testing.T, run func(program *tile.Program, in []tile.Tensor) map[string]tile.Tensor) {
	for _, p := range Quantized(1, 41, 70, 11, 32) {
		scheme, err := p.Scheme()
		if err != nil {
			t.Fatal(err)
		}
		if !scheme.Dynamic {
			continue
		}
		t.Run(Label(p), func(t *testing.T) {
			programs, err := quantized.Kernel{}.Build(p, "", tile.Blocks{M: 8, K: 64, N: 8})
			if err != nil {
				t.Fatal(err)
			}
			a := Rows(p.A, p.M, p.K, scheme.A == problem.Tensor)
			codes, _ := p.Factors()
			want, err := quant.Quantize(a, codes, quant.Grouping{Grain: scheme.A, Asymmetric: scheme.ZeroA})
			if err != nil {
				t.Fatal(err)
			}
			all := map[string]tile.Tensor{"a": a}
			for _, program := range programs[:len(programs)-1] {
				bound, err := tile.Bind([]*tile.Program{program})
				if err != nil {
					t.Fatal(err)
				}
				var in []tile.Tensor
				for _, r := range bound.In {
					in = append(in, all[r.Name])
				}
				for name, out := range run(program, in) {
					all[name] = out
				}
			}
			sameCodes(t, want, all)
		})
	}
}

func sameCodes(t *testing.T, want quant.Matrix, got map[string]tile.Tensor) {
	t.Helper()
	for name, w := range map[string]tile.Tensor{"qa": want.Codes, "sa": want.Scales, "za": want.Zeros} {
		if w.Data == nil {
			continue
		}
		g, wrong := got[name], 0
		for i := range w.Len() {
			a, b := w.At(i), g.At(i)
			if a != b && (a == a || b == b) {
				if wrong++; wrong < 5 {
					t.Errorf("%s: element %d of %v is %v, should be %v", name, i, w.Shape, b, a)
				}
			}
		}
	}
}
