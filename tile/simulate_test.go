package tile_test

import (
	"math/rand/v2"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/tile"
)

// simulated is a random program with one output and one scratch ref, small
// enough to follow block by block.
type simulated struct {
	*rand.Rand
	axes      []*tile.Axis
	o, s      *tile.Ref
	fill, put tile.Cond // when o and s are filled, and o is written
	sum       bool      // whether o is accumulated or stored
}

func (w *simulated) index() tile.IndexExpr {
	x := tile.IndexExpr(w.axes[w.IntN(len(w.axes))])
	switch w.IntN(10) {
	case 0:
		return zero
	case 1:
		return tile.FloorDiv(x, 2)
	case 2:
		return tile.Mod(x, 2)
	case 3:
		y := w.axes[w.IntN(len(w.axes))]
		return tile.Plus(tile.Times(x, y.Size), y)
	case 4:
		return tile.Plus(x, tile.Const(w.IntN(3)-1))
	}
	return x
}

func (w *simulated) cond() tile.Cond {
	a := w.axes[w.IntN(len(w.axes))]
	last := w.axes[len(w.axes)-1]
	switch w.IntN(8) {
	case 0:
		return tile.All()
	case 1:
		return a.First()
	case 2:
		return a.Last()
	case 3:
		return tile.All(a.First(), last.First())
	case 4:
		return tile.Test(w.index(), tile.Comparison(w.IntN(6)), tile.Const(w.IntN(3)))
	case 5:
		return tile.Not(tile.Test(last, tile.NE, zero))
	}
	return last.First()
}

func (w *simulated) build() (*tile.Program, error) {
	b := tile.New("simulated")
	for n := range w.IntN(3) + 1 {
		semantics := []tile.Semantics{tile.Parallel, tile.Arbitrary, tile.Arbitrary}[w.IntN(3)]
		w.axes = append(w.axes, b.Axis([]string{"i", "j", "k"}[n], w.IntN(4)+1, semantics))
	}
	rank := w.IntN(2) + 1
	index, array, block := make([]tile.IndexExpr, rank), make([]int, rank), make([]int, rank)
	for d := range index {
		index[d], block[d], array[d] = w.index(), 1, 1
		w.grid(func(at ids) bool {
			array[d] = max(array[d], tile.Eval(index[d], at)+1)
			return true
		})
		if w.IntN(8) == 0 {
			array[d] = max(1, array[d]+w.IntN(3)-1)
		}
	}
	w.o = b.Out("o", tile.Float32, array, tile.Block(block...).At(index...))
	w.s = b.Scratch("s", tile.Float32, block...)
	w.fill, w.put, w.sum = w.cond(), w.cond(), w.IntN(2) == 0
	b.When(w.fill, func() {
		b.Fill(w.s, 0)
		if w.sum {
			b.Fill(w.o, 0)
		}
	})
	b.Accumulate(w.s, tile.Number(1))
	if w.sum {
		b.Accumulate(w.o, tile.Number(1))
	} else {
		b.When(w.put, func() { b.Store(w.o, w.s) })
	}
	programs, err := b.Programs()
	if err != nil {
		return nil, err
	}
	return programs[0], nil
}

// grid calls f for each program, in order, until it returns false.
func (w *simulated) grid(f func(ids) bool) {
	var walk func(at ids, rest []*tile.Axis) bool
	walk = func(at ids, rest []*tile.Axis) bool {
		if len(rest) == 0 {
			return f(at)
		}
		for n := range rest[0].Size {
			at[rest[0].Name] = n
			if !walk(at, rest[1:]) {
				return false
			}
		}
		return true
	}
	walk(ids{}, w.axes)
}

// wrong follows the grid and returns what goes wrong, or "".
func (w *simulated) wrong() string {
	type visit struct{ place, step int }
	seen := map[[2]int]visit{}
	written := map[[2]int]bool{}
	filledO, filledS, step, why := false, false, 0, ""
	previous, previousPlace := [2]int{-1}, -1
	w.grid(func(at ids) bool {
		step++
		var block [2]int
		for d, x := range w.o.Index {
			if block[d] = tile.Eval(x, at); block[d] < 0 || block[d] >= w.o.Array[d] {
				why = "out of range"
				return false
			}
		}
		place := 0
		for _, a := range w.axes {
			if a.Semantics == tile.Parallel {
				place = place*a.Size + at[a.Name]
			}
		}
		if v, ok := seen[block]; ok && v.place != place {
			why = "written by two parallel programs"
			return false
		} else if ok && v.step != step-1 {
			why = "left and seen again"
			return false
		}
		seen[block] = visit{place, step}
		filledO = filledO && block == previous
		filledS = filledS && place == previousPlace // another worker's scratch
		previous, previousPlace = block, place
		if tile.EvalCond(w.fill, at) {
			filledO, filledS = true, true
		}
		if !filledS || w.sum && !filledO {
			why = "read before filled"
			return false
		}
		if w.sum || tile.EvalCond(w.put, at) {
			written[block] = true
		}
		return true
	})
	if why == "" && len(written) < int(tile.Elements(w.o.Array)) {
		why = "never written"
	}
	return why
}

// TestVerify_Simulated follows random small grids block by block: what goes wrong
// there Verify refuses, and it refuses little else.
func TestVerify_Simulated(t *testing.T) {
	n := 20000 / thoroughtest.OneIn(1, 5, 5)
	counts, strict := map[string]int{}, 0
	for seed := range uint64(n) {
		w := &simulated{Rand: rand.New(rand.NewPCG(seed, 14))}
		p, err := w.build()
		why := w.wrong()
		counts[why]++
		switch {
		case why != "" && err == nil:
			t.Fatalf("seed %d: %s, but accepted:\n%s", seed, why, p)
		case why == "" && err != nil:
			strict++
			if testing.Verbose() && strict < 30 {
				t.Logf("seed %d: refused though nothing goes wrong: %v", seed, err)
			}
		}
	}
	t.Logf("%v; %d refused though nothing goes wrong", counts, strict)
	if strict*20 > counts[""] {
		t.Errorf("%d of %d right programs are refused", strict, counts[""])
	}
	for _, why := range []string{"", "out of range", "written by two parallel programs", "left and seen again", "read before filled", "never written"} {
		if counts[why] < n/200 {
			t.Errorf("only %d programs with outcome %q: the generator misses it", counts[why], why)
		}
	}
}
