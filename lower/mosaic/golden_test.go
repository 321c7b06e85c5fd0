package mosaic_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/lower/internal/lowertest"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
)

func TestGolden(t *testing.T) {
	for name, p := range lowertest.Products() {
		for _, kernel := range kernels.Ladder(problem.MatmulFamily) {
			if kernel.Supports(p) != nil || kernel.Number() < 5 && (name == "float32_highest" || name == "ragged") {
				continue
			}
			programs, err := kernel.Build(p, "", kernel.Candidates(p, problem.Machine{Parallel: 2})[0])
			if err != nil {
				t.Fatal(err)
			}
			launch, err := mosaic.Lower(programs, mosaic.Options{})
			if err != nil {
				t.Fatal(err)
			}
			goldentest.Assert(t, filepath.Join("testdata", fmt.Sprintf("%s.%s.mlir", kernel.Name(), name)), []byte(launch.Kernels[0].Body))
			for _, target := range mosaic.Targets() {
				if err := target.Check(programs, mosaic.Options{}); err != nil && !(target.Name == "v4" && p.A == tile.Int8) {
					t.Errorf("%s.%s on %s: %v", kernel.Name(), name, target.Name, err)
				}
			}
		}
	}
}
