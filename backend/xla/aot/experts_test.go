package aot

import (
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/kernels/experts"
	"matladder/kernels/experts/gate"
	"matladder/problem"
	"matladder/tile"
)

// TestExperts compiles the choice of experts, and the way there and back, for all
// generations.
func TestExperts(t *testing.T) {
	c, run := open(t, Options{}), thoroughtest.Choose(1, 11, 11)
	for _, p := range []problem.Experts{
		{Tokens: 1024, Dim: 4096, Experts: 8, Choices: 2, Order: problem.TopFirst, Dtype: tile.BFloat16},
		{Tokens: 300, Dim: 512, Experts: 64, Choices: 6, Capacity: 40, Order: problem.Renormalized, Dtype: tile.Float32},
	} {
		compile := func(what string, programs []*tile.Program, err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, top := range Topologies() {
				if !run() {
					continue
				}
				t.Run(what+"/"+p.String()+"/"+top.Name, func(t *testing.T) {
					if _, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{}); err != nil {
						t.Error(err)
					}
				})
			}
		}
		programs, err := gate.Build(p, 64)
		compile("gate", programs, err)
		for _, k := range experts.All {
			b := tile.Blocks{M: 128, K: 128, N: 256}
			there, err := k.Permute(p, b)
			compile(k.Name()+"/permute", there, err)
			back, err := k.Combine(p, b)
			compile(k.Name()+"/combine", back, err)
		}
	}
}
