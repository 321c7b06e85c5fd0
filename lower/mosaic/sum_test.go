package mosaic_test

import (
	"slices"
	"strings"
	"testing"

	"matladder/check"
	pair "matladder/kernels/mlp/v2_pair"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestLargeSum: of a large block the last product is written with what ends its sum, in a
// region of its own, which computes the same; of smaller ones, of ragged ones and of those
// that would make the compiler's work much longer it is not.
func TestLargeSum(t *testing.T) {
	for _, c := range []struct {
		m, k, n int
		blocks  tile.Blocks
		want    int // products in the text
		shares  []float64
	}{
		{528, 32, 512, tile.Blocks{M: 528, K: 8, N: 512}, 2, []float64{0.25, 0.25, 0.75}},
		{512, 32, 512, tile.Blocks{M: 512, K: 8, N: 512}, 1, []float64{0.25}},
		{600, 30, 512, tile.Blocks{M: 600, K: 8, N: 512}, 2, []float64{0.25, 0.25}}, // plain and masked
		{2048, 4096, 1024, tile.Blocks{M: 2048, K: 1024, N: 1024}, 1, []float64{0.25}},
	} {
		p := problem.New(c.m, c.k, c.n, tile.Float32)
		programs, err := problemtest.Kernel(p).Build(p, "", c.blocks)
		if err != nil {
			t.Fatal(err)
		}
		l, err := mosaic.Lower(programs, mosaic.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(l.Kernels[0].Body, "tpu.matmul\""); got != c.want {
			t.Errorf("%v: %d products, want %d:\n%s", c.blocks, got, c.want, l.Kernels[0].Body)
		}
		if shares := mosaic.Conditional(programs[0].Body, []float64{0.25, 0.25}); !slices.Equal(shares, c.shares) {
			t.Errorf("%v: shares %v, want %v", c.blocks, shares, c.shares)
		}
		if c.m > 600 {
			continue
		}
		in, err := check.Inputs(t.Context(), p, programs, 5, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := check.Verify(t.Context(), p, programs, in, runText(t, programs, in)["o"]); err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestPieces: a product of int8 is written in pieces of k where that is asked for, which
// computes the same; one of other dtypes and one into a large sum is not, and none where k is
// no more than a piece.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		dtype  tile.Dtype
		blocks tile.Blocks
		want   int // products in the text
	}{
		{tile.Int8, tile.Blocks{M: 64, K: 320, N: 128}, 3},
		{tile.Int8, tile.Blocks{M: 64, K: 128, N: 128}, 1},
		{tile.Int8, tile.Blocks{M: 640, K: 320, N: 512}, 1},
		{tile.BFloat16, tile.Blocks{M: 64, K: 320, N: 128}, 1},
	} {
		p := problem.New(c.blocks.M, c.blocks.K, c.blocks.N, c.dtype)
		programs, err := problemtest.Kernel(p).Build(p, "", c.blocks)
		if err != nil {
			t.Fatal(err)
		}
		options := mosaic.Options{Pieces: 128, Prefetched: "b"}
		l, err := mosaic.Lower(programs, options)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(l.Kernels[0].Body, "tpu.matmul\""); got != c.want {
			t.Errorf("%s %v: %d products, want %d:\n%s", c.dtype, c.blocks, got, c.want, l.Kernels[0].Body)
		}
		// The kernel takes b first; the launch takes its arrays in their order.
		if text := l.Module(); !strings.Contains(text, "(%in1, %in0)") || l.In[0].Name != "a" {
			t.Errorf("b is not the first operand:\n%s", text)
		}
		if tile.Elements([]int{c.blocks.M, c.blocks.N}) > 1<<14 {
			continue
		}
		in, err := check.Inputs(t.Context(), p, programs, 5, check.Uniform)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := check.Verify(t.Context(), p, programs, in, runWith(t, options, programs, in)["o"]); err != nil || !r.OK {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestLargeSum_Pair: of two sums in one step the second alone is written with what ends both:
// what begins the second does not end the first.
func TestLargeSum_Pair(t *testing.T) {
	p := problem.MLP{Rows: 528, K: 1024, N: 512, X: tile.BFloat16, W: tile.BFloat16, Activation: problem.GateSilu}
	programs, err := pair.Kernel.Build(p, "", tile.Blocks{M: 528, K: 512, N: 512})
	if err != nil {
		t.Fatal(err)
	}
	l, err := mosaic.Lower(programs, mosaic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(l.Kernels[0].Body, "tpu.matmul\""); got != 3 {
		t.Errorf("%d products, want the first and twice the second", got)
	}
	if shares := mosaic.Conditional(programs[0].Body, []float64{0.5, 0.5, 0.5}); !slices.Equal(shares, []float64{0.5, 0.5}) {
		t.Errorf("shares %v", shares)
	}
	in, err := check.Inputs(t.Context(), p, programs, 5, check.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := check.Verify(t.Context(), p, programs, in, runText(t, programs, in)["o"]); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}
