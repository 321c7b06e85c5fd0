package aot

import (
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/kernels/sharded"
	toexperts "matladder/kernels/sharded/v6_experts"
	"matladder/machine"
	"matladder/model"
	"matladder/model/modeltest"
	"matladder/problem"
	"matladder/tile"
)

// TestSharded compiles every rung of sharded products, as one of its devices runs it, for
// all generations; in bfloat16 for one, or for all with MATLADDER_TESTS=full.
func TestSharded(t *testing.T) {
	c := open(t, Options{})
	for _, k := range sharded.All {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
			p := problem.Sharded{M: 1024, K: 512, N: 1024, Devices: 4, Dtype: d, Way: problem.Gather}
			switch k.Name {
			case "v1_chip":
				p.Devices = 1
			case "v5_scatter":
				p.Way = problem.Scatter
			}
			programs, err := k.Build(p, "", tile.Blocks{M: 128, K: 256, N: 128})
			if err != nil {
				t.Fatal(err)
			}
			for _, top := range Topologies() {
				if d == tile.BFloat16 && top.Name != "v5e" && !thoroughtest.Full() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", k.Name, d, top.Name), func(t *testing.T) {
					if _, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{}); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// TestSharded_Experts compiles the rung whose devices send each other rows, for all
// generations.
func TestSharded_Experts(t *testing.T) {
	c := open(t, Options{})
	each := problem.Experts{Tokens: 1024, Dim: 512, Experts: 8, Choices: 2, Capacity: 256, Order: problem.TopFirst, Dtype: tile.BFloat16}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		each.Dtype = d
		programs, err := toexperts.Kernel{}.Build(problem.Exchanged{Each: each, N: 1024, Devices: 4}, tile.Blocks{M: 128, N: 256})
		if err != nil {
			t.Fatal(err)
		}
		for _, top := range Topologies() {
			t.Run(fmt.Sprintf("%s/%s", d, top.Name), func(t *testing.T) {
				if _, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// turns are the steps of a product of n×n×n in bfloat16 that one core makes: blocks of a and
// b come in each, one of o leaves behind the last of each sum.
func turns(d machine.Device, n int, s tile.Blocks, cycles float64) []modeltest.Turn {
	memory := d.BandwidthBytesPerSecond.Value
	if d.AttainedBytesPerSecond.Known() {
		memory = d.AttainedBytesPerSecond.Value
	}
	cores := max(1, d.Cores)
	memory /= float64(cores)
	deep := n / s.K
	list := make([]modeltest.Turn, (n/s.M)*(n/s.N)*deep/cores)
	for i := range list {
		list[i] = modeltest.Turn{In: 2 * float64(s.M*s.K+s.K*s.N) / memory, Compute: cycles / d.ClockHertz.Value}
		if i%deep == deep-1 {
			list[i].Out = 2 * float64(s.M*s.N) / memory
		}
	}
	return list
}

// TestSharded_Cycles compares the copies that the first rung starts itself with those of
// Mosaic's pipeline, by cycles of a step once blocks come as fast as they are needed.
func TestSharded_Cycles(t *testing.T) {
	c := open(t, Options{Schedules: true})
	const n = 2048
	s := tile.Blocks{M: 512, K: 512, N: 512}
	five, _ := kernels.Rung(problem.MatmulFamily, 5)
	pipelined, err := five.Build(problem.New(n, n, n, tile.BFloat16), "", s)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := sharded.All[0].Build(problem.Sharded{M: n, K: n, N: n, Devices: 1, Dtype: tile.BFloat16, Way: problem.Gather}, "", s)
	if err != nil {
		t.Fatal(err)
	}
	for _, top := range Topologies() {
		t.Run(top.Name, func(t *testing.T) {
			cycles := func(programs []*tile.Program) float64 {
				work, err := model.WorkOf(programs[0])
				if err != nil {
					t.Fatal(err)
				}
				compiled, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{VMEMBytes: 15 << 20})
				if err != nil {
					t.Fatal(err)
				}
				var shares []float64
				for _, x := range conditions(programs[0], work.Shares) {
					shares = append(shares, x.share)
				}
				s := compiled.Schedules[0]
				for _, r := range s.Conditional() {
					t.Logf("%s: conditional region of %d bundles", s.Kernel, r.Len())
				}
				// Starts of copies are so short that most compilers let them be without a branch.
				shares = shares[max(0, len(shares)-len(s.Conditional())):]
				steady, err := s.Steady(shares...)
				if err != nil {
					t.Fatal(err)
				}
				return steady
			}
			pipeline, own := cycles(pipelined), cycles(copied)
			t.Logf("%s: %.0f cycles a step with own copies, %.0f with the pipeline: %.3f", top.Name, own, pipeline, own/pipeline)
			if own > 1.02*pipeline {
				t.Errorf("%.0f cycles a step with own copies, %.0f with the pipeline", own, pipeline)
			}
			d, err := top.Device()
			if err != nil {
				t.Fatal(err)
			}
			two, three := turns(d, n, s, pipeline), turns(d, n, s, own)
			t.Logf("%s: a step brings blocks for %.0f ns and computes for %.0f ns; %.1f µs with own copies, %.1f µs with two buffers of its own, %.1f µs with the pipeline", top.Name,
				1e9*three[0].In, 1e9*three[0].Compute, 1e6*modeltest.Buffered(three, 3), 1e6*modeltest.Buffered(three, 2), 1e6*modeltest.Buffered(two, 2))
		})
	}
}
