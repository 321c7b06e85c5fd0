package workshop

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"matladder/internal/each"
	"matladder/model/traverse"
	"matladder/tile"
	"matladder/tile/interp"
	blank "matladder/workshop/blanks/ex13"
	yours "matladder/workshop/exercises/ex13"
	solved "matladder/workshop/solutions/ex13"
)

var ownKernel = exerciseOf[matching](declares{"Build": {yours.Build, blank.Build, solved.Build}})

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
