package asmgen

import (
	"fmt"
	"slices"
)

// An InPlace is a micro-kernel for few rows of a that reads b where it lies, as
// narrow as it is stored, and goes along its rows tile by tile. Numbers are
// widened in registers, anew for each tile of rows.
type InPlace struct {
	Product
	Name   string // of routine names
	Bits   int    // of an element of b
	KU     int    // rows of b in a step
	shapes []inPlaceShape
	// widen loads vectors of eight columns of a step as words, and hands each vector
	// to use once, of those that follow each other several at a time.
	widen func(a *Asm, s source, vectors int, use func(first int, words ...string))
	// order puts the columns of a row's sums in order where widen does not keep it, and
	// returns the sums in theirs.
	order func(a *Asm, sums []string, temp string) []string
	// scale is the constant that sums are to be multiplied by, if any.
	scale string
	// most is the constant of the greatest code of a number, doubled; the routine
	// returns before the first tile that meets a greater one, and how many it has done.
	// Empty if all codes are numbers; else widen keeps the greatest in temp.
	most string
}

// A source is what widen needs.
type source struct {
	at       func(row, off int) string // memory off bytes along a row of the step
	constant func(name string) string  // an operand
	to       [2]string
	temp     string
}

// An inPlaceShape is a tile: up to so many rows, so many vectors of columns.
type inPlaceShape struct{ rows, vectors int }

// inPlaceShapes are wider the fewer the rows, so that no addition waits for the one
// before it.
var inPlaceShapes = []inPlaceShape{{6, 2}, {4, 2}, {2, 4}, {1, 8}}

// inPlaceHeight is that of panels of a.
const inPlaceHeight = 6

// Registers of an InPlace beside those of a Tile.
const (
	rNear  = rNext
	rTiles = rCols
	rRow0  = "R15" // of b, in this step
	rRow1  = rRow
)

// inPlace starts a function whose name ends in so.
func (a *Asm) inPlace(name string, p Product) {
	a.Func("inPlace"+name+avx2.Suffix, p.summing("ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int")+" (done int)",
		rC, rLDC, rSteps, rA, rB, rLDB, rNear, rRows, rTiles, rAcc)
	a.Op("SHLQ", imm(2), rLDC)
}

// kernel writes the micro-kernel: for each shape a loop over tiles of columns, in
// it one over steps.
func (t InPlace) kernel(a *Asm) {
	a.inPlace(t.Name, t.Product)
	var labels []Label
	for _, s := range t.shapes {
		labels = append(labels, a.NewLabel(fmt.Sprintf("rows%d_", s.rows)))
	}
	for i := len(labels) - 1; i > 0; i-- {
		a.JumpIf(rRows, "JLE", t.shapes[i].rows, labels[i])
	}
	for i, s := range t.shapes {
		a.Place(labels[i])
		t.tiles(a, s.rows, s.vectors)
	}
}

// tiles goes along the rows of b by tiles of one shape.
func (t InPlace) tiles(a *Asm, rows, vectors int) {
	sums := make([][]string, rows)
	for r := range sums {
		sums[r] = avx2.regs(r*vectors, (r+1)*vectors)
	}
	free := avx2.regs(rows*vectors, avx2.Registers)
	words := free[3:4] // the next row's word takes its place
	if vectors > 2 {
		words = free[3 : 3+rows]
	}
	s := t.source(a, free[:3], free[3+len(words):], vectors)

	tile, next, stop := a.NewLabel("tile"), a.NewLabel("next"), a.NewLabel("stop")
	a.Place(tile)
	avx2.zero(a, avx2.regs(0, rows*vectors)...)
	if t.most != "" {
		avx2.zero(a, s.temp)
	}
	a.Op("MOVQ", a.arg("a"), rA)
	a.Op("MOVQ", rB, rRow0)
	const unroll = 2
	a.Unrolled(rSteps, rCount, unroll, func(steps int) {
		for step := range steps {
			t.step(a, s, vectors, step, words, sums)
		}
		a.Op("ADDQ", imm(4*inPlaceHeight*steps), rA)
	})

	if t.most != "" {
		a.Op("VPSUBUSB", t.most+"<>(SB)", s.temp, s.temp)
		a.Op("VPTEST", s.temp, s.temp)
		a.Op("JNZ", string(stop))
	}
	for r := range rows {
		if t.order != nil {
			sums[r] = t.order(a, sums[r], s.temp)
		}
		if t.scale != "" {
			for _, sum := range sums[r] {
				a.Op("VMULPS", s.constant(t.scale), sum, sum)
			}
		}
	}
	storeRows(a, t.Add, sums, next)
	a.Place(next)
	endOfTile(a, vectors*avx2.Lanes, t.Bits, tile, stop)
}

