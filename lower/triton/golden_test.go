package triton_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/lower/internal/lowertest"
	"matladder/lower/triton"
	"matladder/problem"
	"matladder/tile"
)

func TestGolden(t *testing.T) {
	for name, p := range lowertest.Products() {
		for _, kernel := range kernels.Ladder(problem.MatmulFamily) {
			if kernel.Number() < 3 || kernel.Supports(p) != nil || kernel.Number() < 5 && (name == "float32_highest" || name == "ragged") {
				continue
			}
			programs, err := kernel.Build(p, "", tile.Blocks{M: 128, K: 64, N: 128})
			if err != nil {
				t.Fatal(err)
			}
			launch, err := triton.Lower(programs, triton.Options{})
			if err != nil {
				t.Fatal(err)
			}
			goldentest.Assert(t, filepath.Join("testdata", fmt.Sprintf("%s.%s.mlir", kernel.Name(), name)), []byte(launch.Kernels[0].Body))
		}
	}
}
