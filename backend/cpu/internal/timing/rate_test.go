package timing

import (
	"fmt"
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/thoroughtest"
)

// TestRate: every path tells figures of itself, however large the L2 of its machine is and
// however many threads there are.
func TestRate(t *testing.T) {
	for _, isa := range gemm.Supported() {
		k := gemm.For(isa)
		for threads, l2 := range map[int]int{1: 64 << 10, 2: 512 << 10, 3: 2 << 20} {
			if threads == 2 && !thoroughtest.All() {
				continue
			}
			for name, r := range map[string]Rate{"float32": rateBeyond(t.Context(), k.Float32, threads, l2), "bfloat16": rateBeyond(t.Context(), k.BFloat16, threads, l2), "int8": rateBeyond(t.Context(), k.Int8, threads, l2)} {
				what := fmt.Sprintf("%s %s, L2 of %d KiB", isa, name, l2>>10)
				if !(r.FLOPs > 0 && r.Fetch > 0 && r.PackA > 0 && r.PackB > 0) {
					t.Errorf("%s: %+v", what, r)
				}
				t.Logf("%s: %.4g FLOP/s, packs %.3g and %.3g B/s", what, r.FLOPs, r.PackA, r.PackB)
			}
		}
	}
}
