package aot

import (
	"testing"

	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
)

// TestLoop compiles a kernel inside the loop in which a device would time it.
func TestLoop(t *testing.T) {
	c := open(t, Options{})
	v5, err := kernels.Find("v5")
	if err != nil {
		t.Fatal(err)
	}
	launch, err := mosaic.Lower(build(t, v5, problem.New(1000, 1024, 512, tile.Int8)), mosaic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	arrays := func(refs []*tile.Ref) []stablehlo.Array {
		var as []stablehlo.Array
		for _, r := range refs {
			as = append(as, stablehlo.Array{Name: r.Name, Dtype: r.Dtype, Shape: r.Array})
		}
		return as
	}
	loop := stablehlo.NewLaunch(launch.Name, arrays(launch.In), arrays(launch.Out), launch.Function("private", "launch"))
	for _, sets := range []int{1, 3} {
		if _, err := c.Compile(t.Context(), "v5e:2x2", loop.Loop(sets)); err != nil {
			t.Errorf("%d sets: %v", sets, err)
		}
	}
}
