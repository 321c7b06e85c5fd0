package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// block is the side of the blocks of which faults miss a step or hold a stale tile.
const block = 128

// broken is the output of an exact probe while something is done to it.
type broken struct {
	*answers
	rng     *rand.Rand
	out     tile.Tensor
	step    int   // every how many elements of k the program rounds; k if once
	changed []int // elements
	was     []float64
}

// set changes an element, and keeps what it was.
func (b *broken) set(at int, v float64) {
	was := b.out.At(at)
	b.out.Set(at, v)
	b.changed, b.was = append(b.changed, at), append(b.was, was)
}

// undo takes all changes back.
func (b *broken) undo() {
	for i := len(b.was) - 1; i >= 0; i-- {
		b.out.Set(b.changed[i], b.was[i])
	}
	b.changed, b.was = b.changed[:0], b.was[:0]
}

// tile draws a block of the output: its first row and column, and its sides.
func (b *broken) tile() (i, j, rows, cols int) {
	side := func(n int) (int, int) {
		at := b.rng.IntN(tile.Ceil(n, block)) * block
		return at, min(block, n-at)
	}
	i, rows = side(b.p.M)
	j, cols = side(b.p.N)
	return i, j, rows, cols
}

// oneElement changes one element.
func oneElement(f func(b *broken, v float64) float64) func(b *broken) {
	return func(b *broken) {
		at := b.rng.IntN(b.out.Len())
		b.set(at, f(b, b.out.At(at)))
	}
}

// wrongly is how sums are computed anew.
type wrongly struct {
	keep  func(k int) bool             // which terms are added; nil for all
	a, b  func(x float64) float64      // what becomes of elements of A, of B; nil for nothing
	pair  func(x, y float64) float64   // adds the terms of 2k and 2k+1; nil for +
	after func(sum float64) float64    // what becomes of a sum behind a step; nil for what the program does
	final func(sum, o float64) float64 // what becomes of the output o of a sum; nil for nothing
}

// again computes part of the output anew.
func (b *broken) again(i, rows, j, cols int, w wrongly) {
	p := b.p
	a, sums, term := make([][]float64, rows), make([][]float64, rows), make([]float64, cols)
	for r := range rows {
		a[r], sums[r] = make([]float64, p.K), make([]float64, p.N)
		b.rowOfA(a[r], i+r)
	}
	y, first := make([]float64, cols), make([][]float64, rows)
	if w.pair != nil {
		for r := range first {
			first[r] = make([]float64, cols)
		}
	}
	for k := range p.K {
		b.rowOfB(y, k, j)
		for c := range y {
			y[c] *= b.scaleB(k, j+c) * b.groupA(k)
			if w.b != nil {
				y[c] = w.b(y[c])
			}
		}
		for r := range rows {
			x := a[r][k]
			if w.keep != nil && !w.keep(k) {
				x = 0
			}
			if w.a != nil {
				x = w.a(x)
			}
			sum := sums[r][j:][:cols]
			switch {
			case w.pair != nil:
				for c := range y {
					term[c] = x * y[c]
				}
				if k%2 == 0 && k+1 < p.K {
					copy(first[r], term)
					break
				}
				for c := range sum {
					sum[c] += w.pair(first[r][c], term[c])
					first[r][c] = 0
				}
			case x != 0:
				for c := range sum {
					sum[c] += x * y[c]
				}
			}
			if (k+1)%block != 0 && k+1 != p.K {
				continue
			}
			for c := range sum {
				switch {
				case w.after != nil:
					sum[c] = w.after(sum[c])
				case b.step < p.K:
					sum[c] = rounded(p.Out, sum[c])
				}
			}
		}
	}
	for r, sum := range sums {
		exact := append([]float64(nil), sum...)
		b.finish(sum, i+r, 1)
		for c := j; c < j+cols; c++ {
			if w.final != nil {
				sum[c] = w.final(exact[c]*b.scaleA(i+r)*b.scaleOfAll(), sum[c])
			}
			b.set((i+r)*p.N+c, sum[c])
		}
	}
}

