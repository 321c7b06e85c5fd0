package gemm

import "testing"

// TestRate: every path tells figures of itself.
func TestRate(t *testing.T) {
	for _, isa := range Supported() {
		k := For(isa)
		for name, r := range map[string]Rate{"float32": k.Float32.Rate(), "bfloat16": k.BFloat16.Rate(), "int8": k.Int8.Rate()} {
			if !(r.FLOPs > 0 && r.PackA > 0 && r.PackB > 0) {
				t.Errorf("%s %s: %+v", isa, name, r)
			}
			t.Logf("%-8s %-8s %.4g FLOP/s, packs %.3g and %.3g B/s", isa, name, r.FLOPs, r.PackA, r.PackB)
		}
	}
}