// endOfTile goes on to the next columns, and returns after the last or from stop on.
func endOfTile(a *Asm, columns, bits int, tile, stop Label) {
	a.Op("ADDQ", imm(columns*bits/8), rB)
	a.Op("ADDQ", imm(columns*4), rC)
	a.Op("DECQ", rTiles)
	a.Op("JNZ", string(tile))
	a.Place(stop)
	a.Op("MOVQ", a.arg("tiles"), rCount)
	a.Op("SUBQ", rTiles, rCount)
	a.Op("MOVQ", rCount, a.arg("done"))
	a.Return()
}

// source gives widen three registers for some vectors, and holds as many of its constants as
// there are others: the most used ones, and then more.
func (t InPlace) source(a *Asm, own, others []string, vectors int, more ...string) source {
	s := source{
		to: [2]string{own[0], own[1]}, temp: own[2],
		at: func(row, off int) string { return at([]string{rRow0, rRow1}[row], off) },
	}
	var names []string
	uses := map[string]int{}
	s.constant = func(name string) string {
		if uses[name]++; uses[name] == 1 {
			names = append(names, name)
		}
		return name
	}
	t.widen(NewAsm(""), s, vectors, func(int, ...string) {})
	slices.SortStableFunc(names, func(x, y string) int { return uses[y] - uses[x] })
	names = append(names, more...)
	held := map[string]string{}
	for i, name := range names[:min(len(names), len(others))] {
		held[name] = others[i]
		a.Op("VMOVDQU", name+"<>(SB)", others[i])
	}
	s.constant = func(name string) string {
		if reg, ok := held[name]; ok {
			return reg
		}
		return name + "<>(SB)"
	}
	return s
}

// storeRows writes the sums to c, or adds them to it, and ends at next.
func storeRows(a *Asm, addition string, sums [][]string, next Label) {
	plain := a.NewLabel("store")
	a.Op("MOVQ", rC, rRow)
	a.JumpIf(rAcc, "JEQ", 0, plain)
	for _, add := range []bool{true, false} {
		if !add {
			a.Place(plain)
		}
		for r := range sums {
			if r > 0 {
				a.JumpIf(rRows, "JLE", r, next)
				a.Op("ADDQ", rLDC, rRow)
			}
			for v, sum := range sums[r] {
				off := v * avx2.bytes()
				if add {
					a.Op(addition, at(rRow, off), sum, sum)
				}
				a.Op("VMOVUPS", sum, at(rRow, off))
			}
		}
		if add {
			a.Op("JMP", string(next))
		}
	}
}

// step advances the sums by step number n of a turn.
func (t InPlace) step(a *Asm, s source, vectors, n int, words []string, sums [][]string) {
	const line = 64
	if t.KU > 1 {
		a.Op("LEAQ", indexed(at(rRow0, 0), rLDB, 1), rRow1)
	}
	for u := range t.KU {
		for off := 0; off < vectors*avx2.Lanes*t.Bits/8; off += line {
			a.Op("PREFETCHT0", indexed(s.at(u, off), rNear, 1))
		}
	}
	load := func(r int) { a.Op(t.Broadcast, at(rA, (n*inPlaceHeight+r)*4), words[r%len(words)]) }
	once := len(words) == len(sums)
	if once {
		for r := range sums {
			load(r)
		}
	}
	t.widen(a, s, vectors, func(first int, wide ...string) {
		for r := range sums {
			if !once {
				load(r)
			}
			for i, b := range wide {
				t.multiplyAdd(a, words[r%len(words)], b, sums[r][first+i], func() string { return s.temp })
			}
		}
	})
	a.Op("LEAQ", indexed(at(rRow0, 0), rLDB, t.KU), rRow0)
}
