package triton_test

import (
	"slices"
	"testing"

	"matladder/kernels/kernelstest"
	"matladder/lower/triton"
	"matladder/problem"
	"matladder/tile"
)

// TestAdjustments: each is another text that fits, one step from what is chosen, and
// another part of k only where its blocks can be dealt out evenly.
func TestAdjustments(t *testing.T) {
	a := func(name, value string) triton.Adjustment { return triton.Adjustment{Name: name, Value: value} }
	for _, test := range []struct {
		kernel string
		p      problem.Matmul
		b      tile.Blocks
		params triton.Params
		want   []triton.Adjustment
	}{
		{"v5", problem.New(1024, 1024, 1024, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 128}, triton.Params{},
			[]triton.Adjustment{a("group", "4"), a("num_stages", "3"), a("num_stages", "5"), a("num_warps", "8"), a("split_k", "2")}},
		{"v5", problem.New(1024, 192, 1024, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 256}, triton.Params{Group: 1, Stages: 4, Warps: 8},
			[]triton.Adjustment{a("group", "2"), a("num_stages", "3"), a("num_warps", "16")}},
	} {
		target, err := triton.FindTarget("sm_90")
		if err != nil {
			t.Fatal(err)
		}
		programs := kernelstest.Build(t, test.kernel, test.p, test.b)
		got, err := triton.Adjustments(programs, triton.Options{Target: target, Params: test.params})
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, %v, want %v", test.p, got, err, test.want)
		}
	}
	if _, err := triton.Adjustments(kernelstest.Build(t, "v1", problem.New(1024, 1024, 1024, tile.Float32), tile.Blocks{M: 1024, K: 1024, N: 1024}), triton.Options{}); err == nil {
		t.Error("adjustments of what does not fit")
	}
}
