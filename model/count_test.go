package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/kernels"
	"matladder/machine"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// TestCount_Formula holds the counts against the textbook: m·k·⌈n/bn⌉ +
// k·n·⌈m/bm⌉ + m·n elements for a grid (i, j, k) with more than one step of k.
func TestCount_Formula(t *testing.T) {
	for _, s := range [][3]int{{1024, 1024, 1024}, {1000, 900, 700}, {129, 257, 131}} {
		p := problem.New(s[0], s[1], s[2], tile.Float32)
		programs, err := kernels.All[2].Build(p, "", tile.Blocks{M: 128, K: 128, N: 128})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Count(programs)
		if err != nil {
			t.Fatal(err)
		}
		m, k, n := int64(p.M), int64(p.K), int64(p.N)
		ni, nk, nj := (m+127)/128, (k+127)/128, (n+127)/128
		want := Counts{
			FLOPs:      p.FLOPs(),
			BytesMin:   p.Bytes(),
			BytesMoved: 4 * (m*k*nj + k*n*ni + m*n),
			FastBytes:  2 * 3 * 128 * 128 * 4,
			GridSteps:  ni * nj * nk,
		}
		if c != want {
			t.Errorf("%s: have %+v, want %+v", p, c, want)
		}
	}
}

// TestCount_Enumerated compares the closed form with a walk over the grid, for
// all kernels on random shapes.
func TestCount_Enumerated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dtypes := []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8}
	for range 300 {
		p := problem.New(1+r.IntN(40), 1+r.IntN(40), 1+r.IntN(40), dtypes[r.IntN(3)])
		for _, k := range kernels.Ladder(problem.MatmulFamily) {
			if k.Supports(p) != nil {
				continue
			}
			b := tile.Blocks{M: 1 + r.IntN(16), K: 1 + r.IntN(16), N: 1 + r.IntN(16)}
			switch k.Number() {
			case 1:
				b = tile.Blocks{M: p.M, K: p.K, N: p.N}
			case 2:
				b.K = p.K
			}
			programs, err := k.Build(p, "", b)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Count(programs)
			if err != nil {
				t.Fatal(err)
			}
			var moved int64
			for _, ref := range programs[0].Refs {
				if ref.Kind == tile.Scratch {
					continue
				}
				walked, err := enumerate(programs[0], ref)
				if err != nil {
					t.Fatal(err)
				}
				moved += walked.bytes
			}
			if c.BytesMoved != moved || c.FLOPs != p.FLOPs() || c.BytesMin != p.Bytes() {
				t.Errorf("%s %s %s: have %+v, walked %d bytes, want %d FLOPs", k.Name(), p, b, c, moved, p.FLOPs())
			}
		}
	}
}

// TestCount_Quantized: scales, zero points and a bias are of the problem's bytes, too.
func TestCount_Quantized(t *testing.T) {
	f := problem.MatmulFamily
	for _, words := range []string{"int8:bfloat16:per_tensor", "int8:bfloat16:per_channel+token:bias", "int8:bfloat16:per_channel+zero_b", "bfloat16xint4:bfloat16:per_block128", "mxfp4", "nvfp4:bias", "bfloat16xmxfp8"} {
		asked, err := f.Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range []int{1, 3} {
			p := f.Make(problem.Sizes{100, 256, 60, batch}, asked).(problem.Matmul)
			programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 64, K: 128, N: 64})
			if err != nil {
				t.Fatal(err)
			}
			c, err := Count(programs)
			if err != nil {
				t.Fatal(err)
			}
			if sums := int64(batch*p.M) * 4; c.BytesMin != p.Bytes() && c.BytesMin != p.Bytes()+sums { // sums of rows of a, which a zero point of b is taken out by
				t.Errorf("%s, batch of %d: %d bytes, the problem has %d", words, batch, c.BytesMin, p.Bytes())
			}
		}
	}
}

// TestCount_Groups has Dots of slices of blocks, a group of k each, where m, k and n
// end inside a block: some slices lie past the end of k.
func TestCount_Groups(t *testing.T) {
	for _, p := range []problem.Matmul{
		{Batch: 3, M: 3, K: 2560, N: 257}, {Batch: 1, M: 300, K: 200, N: 250}, {Batch: 1, M: 512, K: 1024, N: 512},
	} {
		p.A, p.B, p.Acc, p.Out, p.Quant = tile.BFloat16, tile.Int4, tile.Float32, tile.BFloat16, "per_block128"
		for _, b := range []tile.Blocks{{M: 128, K: 128, N: 128}, {M: 256, K: 256, N: 128}, {M: 128, K: 1024, N: 256}} {
			programs, err := problemtest.Kernel(p).Build(p, "", b)
			if err != nil {
				t.Fatal(err)
			}
			if c, err := Count(programs); err != nil || c.FLOPs != p.FLOPs() {
				t.Errorf("%s %s: have %d FLOPs, %v, want %d", p, b, c.FLOPs, err, p.FLOPs())
			}
		}
	}
}

