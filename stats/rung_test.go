package stats

import (
	"cmp"
	"testing"

	"matladder/results"
)

func TestCompareKernels(t *testing.T) {
	up := []string{results.Baseline, "v1_naive", "v2_parallel", "v10_later", "v10_other", "mine", "v_x"}
	for i, a := range up {
		for j, b := range up {
			if have, want := CompareKernels(a, b), cmp.Compare(i, j); have != want {
				t.Errorf("%s, %s: have %d, want %d", a, b, have, want)
			}
		}
	}
}