// cut clears the last bits of a float32: it rounds toward zero.
func cut(bits uint) func(float64) float64 {
	return func(x float64) float64 {
		f := float32(x)
		if math.Abs(float64(f)) > math.Abs(x) {
			f = math.Nextafter32(f, 0)
		}
		return float64(math.Float32frombits(math.Float32bits(f) >> bits << bits))
	}
}

// without misses a step of k, the first, a middle or the last, in one block or a band.
func without(which int, everywhere bool) func(b *broken) {
	return func(b *broken) {
		steps := tile.Ceil(b.p.K, block)
		step := []int{0, steps / 2, steps - 1}[which]
		i, j, rows, cols := b.tile()
		if everywhere { // some rows: what is found in them is found in all
			j, cols, rows = 0, b.p.N, min(rows, 8)
		}
		b.again(i, rows, j, cols, wrongly{keep: func(k int) bool { return k/block != step }})
	}
}

// faults are what can be wrong with an output, and of which problems; nil for all.
var faults = []struct {
	name string
	of   func(problem.Matmul) bool
	do   func(b *broken)
}{
	{"wrong element", nil, oneElement(func(b *broken, v float64) float64 { return v + 1 + math.Abs(v) })},
	{"zero element", nil, oneElement(func(*broken, float64) float64 { return 0 })},
	{"negated element", nil, oneElement(func(_ *broken, v float64) float64 { return -v })},
	{"element 1 % off", nil, oneElement(func(b *broken, v float64) float64 {
		if b.p.Out.IsInteger() {
			return v + math.Copysign(math.Ceil(math.Abs(v)/100), v)
		}
		return v * 1.01
	})},
	{"two rows swapped", nil, func(b *broken) {
		i := b.rng.IntN(b.p.M)
		o := (i + 1 + b.rng.IntN(b.p.M-1)) % b.p.M
		for j := range b.p.N {
			x, y := b.out.At(i*b.p.N+j), b.out.At(o*b.p.N+j)
			b.set(i*b.p.N+j, y)
			b.set(o*b.p.N+j, x)
		}
	}},
	{"two columns swapped", nil, func(b *broken) {
		j := b.rng.IntN(b.p.N)
		o := (j + 1 + b.rng.IntN(b.p.N-1)) % b.p.N
		for i := range b.p.M {
			x, y := b.out.At(i*b.p.N+j), b.out.At(i*b.p.N+o)
			b.set(i*b.p.N+j, y)
			b.set(i*b.p.N+o, x)
		}
	}},
	{"stale tile", nil, func(b *broken) {
		i, j, rows, cols := b.tile()
		di, dj := block, block // what the tile before it has left
		if b.p.M <= block {    // or, of the only one, the row before
			di, dj = 1, 0
		}
		for r := range rows {
			for c := range cols {
				from := (i+r+di)%b.p.M*b.p.N + (j+c+dj)%b.p.N
				b.set((i+r)*b.p.N+j+c, b.out.At(from))
			}
		}
	}},
	{"first step missing, one tile", nil, without(0, false)},
	{"middle step missing, one tile", nil, without(1, false)},
	{"last step missing, one tile", nil, without(2, false)},
	{"first step missing, all", nil, without(0, true)},
	{"middle step missing, all", nil, without(1, true)},
	{"last step missing, all", nil, without(2, true)},
	{"last element of k missing, one tile", nil, func(b *broken) {
		i, j, rows, cols := b.tile()
		b.again(i, rows, j, cols, wrongly{keep: func(k int) bool { return k != b.p.K-1 }})
	}},
	{"transposed operand", func(p problem.Matmul) bool { return p.M == p.K }, func(b *broken) {
		p, i := b.p, b.rng.IntN(b.p.M)
		a, row, sums := make([]float64, p.K), make([]float64, p.N), make([]float64, p.N)
		for k := range p.K { // row i of a transposed is column i of a
			if b.rowOfA(a, k); a[i] == 0 {
				continue
			}
			b.scaledRowOfB(row, k, 0)
			for j, y := range row {
				sums[j] += a[i] * y
			}
		}
		b.finish(sums, i, 1)
		for j, s := range sums {
			b.set(i*p.N+j, s)
		}
	}},
	{"truncated, not rounded", func(p problem.Matmul) bool { return p.A.IsFloat() && p.Quant == "" || p.Out == tile.BFloat16 }, func(b *broken) {
		i, j, rows, cols := b.tile()
		bits := uint(0)
		if b.p.Out == tile.BFloat16 {
			bits = 16
		}
		if b.step < b.p.K {
			b.again(i, rows, j, cols, wrongly{after: cut(bits)})
			return
		}
		b.again(i, rows, j, cols, wrongly{final: func(sum, _ float64) float64 { return cut(bits)(sum) }})
	}},
	{"accumulator rounded each step", nil, func(b *broken) {
		i, j, rows, cols := b.tile()
		after := cut(16) // to the bits of bfloat16
		if b.step < b.p.K {
			after = cut(19) // which it has
		}
		b.again(i, rows, j, cols, wrongly{after: after})
	}},
	{"operands cut to TF32", inFloat32, cutting(wrongly{a: cut(13), b: cut(13)})},
	{"A alone cut to TF32", inFloat32, cutting(wrongly{a: cut(13)})},
	{"B alone cut to TF32", inFloat32, cutting(wrongly{b: cut(13)})},
	{"pairs saturate at 16 bits", func(p problem.Matmul) bool { return p.A == tile.Int8 }, func(b *broken) {
		i, j, rows, cols := b.tile()
		b.again(i, rows, j, cols, wrongly{pair: func(x, y float64) float64 { return max(-1<<15, min(1<<15-1, x+y)) }})
	}},
}

