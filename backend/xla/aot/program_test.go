package aot

import (
	"math"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
)

// foreignBackend is openBackend for programs of any origin.
func foreignBackend(t *testing.T) *Backend {
	t.Helper()
	open(t, Options{}).Close()
	b, err := OpenBackend(BackendOptions{Topology: "v5e", Cache: t.TempDir(), Options: Options{Foreign: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestProgram_Own: kernels of this project, read back from the program that holds them and
// nothing else, are predicted as they are by their tile programs.
func TestProgram_Own(t *testing.T) {
	b := foreignBackend(t)
	all := cases()
	float8 := problem.New(512, 384, 768, tile.Float8E4M3FN)
	float8.Quant, float8.Out = problem.PerTensor, tile.BFloat16
	all["float8"] = float8
	for name, p := range all {
		for _, kernel := range kernels.Ladder(problem.MatmulFamily) {
			if kernel.Supports(p) != nil || kernel.Number() == 2 && strings.HasPrefix(name, "ragged") {
				continue
			}
			for _, top := range Topologies() {
				v4, plain := kernel.Number() == 4 && name == "bfloat16", top.Name == "v5e" && (name == "bfloat16" || kernel.Number() == 5 && name == "scaled" || kernel.Number() == 3 && name == "ragged")
				native := top.Name == "v7x" && name == "float8" && kernel.Number() == 5
				if !thoroughtest.Full() && !v4 && !plain && !native {
					continue
				}
				t.Run(kernel.Name()+"/"+name+"/"+top.Name, func(t *testing.T) {
					if err := b.aim(top.Name); err != nil {
						t.Fatal(err)
					}
					programs := build(t, kernel, p)
					want, err := b.Predict(t.Context(), programs, backend.Params{})
					if err != nil {
						t.Skip(err) // as TestKernels has it
					}
					launch, err := mosaic.Lower(programs, mosaic.Options{})
					if err != nil {
						t.Fatal(err)
					}
					list, err := b.Program(t.Context(), launch.Module(), false)
					if err != nil {
						t.Fatal(err)
					}
					got := b.Sum(list)
					if off := got.Elapsed.Seconds()/want.Elapsed.Seconds() - 1; math.Abs(off) > 0.01 || got.Low > want.Elapsed || got.High < want.Elapsed {
						t.Errorf("%v to %v, likely %v; by its program %v (%.1f %%)\n%+v", got.Low, got.High, got.Elapsed, want.Elapsed, 100*off, list)
					}
				})
			}
		}
	}
}
