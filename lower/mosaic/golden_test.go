package mosaic_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"matladder/internal/golden"
	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
)

// goldens are the texts kept in testdata: each rung in each dtype.
func goldens() map[string]problem.Matmul {
	const m, k, n = 512, 384, 768
	cases := map[string]problem.Matmul{
		"float32":  problem.New(m, k, n, tile.Float32),
		"bfloat16": problem.New(m, k, n, tile.BFloat16),
		"int8":     problem.New(m, k, n, tile.Int8),
		"ragged":   problem.New(m-12, k-84, n+10, tile.BFloat16),
	}
	scaled := problem.New(m, k, n, tile.Int8)
	scaled.Quant, scaled.Out = problem.PerTensor, tile.BFloat16
	cases["int8_scaled"] = scaled
	highest := problem.New(m, k, n, tile.Float32)
	highest.Precision = tile.Highest
	cases["float32_highest"] = highest
	return cases
}

func TestGolden(t *testing.T) {
	for name, p := range goldens() {
		for _, kernel := range kernels.Ladder(problem.MatmulFamily) {
			if kernel.Supports(p) != nil || kernel.Number() < 5 && (name == "float32_highest" || name == "ragged") {
				continue
			}
			programs, err := kernel.Build(p, "", kernel.Candidates(p, tile.Machine{Parallel: 2})[0])
			if err != nil {
				t.Fatal(err)
			}
			launch, err := mosaic.Lower(programs, mosaic.Options{})
			if err != nil {
				t.Fatal(err)
			}
			golden.Assert(t, filepath.Join("testdata", fmt.Sprintf("%s.%s.mlir", kernel.Name(), name)), []byte(launch.Kernels[0].Body))
			for _, target := range mosaic.Targets() {
				if err := target.Check(programs, 0); err != nil && !(target.Name == "v4" && p.A == tile.Int8) {
					t.Errorf("%s.%s on %s: %v", kernel.Name(), name, target.Name, err)
				}
			}
		}
	}
}