func inFloat32(p problem.Matmul) bool { return p.A == tile.Float32 && p.Quant == "" }

// cutting computes a block anew.
func cutting(w wrongly) func(b *broken) {
	return func(b *broken) {
		i, j, rows, cols := b.tile()
		b.again(i, rows, j, cols, w)
	}
}

// matrixProblems are of all dtypes, and programs that say how sums are rounded.
func matrixProblems(m, k, n int) (names []string, problems map[string]problem.Matmul, rungs map[string]int) {
	problems, rungs = map[string]problem.Matmul{}, map[string]int{}
	add := func(name string, p problem.Matmul, rung int) {
		names, problems[name], rungs[name] = append(names, name), p, rung
	}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		add(d.String(), problem.New(m, k, n, d), 5)
	}
	add("bfloat16, rounded each step", problem.New(m, k, n, tile.BFloat16), 3)
	add("int8, scaled, to bfloat16", problemtest.New(1, m, k, n, tile.Int8, tile.Int8, tile.BFloat16, "per_tensor+tensor", ""), 5)
	add("float8_e4m3fn, scaled", problemtest.New(1, m, k, n, tile.Float8E4M3FN, tile.Float8E4M3FN, tile.Float32, "per_channel+token", ""), 5)
	add("bfloat16 by int4 in blocks", problemtest.New(1, m, k, n, tile.BFloat16, tile.Int4, tile.BFloat16, "per_block128", ""), 6)
	add("mxfp4", problemtest.New(1, m, k, n, tile.Float4E2M1FN, tile.Float4E2M1FN, tile.Float32, "per_block32+token_block+e8m0", ""), 6)
	return names, problems, rungs
}

