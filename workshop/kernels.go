package workshop

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"matladder/internal/each"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
	blank1 "matladder/workshop/blanks/ex1"
	blank13 "matladder/workshop/blanks/ex13"
	blank2 "matladder/workshop/blanks/ex2"
	blank6 "matladder/workshop/blanks/ex6"
	blank8 "matladder/workshop/blanks/ex8"
	blank9 "matladder/workshop/blanks/ex9"
	yours1 "matladder/workshop/exercises/ex1"
	yours13 "matladder/workshop/exercises/ex13"
	yours2 "matladder/workshop/exercises/ex2"
	yours6 "matladder/workshop/exercises/ex6"
	yours8 "matladder/workshop/exercises/ex8"
	yours9 "matladder/workshop/exercises/ex9"
	solved1 "matladder/workshop/solutions/ex1"
	solved13 "matladder/workshop/solutions/ex13"
	solved2 "matladder/workshop/solutions/ex2"
	solved6 "matladder/workshop/solutions/ex6"
	solved8 "matladder/workshop/solutions/ex8"
	solved9 "matladder/workshop/solutions/ex9"
)

// The exercises that are one function Build, which writes a kernel.

var fuseActivation = exerciseOf[activation](declares{"Build": {yours1.Build, blank1.Build, solved1.Build}})

type activation struct {
	Build func(problem.Matmul) ([]*tile.Program, error)
}

func (e activation) check(ctx context.Context, r *Report) error {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		p := problem.New(24, 40, 56, d)
		plain, err := counters(ctx, "v1", p, tile.Blocks{M: p.M, K: p.K, N: p.N})
		if err != nil {
			return err
		}
		p.Activation = problem.Relu
		programs, err := e.Build(p)
		t, ok := r.counted(ctx, p, programs, err, fmt.Sprintf("24x40x56, %s", d), "A negative element should have become 0.")
		if !ok {
			return nil
		}
		r.atMost("grid steps", t.GridSteps, plain.GridSteps, whole, "One program is enough.")
		r.atMost("bytes moved", t.BytesMoved(), plain.BytesMoved(), traverse.Bytes, "Without the activation it is that much: with it nothing more need move.")
	}
	return nil
}

var orderLoops = exerciseOf[order](declares{"Build": {yours2.Build, blank2.Build, solved2.Build}})

type order struct{ Build builder }

func (e order) check(ctx context.Context, r *Report) error {
	for _, c := range []struct {
		p problem.Matmul
		s tile.Blocks
	}{
		{problem.New(32, 64, 256, tile.Float32), tile.Blocks{M: 8, K: 64, N: 64}},
		{problem.New(30, 40, 250, tile.Float32), tile.Blocks{M: 8, K: 40, N: 64}},
	} {
		v2, err := counters(ctx, "v2", c.p, c.s)
		if err != nil {
			return err
		}
		programs, err := e.Build(c.p, c.s)
		t, ok := r.counted(ctx, c.p, programs, err, on(c.p, c.s), "Each program is one product of a panel of a and a panel of b.")
		if !ok {
			return nil
		}
		r.atMost("grid steps", t.GridSteps, v2.GridSteps, whole, "v2 has that many.")
		r.atMost("bytes of b moved again", reread(t, "b"), 0, traverse.Bytes, "A panel of b is brought in again whenever j changes and comes back.")
		r.atMost("bytes moved", t.BytesMoved(), v2.BytesMoved()/2, traverse.Bytes, "v2 moves twice the target.")
		r.atMost("fast memory", t.FastBytes, v2.FastBytes, traverse.FastMemory, "v2 takes that much.")
	}
	return nil
}

// reread are the bytes of the array of a name that are moved again.
func reread(t traverse.Totals, name string) int64 {
	var n int64
	for _, ref := range t.Refs {
		if ref.Ref.Name == name {
			n += ref.BytesReread
		}
	}
	return n
}

var scaleChannels = exerciseOf[scaling](declares{"Build": {yours6.Build, blank6.Build, solved6.Build}})

type scaling struct{ Build builder }

func (e scaling) check(ctx context.Context, r *Report) error {
	for _, c := range []struct {
		m, k, n int
		s       tile.Blocks
	}{
		{32, 64, 48, tile.Blocks{M: 16, K: 32, N: 16}},
		{40, 72, 56, tile.Blocks{M: 16, K: 24, N: 16}},
	} {
		p := problem.Matmul{Batch: 1, M: c.m, K: c.k, N: c.n, A: tile.Int8, B: tile.Int8, Acc: tile.Int32, Out: tile.Float32, Quant: "per_channel"}
		v5, err := counters(ctx, "v5", p, c.s)
		if err != nil {
			return err
		}
		programs, err := e.Build(p, c.s)
		t, ok := r.counted(ctx, p, programs, err, on(p, c.s), "Which scale did that column take, and which is its own?")
		if !ok {
			return nil
		}
		r.atMost("grid steps", t.GridSteps, v5.GridSteps, whole, "v5 has that many.")
		r.atMost("bytes moved", t.BytesMoved(), v5.BytesMoved(), traverse.Bytes, "v5 moves that much: of sb only the columns of the block of o.")
		r.atMost("fast memory", t.FastBytes, v5.FastBytes, traverse.FastMemory, "v5 takes that much.")
	}
	return nil
}

var shrinkSums = exerciseOf[online](declares{"Build": {yours8.Build, blank8.Build, solved8.Build}})

type attention = func(problem.Attention, tile.Blocks) ([]*tile.Program, error)

type online struct{ Build attention }