func TestCount_General(t *testing.T) {
	b := tile.New("grouped")
	g := b.Axis("g", 12, tile.Arbitrary)
	a := b.In("a", tile.Float32, tile.Array(8, 16), tile.Block(8, 8).At(tile.Const(0), tile.Mod(g, 2)))
	w := b.In("w", tile.Float32, tile.Array(24, 8), tile.Block(8, 8).At(tile.FloorDiv(g, 4), tile.Const(0)))
	o := b.Out("o", tile.Float32, tile.Array(24, 8), tile.Block(8, 8).At(tile.FloorDiv(g, 4), tile.Const(0)))
	b.When(tile.Test(tile.Mod(g, 4), tile.EQ, tile.Const(0)), func() { b.Fill(o, 0) })
	b.When(tile.Test(tile.Mod(g, 4), tile.NE, tile.Const(3)), func() { b.Accumulate(o, tile.Dot(a, w)) })
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Count(programs)
	if err != nil {
		t.Fatal(err)
	}
	const block = 8 * 8 * 4
	want := Counts{FLOPs: 9 * 2 * 512, BytesMin: 2*block + 3*block + 3*block, BytesMoved: 12*block + 3*block + 3*block, FastBytes: 6 * block, GridSteps: 12}
	if c != want {
		t.Errorf("have %+v, want %+v", c, want)
	}
}

// TestCount_Causal has a Dot under a condition on two axes and on a loop, over
// ragged blocks: only elements inside the arrays of the programs that run it count.
func TestCount_Causal(t *testing.T) {
	const m, k, n, block = 10, 5, 11, 4
	b := tile.New("causal")
	i := b.Axis("i", tile.Ceil(m, block), tile.Parallel)
	j := b.Axis("j", tile.Ceil(n, block), tile.Parallel)
	x := b.In("a", tile.Float32, tile.Array(m, k), tile.Block(block, k).At(i, tile.Const(0)))
	y := b.In("b", tile.Float32, tile.Array(k, n), tile.Block(k, block).At(tile.Const(0), j))
	o := b.Out("o", tile.Float32, tile.Array(m, n), tile.Block(block, block).At(i, j))
	b.Fill(o, 0)
	b.Loop("l", 3, func(l *tile.Axis) {
		b.When(tile.All(tile.Test(j, tile.LE, i), tile.Test(l, tile.LT, tile.Const(2))), func() { b.Accumulate(o, tile.Dot(x, y)) })
	})
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Count(programs)
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	for row := range m {
		for col := range n {
			if col/block <= row/block {
				want += 2 * 2 * k // 2 rounds of the loop
			}
		}
	}
	if c.FLOPs != want {
		t.Errorf("have %d FLOPs, want %d", c.FLOPs, want)
	}
}

func TestCount_Table(t *testing.T) {
	b := tile.New("table")
	i := b.Axis("i", 4, tile.Parallel)
	groups := b.Table("groups", 4)
	w := b.In("w", tile.Float32, tile.Array(16, 8), tile.Block(8, 8).At(groups.At(i), tile.Const(0)))
	o := b.Out("o", tile.Float32, tile.Array(32, 8), tile.Block(8, 8).At(i, tile.Const(0)))
	b.Store(o, w)
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Count(programs); !errors.Is(err, ErrUncountable) {
		t.Errorf("have %v, want %v", err, ErrUncountable)
	}
}

func TestRoofline(t *testing.T) {
	d := machine.Device{
		Peak:                    map[string]machine.Figure{"bfloat16": {Value: 197e12}},
		BandwidthBytesPerSecond: machine.Figure{Value: 819e9},
	}
	for _, test := range []struct {
		c    Counts
		want string
	}{
		{Counts{FLOPs: 100e9, BytesMoved: 1e9}, "81.90 TFLOP/s memory ridge 240.5"},
		{Counts{FLOPs: 1000e9, BytesMoved: 1e9}, "197.00 TFLOP/s compute ridge 240.5"},
	} {
		r, ok := test.c.At(d, "bfloat16", "")
		have := fmt.Sprintf("%.2f TFLOP/s %s ridge %.1f", r.Attainable/1e12, r.Limit, r.Ridge)
		if !ok || have != test.want || math.Abs(r.Seconds*r.Attainable/float64(test.c.FLOPs)-1) > 1e-9 {
			t.Errorf("%+v: have %s (%v), want %s", test.c, have, r, test.want)
		}
	}
	if _, ok := (Counts{}).At(d, "int8", ""); ok {
		t.Error("a roofline without a peak")
	}
}
