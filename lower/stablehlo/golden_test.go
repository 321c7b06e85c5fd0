package stablehlo_test

import (
	"errors"
	"strings"
	"testing"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/lower/stablehlo"
	"matladder/problem"
	"matladder/tile"
)

// matmul is a problem of one shape, changed by edits.
func matmul(d tile.Dtype, edits ...func(*problem.Matmul)) problem.Matmul {
	p := problem.New(37, 29, 43, d)
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func TestBaseline_Golden(t *testing.T) {
	quantized := func(p *problem.Matmul) { p.Quant, p.Out = problem.PerTensor, tile.BFloat16 }
	batchedTransB := func(p *problem.Matmul) { p.Batch, p.TransB = 3, true }
	for name, p := range map[string]problem.Matmul{
		"float32":         matmul(tile.Float32),
		"float32_highest": matmul(tile.Float32, func(p *problem.Matmul) { p.Precision = tile.Highest }),
		"bfloat16":        matmul(tile.BFloat16),
		"int8":            matmul(tile.Int8),
		"int8_quantized":  matmul(tile.Int8, quantized, batchedTransB, func(p *problem.Matmul) { p.Activation = problem.Gelu }),
		"float8_mixed":    matmul(tile.Float8E4M3FN, func(p *problem.Matmul) { p.B, p.Activation = tile.Float8E5M2, problem.Silu }),
		"int4_saturated":  matmul(tile.Int4, func(p *problem.Matmul) { p.Out, p.Activation = tile.Int8, problem.Relu }),
	} {
		t.Run(name, func(t *testing.T) {
			l, err := stablehlo.Baseline(p)
			if err != nil {
				t.Fatal(err)
			}
			goldentest.Assert(t, "testdata/baseline_"+name+".mlir", []byte(l.Once()))
		})
	}
}

// TestExchanged_Golden is the program of tokens to experts and back, and what is refused.
func TestExchanged_Golden(t *testing.T) {
	p := problem.Exchanged{Each: problem.Experts{Tokens: 11, Dim: 24, Experts: 8, Choices: 2, Capacity: 5, Order: problem.TopFirst, Dtype: tile.BFloat16}, N: 20, Devices: 4}
	s, err := stablehlo.Exchanged(p)
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Assert(t, "testdata/exchanged.mlir", []byte(s.Module))
	for want, change := range map[string]func(*problem.Exchanged){
		"8 experts: 3 devices cannot have equal shares": func(p *problem.Exchanged) { p.Devices = 3 },
		"experts without a capacity":                    func(p *problem.Exchanged) { p.Each.Capacity = 0 },
		"a dimension does not fit 32 bits":              func(p *problem.Exchanged) { p.Each.Capacity, p.Each.Dim = 1<<27, 1 },
	} {
		p := p
		change(&p)
		if _, err := stablehlo.Exchanged(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestLoop_Golden(t *testing.T) {
	l, err := stablehlo.Baseline(matmul(tile.BFloat16))
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Assert(t, "testdata/loop_1_set.mlir", []byte(l.Loop()))
	goldentest.Assert(t, "testdata/loop_together_4_sets.mlir", []byte(l.LoopTogether(8, 4)))
	goldentest.Assert(t, "testdata/chain.mlir", []byte(l.Chain()))
}

func TestInterpret_Golden(t *testing.T) {
	quantized := matmul(tile.Int8, func(p *problem.Matmul) { p.Quant, p.Out = problem.PerTensor, tile.BFloat16 })
	for _, c := range []struct {
		kernel int
		p      problem.Matmul
		b      tile.Blocks
	}{
		{1, matmul(tile.Float32), tile.Blocks{M: 37, K: 29, N: 43}},
		{3, matmul(tile.BFloat16), tile.Blocks{M: 16, K: 8, N: 16}},
		{5, quantized, tile.Blocks{M: 37, K: 16, N: 8}},
	} {
		k := kernels.All[c.kernel-1]
		t.Run(k.Name(), func(t *testing.T) {
			programs, err := k.Build(c.p, "", c.b)
			if err != nil {
				t.Fatal(err)
			}
			goldentest.Assert(t, "testdata/interpret_"+k.Name()+".mlir", []byte(interpret(t, programs)))
		})
	}
	t.Run("slices", func(t *testing.T) {
		goldentest.Assert(t, "testdata/interpret_slices.mlir", []byte(interpret(t, sliced(t))))
	})
}

func interpret(t *testing.T, programs []*tile.Program) string {
	t.Helper()
	l, err := stablehlo.Interpret(programs)
	if err != nil {
		t.Fatal(err)
	}
	return l.Once()
}

// sliced uses what no rung does: a scalar table, squeezed dimensions, a loop
// over slices, a reduction, float8 memory and conditions of several parts.
func sliced(t *testing.T) []*tile.Program {
	const m, k, n, bm, bk, bn = 10, 12, 6, 4, 8, 4
	b := tile.New("slices")
	i := b.Axis("i", tile.Ceil(m, bm), tile.Parallel)
	j := b.Axis("j", tile.Ceil(n, bn), tile.Parallel)
	kk := b.Axis("k", tile.Ceil(k, bk), tile.Arbitrary)
	expert := b.Table("expert", tile.Ceil(m, bm))
	x := b.In("x", tile.BFloat16, tile.Array(m, k), tile.Block(bm, bk).At(i, kk))
	w := b.In("w", tile.Int4, tile.Array(3, k, n), tile.Block(tile.Squeezed, bk, bn).At(expert.At(i), kk, j))
	o := b.Out("o", tile.Float8E4M3FN, tile.Array(m, n), tile.Block(bm, bn).At(i, j))
	acc := b.Scratch("acc", tile.Float32, bm, bn)

	b.When(kk.First(), func() { b.Fill(acc, 0) })
	b.Loop("s", 2, func(s *tile.Axis) {
		from := tile.Times(s, bk/2)
		part := tile.Cast(tile.Slice(w, 0, from, bk/2), tile.BFloat16)
		b.Accumulate(acc, tile.Dot(tile.Slice(x, 1, from, bk/2), part))
	})
	b.When(tile.All(kk.Last(), tile.Not(tile.Test(tile.FloorDiv(expert.At(i), 4), tile.GT, tile.Const(0)))), func() {
		rows := tile.RowMax(tile.Select(tile.InBounds(o, 1), acc, tile.Number(-1)))
		b.Store(o, tile.Cast(tile.Gelu(tile.Sub(acc, rows)), tile.Float8E4M3FN))
	})
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

func TestErrors(t *testing.T) {
	big := matmul(tile.Int8)
	big.M = 1 << 31
	huge := tile.New("huge")
	i, j := huge.Axis("i", 1<<16, tile.Parallel), huge.Axis("j", 1<<16, tile.Parallel)
	huge.Fill(huge.Out("o", tile.Int8, tile.Array(1<<16, 1<<16), tile.Block(1, 1).At(i, j)), 0)
	programs, err := huge.Programs()
	if err != nil {
		t.Fatal(err)
	}
	baseline := func(p problem.Matmul) func() error {
		return func() error { _, err := stablehlo.Baseline(p); return err }
	}
	for want, f := range map[string]func() error{
		"a: a dimension does not fit 32 bits":             baseline(big),
		"zero points are folded by kernels only":          baseline(matmul(tile.Int8, func(p *problem.Matmul) { p.Quant, p.Out = "per_channel+token+zero_a", tile.BFloat16 })),
		"k = 29 is no whole number of groups":             baseline(matmul(tile.Int8, func(p *problem.Matmul) { p.Quant, p.Out = "per_block32", tile.BFloat16 })),
		"huge: grid: 4294967296 steps do not fit 32 bits": func() error { _, err := stablehlo.Interpret(programs); return err },
	} {
		var unsupported *stablehlo.UnsupportedError
		if err := f(); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	for what, p := range map[string]problem.Matmul{
		"without sizes": {}, "gelu of int32": matmul(tile.Int8, func(p *problem.Matmul) { p.Activation = problem.Gelu }),
		"unknown quantization": matmul(tile.Int8, func(p *problem.Matmul) { p.Quant = "per_row" }),
		"unknown activation":   matmul(tile.Float32, func(p *problem.Matmul) { p.Activation = "tan" }),
	} {
		if _, err := stablehlo.Baseline(p); err == nil {
			t.Errorf("a problem that makes no sense passed: %s", what)
		}
	}
}
