package tile_test

import (
	"strings"
	"testing"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// TestString_Golden verifies and prints the five kernels, on a ragged problem and
// with scales where they take any, and the programs of programs_test.go.
func TestString_Golden(t *testing.T) {
	ragged := problem.New(500, 300, 200, tile.BFloat16)
	scaled := problem.New(256, 256, 256, tile.Int8)
	scaled.Quant, scaled.Out = problem.PerTensor, tile.BFloat16
	groups := problem.New(256, 256, 256, tile.Float4E2M1FN)
	groups.Quant, groups.Out = "per_block32+token_block+e8m0", tile.Float32
	for _, k := range kernels.Ladder(problem.MatmulFamily) {
		t.Run(k.Name(), func(t *testing.T) {
			var text strings.Builder
			for _, p := range []problem.Matmul{ragged, scaled, groups} {
				if k.Supports(p) != nil {
					continue
				}
				blocks := k.Candidates(p, problem.Machine{Parallel: 4})[0]
				programs, err := k.Build(p, "", blocks)
				check(t, &text, programs, err)
			}
			goldentest.Assert(t, "testdata/"+k.Name()+".txt", []byte(text.String()))
		})
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			var text strings.Builder
			programs, err := p.build()
			check(t, &text, programs, err)
			goldentest.Assert(t, "testdata/"+p.name+".txt", []byte(text.String()))
		})
	}
}

func check(t *testing.T, text *strings.Builder, programs []*tile.Program, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		text.WriteString(p.String() + "\n")
	}
}
