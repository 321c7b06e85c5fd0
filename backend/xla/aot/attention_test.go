package aot

import (
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/internal/thoroughtest"
	"matladder/kernels/attention/attentiontest"
	"matladder/problem"
	"matladder/tile"
)

// TestAttention_Pages compiles decoding from pages, and chunks of rows over them, for all
// generations.
func TestAttention_Pages(t *testing.T) {
	c := open(t, Options{})
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		p := problem.Attention{Batch: 4, Heads: 32, KVHeads: 8, Rows: 1, Keys: 8192, Dim: 128, ValueDim: 128, Dtype: d, Lengths: true, PageSize: 256, Pages: 200}
		chunk := p
		chunk.Rows, chunk.Causal, chunk.AtEnd = 512, true, true
		for _, asked := range []struct {
			p    problem.Attention
			rung int
		}{{p, 5}, {chunk, 4}} {
			k := attentiontest.Rungs()[asked.rung-1]
			programs, err := k.Build(asked.p, "", k.Candidates(asked.p, problem.Machine{})[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, top := range Topologies() {
				t.Run(fmt.Sprintf("%s/%s/%s", k.Name(), d, top.Name), func(t *testing.T) {
					if _, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{}); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// TestAttention_Rope compiles rungs that turn q and k, or q alone, in both forms and in part:
// prompts, and decoding, for one generation; for all with MATLADDER_TESTS=full.
func TestAttention_Rope(t *testing.T) {
	c, f, run := open(t, Options{}), problem.AttentionFamily, thoroughtest.Choose(1, 7, 7)
	for _, words := range []string{
		"bfloat16:causal+rope", "float32:causal+rope", "bfloat16:causal+rope+interleaved", "bfloat16:causal+rope+rotary64",
		"float32:causal+end+lengths+rope", "bfloat16:causal+end+lengths+rope+pages256", "bfloat16:ropeq+llama3",
	} {
		asked, err := f.Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range attentiontest.Rungs() {
			sizes := problem.Sizes{512, 1024, 8, 4, 128, 2}
			if k.Number() == 5 {
				sizes[0] = 1
			}
			p := f.Make(sizes, asked)
			if k.Supports(p) != nil {
				continue
			}
			programs, err := k.Build(p, "", problem.Clip(p, tile.Blocks{M: 128, K: 256}))
			if err != nil {
				t.Fatal(err)
			}
			for _, top := range Topologies() {
				if top.Name != "v5e" && !thoroughtest.Full() || !run() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", words, k.Name(), top.Name), func(t *testing.T) {
					if _, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{}); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// TestAttention compiles every rung of attention for one generation; for all with
// MATLADDER_TESTS=full.
func TestAttention(t *testing.T) {
	c, run := open(t, Options{}), thoroughtest.Choose(1, 5, 5)
	gqa := problem.Self(1024, 128, tile.BFloat16)
	gqa.Heads, gqa.KVHeads, gqa.Causal = 8, 2, true
	ragged := problem.Self(1000, 80, tile.Float32)
	ragged.Heads, ragged.KVHeads, ragged.Causal, ragged.AtEnd, ragged.Keys = 4, 4, true, true, 1200
	ragged.Window, ragged.Left, ragged.Right = true, 300, -1
	everything := problem.Self(512, 128, tile.BFloat16)
	everything.Batch, everything.Heads, everything.KVHeads, everything.ValueDim, everything.Dim = 2, 4, 2, 128, 192
	everything.Causal, everything.SoftCap, everything.Bias, everything.Sinks, everything.Segments, everything.Lengths, everything.LogSums = true, 30, true, true, true, true, true
	for i, p := range []problem.Attention{gqa, ragged, everything} {
		name := []string{"gqa", "ragged", "everything"}[i]
		for _, k := range attentiontest.Rungs() {
			p := p
			if k.Number() == 5 {
				p.Rows = 1 // what it is for; a row of many is less than TPUs bring in
			}
			b := problem.Clip(p, tile.Blocks{M: 128, K: 256})
			programs, err := k.Build(p, "", b)
			if err != nil {
				t.Fatal(err)
			}
			for _, top := range Topologies() {
				if top.Name != "v5e" && !thoroughtest.Full() || !run() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", name, k.Name(), top.Name), func(t *testing.T) {
					if _, err := c.CompileKernels(t.Context(), top.Name, programs, backend.Params{}); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// TestPredictBaseline_SharedHeads: XLA's own attention of heads that share k and v is
// predicted, and takes about as long as of as many that have their own, full and causal: for
// heads that stand above each other in one product it lays out scores or masks anew, which
// takes up to four times as long, or a time that is not known. For one generation; for all
// with MATLADDER_TESTS=full.
func TestPredictBaseline_SharedHeads(t *testing.T) {
	b := openBackend(t, "v6e", t.TempDir())
	for _, top := range Topologies() {
		if top.Name != "v6e" && !thoroughtest.Full() {
			continue
		}
		if err := b.aim(top.Name); err != nil {
			t.Fatal(err)
		}
		for _, causal := range []bool{false, true} {
			if causal && !thoroughtest.All() {
				continue
			}
			p := problem.Self(2048, 64, tile.BFloat16)
			p.Heads, p.KVHeads, p.Causal = 8, 8, causal
			own, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: p})
			if err != nil {
				t.Fatal(err)
			}
			p.KVHeads = 2
			shared, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: p})
			if err != nil || shared.Elapsed > own.Elapsed*7/4 {
				t.Errorf("%s, causal %v: %v with heads that share k and v (%v), %v with their own", top.Name, causal, shared.Elapsed, err, own.Elapsed)
			}
		}
	}
}
