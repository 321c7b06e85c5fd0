package cpu

import (
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/backend/seeded"
	starts "matladder/kernels/grouped/v3_starts"
	quantized "matladder/kernels/v5_quant"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"
)

// BenchmarkGrouped is the product of 8192 rows in groups, k 1024, in turns with one product
// of as many FLOPs, in the blocks that the machine's model chooses for it. The metric is the
// rate of the groups as a part of that of the one, in the median of pairs.
func BenchmarkGrouped(b *testing.B) {
	be, err := Open(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer be.Close()
	machine := blocking.Of(be.Probe(b.Context()), blocking.Setup{}).Machine
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		for _, c := range []struct{ n, groups int }{{1024, 64}, {2048, 8}} {
			b.Run(fmt.Sprintf("%s/%d", d, c.groups), func(b *testing.B) {
				p := problem.Grouped{Rows: 8192, K: 1024, N: c.n, Groups: c.groups, Dtype: d}
				one := p.Product(p.Rows)
				groups, err := starts.Kernel.Build(p, "", starts.Kernel.Blocks(p, machine)[0])
				if err != nil {
					b.Fatal(err)
				}
				dense, err := quantized.Kernel.Build(one, "", quantized.Kernel.Blocks(one, machine)[0])
				if err != nil {
					b.Fatal(err)
				}
				seconds := inTurns(b, []backend.Executable{fromSeed(b, be, p, groups), fromSeed(b, be, one, dense)})
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(p.FLOPs())/median(seconds[0])/1e9, "GFLOP/s")
				b.ReportMetric(times(seconds[1], seconds[0]), "of-dense")
			})
		}
	}
}

// fromSeed are programs compiled, with their inputs.
func fromSeed(b *testing.B, be *Backend, p problem.Problem, programs []*tile.Program) backend.Executable {
	b.Helper()
	e, err := be.Compile(b.Context(), programs, backend.Params{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	if err := seeded.Of(e, programs, new(seeded.References)).LoadSeeded(b.Context(), backend.InputSpec{Problem: p, Seed: 1, Dist: "uniform"}); err != nil {
		b.Fatal(err)
	}
	return e
}
