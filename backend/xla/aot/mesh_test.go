package aot

import (
	"testing"

	"matladder/machine/mesh"
)

// TestAxisOf: groups of devices that differ along one axis alone, as libtpu numbers them:
// the last axis runs fastest.
func TestAxisOf(t *testing.T) {
	m, err := mesh.Parse("data=2,model=4")
	if err != nil {
		t.Fatal(err)
	}
	for want, groups := range map[string][][]int64{
		"data":  {{0, 4}, {1, 5}, {2, 6}, {3, 7}},
		"model": {{0, 1, 2, 3}, {4, 5, 6, 7}},
		"":      {{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		if got := axisOf(m, groups); got != want {
			t.Errorf("%v: axis %q, want %q", groups, got, want)
		}
	}
}