func (e online) check(ctx context.Context, r *Report) error {
	for _, c := range []struct {
		rows, keys int
		s          tile.Blocks
	}{
		{32, 96, tile.Blocks{M: 16, K: 96}},
		{32, 96, tile.Blocks{M: 16, K: 32}},
		{64, 256, tile.Blocks{M: 32, K: 32}},
	} {
		p := problem.Self(c.rows, 16, tile.Float32)
		p.Keys, p.Heads, p.KVHeads = c.keys, 2, 2
		programs, err := e.Build(p, c.s)
		label := fmt.Sprintf("%d rows, %d keys, blocks %dx%d", p.Rows, p.Keys, c.s.M, c.s.K)
		t, ok := r.counted(ctx, p, programs, err, label, "When a block has a larger score than those before, what becomes of what sum and acc hold?")
		if !ok {
			return nil
		}
		v3, err := counters(ctx, "v3_flash", p, c.s)
		if err != nil {
			return err
		}
		r.atMost("grid steps", t.GridSteps, v3.GridSteps, whole, "v3_flash has that many.")
		r.atMost("bytes moved", t.BytesMoved(), v3.BytesMoved(), traverse.Bytes, "v3_flash moves that much.")
		r.atMost("fast memory", t.FastBytes, v3.FastBytes, traverse.FastMemory, "v3_flash takes that much: scores of one block, not of a row.")
	}
	return nil
}

var shareKeys = exerciseOf[decode](declares{"Build": {yours9.Build, blank9.Build, solved9.Build}})

type decode struct{ Build attention }

func (e decode) check(ctx context.Context, r *Report) error {
	for _, c := range []struct{ heads, group, keys, block int }{{2, 1, 64, 32}, {8, 4, 96, 32}, {12, 6, 128, 64}} {
		p := problem.Self(1, 16, tile.Float32)
		p.Keys, p.Heads, p.KVHeads = c.keys, c.heads, c.heads/c.group
		programs, err := e.Build(p, tile.Blocks{M: 1, K: c.block})
		label := fmt.Sprintf("%d heads, %d of which share %d keys", c.heads, c.group, c.keys)
		t, ok := r.counted(ctx, p, programs, err, label, "Which keys are those of the heads that a program takes?")
		if !ok {
			return nil
		}
		r.atMost("bytes moved", t.BytesMoved(), p.Bytes(), traverse.Bytes, "Each array once is that much.")
	}
	return nil
}

var ownKernel = exerciseOf[matching](declares{"Build": {yours13.Build, blank13.Build, solved13.Build}})

type matching struct {
	Build func(m, k, n int, s tile.Blocks) ([]*tile.Program, error)
}

func (e matching) check(ctx context.Context, r *Report) error {
	for _, c := range []struct {
		m, k, n, low int // low is the least number in b
		s            tile.Blocks
		hint         string
	}{
		{32, 16, 32, -4, tile.Blocks{M: 16, N: 32}, "A row of a is multiplied by rows of b, not by columns."},
		{40, 24, 128, -4, tile.Blocks{M: 16, N: 32}, "The best text may be in any block."},
		{16, 8, 64, -9, tile.Blocks{M: 8, N: 16}, "Here nothing matches well: the best is below 0."},
	} {
		programs, err := e.Build(c.m, c.k, c.n, c.s)
		if !r.built(programs, err) {
			return nil
		}
		label := fmt.Sprintf("%d queries, %d texts of %d, blocks of %d and %d", c.m, c.n, c.k, c.s.M, c.s.N)
		if err := matched(ctx, programs, c.m, c.k, c.n, c.low); !r.expect(err == nil, "result right on "+label, fmt.Sprintf("result wrong on %s: %v. %s", label, err, c.hint)) {
			return nil
		}
		if t, ok := r.totals(ctx, programs); ok {
			r.atMost("bytes moved", t.BytesMoved(), 4*int64(c.m*c.k+tile.Ceil(c.m, c.s.M)*c.n*c.k+c.m), traverse.Bytes, "Matches stay in fast memory, and a block of a stays while texts go by.")
			r.atMost("fast memory", t.FastBytes, 4*int64(2*(c.s.M*c.k+c.s.N*c.k+c.s.M)+c.s.M*c.s.N+2*c.s.M), traverse.FastMemory, "That is two blocks of a, b and o each, one of matches, and two columns.")
		}
	}
	return nil
}

// matched compares what programs make of whole numbers, whose sums are exact, with Go's loops.
func matched(ctx context.Context, programs []*tile.Program, m, k, n, low int) error {
	bound, err := tile.Bind(programs)
	if err != nil {
		return err
	}
	draw := rand.New(rand.NewPCG(seed, 0))
	arrays := map[string]tile.Tensor{"a": tile.NewTensor(tile.Float32, m, k), "b": tile.NewTensor(tile.Float32, n, k)}
	a, b := arrays["a"].Float32s(), arrays["b"].Float32s()
	for i := range a {
		a[i] = float32(draw.IntN(9))
	}
	for i := range b {
		b[i] = float32(low + draw.IntN(9))
	}
	out, err := interp.RunWith(ctx, programs, each.Of(bound.In, func(r *tile.Ref) tile.Tensor { return arrays[r.Name] }), interp.Options{Shuffle: seed})
	if err != nil {
		return err
	}
	if len(out) != 1 || out[0].Dtype != tile.Float32 || !slices.Equal(out[0].Shape, []int{m, 1}) {
		return fmt.Errorf("want one output, o of float32[%d, 1]", m)
	}
	for i, got := range out[0].Float32s() {
		best := float32(math.Inf(-1))
		for j := range n {
			sum := float32(0)
			for l := range k {
				sum += a[i*k+l] * b[j*k+l]
			}
			best = max(best, sum)
		}
		if got != best {
			return fmt.Errorf("o[%d] is %v, should be %v", i, got, best)
		}
	}
	return nil
}