// TestFaultMatrix puts each fault into outputs of exact probes, at random: 99 of 100
// must be found, and the output without it must be right. With MATLADDER_TESTS=full it tries
// larger sizes, a hundred times each.
func TestFaultMatrix(t *testing.T) {
	sizes, tries := [][3]int{{128, 128, 128}, {160, 320, 144}, {40, 8192 / thoroughtest.OneIn(1, 4, 4), 24}}, 4
	switch {
	case thoroughtest.Full():
		sizes, tries = [][3]int{{128, 128, 128}, {512, 512, 512}, {2048, 2048, 2048}, {4096, 4096, 4096}, {256, 8192, 256}}, 100
	case thoroughtest.Raced:
		sizes = [][3]int{{40, 300, 72}}
	}
	names, _, _ := matrixProblems(1, 1, 1)
	type cell struct{ found, of int }
	table := make([][][]cell, len(faults)) // by name and size
	for f := range table {
		for range names {
			table[f] = append(table[f], make([]cell, len(sizes)))
		}
	}
	t.Run("all", func(t *testing.T) {
		for s, size := range sizes {
			_, problems, rungs := matrixProblems(size[0], size[1], size[2])
			for n, name := range names {
				p := problems[name]
				t.Run(fmt.Sprintf("%s/%s", name, p.Shape()), func(t *testing.T) {
					t.Parallel()
					tryFaults(t, p, rungs[name], tries, func(f int, found bool) {
						c := &table[f][n][s]
						if c.of++; found {
							c.found++
						}
					})
				})
			}
		}
	})
	var text strings.Builder
	fmt.Fprintf(&text, "| fault | %s |\n| --- |%s\n", strings.Join(names, " | "), strings.Repeat(" ---: |", len(names)))
	for f, fault := range faults {
		fmt.Fprintf(&text, "| %s", fault.name)
		for n, name := range names {
			fewest := -1 // of all sizes
			for s, size := range sizes {
				c := table[f][n][s]
				if c.of == 0 {
					continue
				}
				if fewest < 0 || c.found < fewest {
					fewest = c.found
				}
				if c.found*100 < c.of*99 {
					t.Errorf("%s, %s, %v: %d of %d found", fault.name, name, size, c.found, c.of)
				}
			}
			if text.WriteString(" | "); fewest >= 0 {
				fmt.Fprint(&text, fewest)
			}
		}
		text.WriteString(" |\n")
	}
	if testing.Verbose() {
		fmt.Printf("Found of %d tries, the fewest of %v:\n\n%s", tries, sizes, &text)
	}
}

// tryFaults tries all faults that p may have, in two probes or ten.
func tryFaults(t *testing.T, p problem.Matmul, rung, tries int, tell func(fault int, found bool)) {
	kernel, err := kernels.Find(fmt.Sprint(rung))
	if err != nil {
		t.Fatal(err)
	}
	programs, err := kernel.Build(p, "", tile.Blocks{M: block, K: block, N: block}.Clip(p.M, p.K, p.N))
	if err != nil {
		t.Fatal(err)
	}
	got, want, memory := make([]float64, p.N), make([]float64, p.N), make([]float64, p.N)
	seeds := min(10, tries/2)
	for seed := range uint64(seeds) {
		ref, err := referenceOfMatmul(t.Context(), p, nil, seed, Exact)
		if err != nil {
			t.Fatal(err)
		}
		b := &broken{answers: ref.answers[0], rng: rand.New(rand.NewPCG(seed, uint64(p.K))), step: roundingStep(programs, p)}
		b.out = tile.NewTensor(p.Out, p.M, p.N)
		for i := range p.M {
			b.answer(want, memory, i, b.step, true, 1)
			for j, v := range want {
				b.out.Set(i*p.N+j, v)
			}
		}
		if r, err := ref.Verify(t.Context(), programs, nil, map[string]tile.Tensor{"o": b.out}); err != nil || !r.OK {
			t.Fatalf("a right output: %+v, %v", r, err)
		}
		found := func() bool { // in the rows that were touched: the others are right
			last := -1
			for _, at := range b.changed {
				if row := at / p.N; row != last {
					if last = row; ref.compareAnswer(row, b.step, true, b.out, got, want, memory).count > 0 {
						return true
					}
				}
			}
			return false
		}
		i, j, rows, cols := b.tile()
		if b.again(i, rows, j, cols, wrongly{}); found() {
			t.Fatal("a right tile, computed as the wrong ones are, is called wrong")
		}
		b.undo()
		for n, f := range faults {
			if f.of != nil && !f.of(p) {
				continue
			}
			for range tries / seeds {
				f.do(b)
				tell(n, found())
				b.undo()
			}
		}
	}
}
