package plots

import (
	"strings"
	"testing"

	"matladder/plots/figure"
	"matladder/stats"

	"matladder/results"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestErrors_Load: which of a kernel's blocks was the fastest changes nothing, and the
// line is their largest error at each K, the band as far as the least.
func TestErrors_Load(t *testing.T) {
	sweep := func(small, large float64) []figure.Series {
		var rows []results.Record
		for _, k := range []int{512, 1024} {
			for _, blocks := range []struct {
				bk   int
				rate float64
			}{{128, small}, {512, large}} {
				r := hand("v4_optblock", k, blocks.rate)
				r.BM, r.BK, r.BN = 128, blocks.bk, 128
				r.RelErr = results.Some(1e-3 * float64(k/blocks.bk))
				rows = append(rows, r)
			}
		}
		list, err := Pictures(stats.Summarize(rows), Request{Kind: Errors})
		if err != nil {
			t.Fatal(err)
		}
		return list[0].(*figure.Chart).Series
	}
	idle, busy := sweep(1e9, 3e9), sweep(3e9, 1e9)
	if diff := cmp.Diff(idle, busy); diff != "" {
		t.Errorf("-idle +busy:\n%s", diff)
	}
	want := []figure.Point{{X: 512, Y: 4e-3, Lo: 1e-3, Hi: 4e-3}, {X: 1024, Y: 8e-3, Lo: 2e-3, Hi: 8e-3}}
	if diff := cmp.Diff(want, idle[0].Points, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestErrors_Dtype: the picture is of the dtype that rounds most, with one line for kernels that
// err alike.
func TestErrors_Dtype(t *testing.T) {
	var rows []results.Record
	for _, dtype := range []string{"float32", "bfloat16"} {
		for kernel, growth := range map[string]float64{"v1_naive": 0, "v2_parallel": 0, "v3_block": 1, "v5_quant": 0.001} {
			for i, k := range []int{512, 1024} {
				if kernel == "v1_naive" && i > 0 {
					continue // which is no reason for a line of its own
				}
				r := hand(kernel, k, 1e9)
				r.DtypeA, r.DtypeB, r.DtypeOut = dtype, dtype, dtype
				r.RelErr = results.Some(map[string]float64{"float32": 1e-7, "bfloat16": 2e-3}[dtype] * (1 + growth*float64(i)))
				rows = append(rows, r)
			}
		}
	}
	list, err := Pictures(stats.Summarize(rows), Request{Kind: Errors})
	if err != nil {
		t.Fatal(err)
	}
	ch := list[0].(*figure.Chart)
	var names []string
	for _, s := range ch.Series {
		names = append(names, s.Label)
	}
	if diff := cmp.Diff([]string{"v3_block", "v1, v2, v5"}, names); diff != "" || !strings.Contains(ch.Title, "bfloat16") || !strings.HasSuffix(ch.Y.Label, "in 1e-3") {
		t.Errorf("%q, %q, lines -want +got:\n%s", ch.Title, ch.Y.Label, diff)
	}
}
