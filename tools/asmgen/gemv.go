package asmgen

import (
	"fmt"
	"slices"
)

// A Gemv multiplies rows of a as they lie by few columns of b, each a vector in memory: dot products,
// as many at a time as a vector has lanes. Type gemv of package gemm has the loop. Across, a and b
// have changed sides: few rows of a meet rows of b.
type Gemv struct {
	Vector
	Product
	Bytes   int // of an element, of which words have one or more
	Columns int // at most

	across bool // c is transposed: sums of a column follow each other
}

const (
	// gemvColumn is the bytes from column to column: all in different sets of a cache.
	gemvColumn = 4 * (1024 + 16)

	rGemvLDA  = "BX" // bytes
	rGemvLDA3 = "AX"
	rWhole    = "R9"  // vectors in a row
	rRowsLeft = "CX"  // rows
	rFresh    = "R15" // rows of a turn that no other has done

	gemvTail = "K5" // words behind the whole vectors
	gemvLive = "K6" // sums that a turn stores
	gemvRow  = "K7" // those of one row
)

// gemvBases are where each fourth row of a turn is.
var gemvBases = []string{"R8", "R10", "R13", "R14"}

// gemv writes the micro-kernel: a loop over rows for each number of columns, and one for fewer rows
// than those take at a time.
func (g Gemv) gemv(a *Asm) {
	frame := 0
	if !g.Masks {
		frame = g.bytes()
	}
	name := "gemv"
	if g.across {
		name = "dots"
	}
	a.FuncFrame(name+g.Name+g.Suffix, frame, g.summing("ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, bias *C"),
		rC, rLDC, rA, "", rGemvLDA, rWhole, rRowsLeft, rCount)
	a.Op("SHLQ", imm(2), rLDC)
	a.threefold(rGemvLDA, rGemvLDA3)
	g.prepare(a)
	few := a.NewLabel("few")
	for cols := 1; cols <= g.Columns; cols++ {
		more := a.NewLabel("more")
		if cols < g.Columns {
			a.JumpIf(rCount, "JNE", cols, more)
		}
		a.JumpIf(rRowsLeft, "JLT", g.Lanes/cols, few)
		g.turns(a, g.Lanes/cols, cols)
		a.Place(more)
	}
	a.Place(few)
	g.fewRows(a)
}

// prepare divides the elements of a row into whole vectors and what a mask has.
func (g Gemv) prepare(a *Asm) {
	a.Op("MOVQ", rWhole, rFresh)
	a.Op("ANDQ", imm(g.bytes()/g.Bytes-1), rFresh)
	a.Op("SHRQ", imm(log2(g.bytes()/g.Bytes)), rWhole)
	if g.offset || g.widens() {
		constant := "$0x80808080"
		if g.widens() {
			constant = "$0xffff0000"
		}
		a.Op("MOVL", constant, rNext)
		g.broadcast32(a, rNext, g.flip())
	}
	g.mask(a, rFresh)
	for _, apart := range g.halves() {
		if !g.Masks {
			break
		}
		a.Op("MOVQ", imm(g.lanesWith(apart)), rNext)
		a.Op("KMOVW", rNext, g.upper(apart))
	}
}

// mask sets that of loads to so many first lanes, or elements.
func (g Gemv) mask(a *Asm, lanes string) {
	if !g.Masks {
		g.broadcast32(a, lanes, g.tail())
		a.Op("VPCMPGTD", "columns<>+0(SB)", g.tail(), g.tail())
		return
	}
	a.first("KMOVQ", lanes, rNext, gemvTail)
}

// flip is the register that has 128 in each byte, with which those of a are multiplied, as sums start from
// a bias; or the mask of odd elements where those are widened.
func (g Gemv) flip() string { return g.reg(g.Registers - 1) }

// tail is the register that has the mask where there are no mask registers.
func (g Gemv) tail() string { return g.reg(g.Registers - 1) }

// turns goes through the rows, some at a time. If fewer are left some take a turn again, whose sums
// are not stored.
func (g Gemv) turns(a *Asm, rows, cols int) {
	turn := a.NewLabel("turn")
	if g.Masks {
		a.Op("MOVQ", imm(1<<(rows*cols)-1), rNext)
		a.Op("KMOVW", rNext, gemvLive)
	}
	a.Place(turn)
	a.load("b", rB)
	g.bases(a, rows)
	lines := [][]string{g.sums(a, rows, cols)} // of c, each behind the one before
	if g.across {
		lines = transposed(lines[0], cols)
	}
	sum := g.fold(a, slices.Concat(lines...))
	if g.offset {
		a.load("bias", rNext)
		a.Op(g.Add, at(rNext, 0), sum, sum)
	}
	g.fresh(a, rows)
	if g.across {
		g.store(a, sum, cols, rows)
	} else {
		g.store(a, sum, rows, cols)
	}
	g.next(a, rows, turn, func() {
		if !g.Masks {
			return
		}
		a.EOL("the last sums, of those rows")
		together, times := cols, 1 // sums of a row, and how often they come
		if g.across {
			together, times = 1, 0
			for range cols {
				times = times<<rows | 1
			}
		}
		a.Op("IMUL3Q", imm(-together), rRowsLeft, rCount)
		a.Op("ADDQ", imm(rows*together), rCount)
		a.Op("MOVQ", imm(-1), rNext)
		a.Op("SHLXQ", rCount, rNext, rNext)
		a.Op("ANDQ", imm(1<<(rows*together)-1), rNext)
		a.Op("IMUL3Q", imm(times), rNext, rNext)
		a.Op("KMOVW", rNext, gemvLive)
	})
}

// transposed are the columns of rows of so many.
func transposed(rows []string, cols int) [][]string {
	list := make([][]string, cols)
	for i, x := range rows {
		list[i%cols] = append(list[i%cols], x)
	}
	return list
}

// bases sets them for a turn.
func (g Gemv) bases(a *Asm, rows int) []string {
	a.Op("MOVQ", rA, gemvBases[0])
	n := (rows + 3) / 4
	for i := 1; i < n; i++ {
		a.Op("LEAQ", indexed(at(gemvBases[i-1], 0), rGemvLDA, 4), gemvBases[i])
	}
	return gemvBases[:n]
}

// fresh sets rFresh.
func (g Gemv) fresh(a *Asm, rows int) {
	a.Op("MOVQ", imm(rows), rFresh)
	a.Op("CMPQ", rRowsLeft, rFresh)
	a.Op("CMOVQLT", rRowsLeft, rFresh)
}

// next goes on to the next turn, behind last if it is that of fewer rows, or returns.
func (g Gemv) next(a *Asm, rows int, turn Label, last func()) {
	whole, done := a.NewLabel("whole"), a.NewLabel("done")
	a.Op("SUBQ", rFresh, rRowsLeft)
	a.Op("JEQ", string(done))
	a.JumpIf(rRowsLeft, "JGE", rows, whole)
	a.Op("MOVQ", rRowsLeft, rFresh)
	last()
	a.Place(whole)
	for _, of := range [][2]string{{rGemvLDA, rA}, {rLDC, rC}} {
		if g.across && of[1] == rC {
			a.Op("LEAQ", indexed(at(rC, 0), rFresh, 4), rC)
			continue
		}
		a.Op("MOVQ", rFresh, rCount)
		a.Op("IMULQ", of[0], rCount)
		a.Op("ADDQ", rCount, of[1])
	}
	a.Op("JMP", string(turn))
	a.Place(done)
	a.Return()
}

// sums multiplies some rows by the columns. Those of the first row come first.
func (g Gemv) sums(a *Asm, rows, cols int) []string {
	parts := 1 // of a vector of a
	if g.widens() {
		parts = 2
	}
	sums, b := g.regs(0, rows*cols), g.regs(rows*cols, rows*cols+cols*parts)
	temp := inTurn(g.regs(rows*cols+len(b), min(rows*cols+len(b)+4, g.Registers-1)))
	bases := gemvBases[:(rows+3)/4]
	step := func(masked bool, ask func(row int)) {
		for j := range b {
			g.load(a, at(rB, j/parts*gemvColumn+j%parts*g.bytes()), b[j], masked && parts == 1)
		}
		for i := range rows {
			mem, words := rowOf(bases[i/4], rGemvLDA, rGemvLDA3, i%4, 0), []string(nil)
			ask(i)
			for j, column := range b {
				sum := sums[i*cols+j/parts]
				if masked && g.Masks && g.Bytes == 4 { // such a load would take a port of vectors
					a.Op("VFMADD231PS", mem, column, gemvTail, sum)
					continue
				}
				if j == 0 {
					words = g.words(a, mem, masked, temp)
				}
				if g.offset { // b is signed
					g.multiplyAdd(a, column, words[j%parts], sum, temp)
				} else {
					g.multiplyAdd(a, words[j%parts], column, sum, temp)
				}
			}
		}
	}
	loop := func(asks []string, ask func(row int)) {
		a.CountDown(rCount, func() {
			step(false, ask)
			a.advance(g.bytes()*parts, rB)
			a.advance(g.bytes(), slices.Concat(bases, asks)...)
		})
	}
	rest, done := a.NewLabel("rest"), a.NewLabel("summed")
	for _, sum := range sums {
		a.Op("VPXOR", xmm(sum), xmm(sum), xmm(sum))
	}
	a.Op("MOVQ", rWhole, rCount)
	a.JumpIf(rCount, "JEQ", 0, rest)
	nothing := func(int) {}
	switch asks := gemvBases[len(bases):]; {
	case !g.Masks || rows == 1: // what a step reads of a row is no line, or there is no next turn
		loop(nil, nothing)
	case len(asks) >= len(bases):
		asks = asks[:len(bases)]
		g.asks(a, rows, asks)
		loop(asks, func(row int) { a.Op("PREFETCHT0", rowOf(asks[row/4], rGemvLDA, rGemvLDA3, row%4, 0)) })
	default:
		far := a.NewLabel("far")
		a.JumpIf(rGemvLDA, "JGT", nearL1/rows, far)
		a.EOL("the next turn follows in memory")
		a.Op("LEAQ", indexed(at(bases[len(bases)-1], 0), rGemvLDA, 4), rFresh)
		loop(nil, func(row int) {
			a.Op("PREFETCHT0", at(rFresh, row*g.bytes()))
			if row == rows-1 {
				a.Op("ADDQ", imm(rows*g.bytes()), rFresh)
			}
		})
		a.Op("JMP", string(rest))
		a.Place(far)
		loop(nil, nothing)
	}
	a.Place(rest)
	if g.Masks {
		a.Op("KTESTQ", gemvTail, gemvTail)
	} else {
		a.Op("VPTEST", g.tail(), g.tail())
	}
	a.Op("JEQ", string(done))
	step(true, nothing)
	a.Place(done)
	return sums
}

// nearL1 is how many bytes of a a turn may be ahead of another to ask for, for L1 to hold them all.
const nearL1 = 16 << 10

// asks sets registers to where each fourth row is that steps ask for: of a turn ahead, or where those
// would drive out what L1 holds, of this one.
func (g Gemv) asks(a *Asm, rows int, asks []string) {
	const row, ahead = 4 << 10, 512     // bytes
	const short, doublings = 2 << 10, 2 // of turns that take less time than memory
	near := a.NewLabel("near")
	a.Op("MOVQ", imm(rows), asks[0])
	a.Op("IMULQ", rGemvLDA, asks[0])
	for range doublings {
		long := a.NewLabel("long")
		a.JumpIf(asks[0], "JGT", short, long)
		a.Op("ADDQ", asks[0], asks[0])
		a.Place(long)
	}
	a.Op("ADDQ", rA, asks[0])
	a.JumpIf(rGemvLDA, "JLE", min(row, nearL1/rows), near)
	a.Op("LEAQ", at(rA, ahead), asks[0])
	a.Place(near)
	for i := range asks[1:] {
		a.Op("LEAQ", indexed(at(asks[i], 0), rGemvLDA, 4), asks[i+1])
	}
}

// load brings words to a register, or those behind the whole vectors and zeros.
func (g Gemv) load(a *Asm, mem, reg string, masked bool) {
	switch {
	case !masked:
		a.Op("VMOVUPS", mem, reg)
	case g.Masks:
		a.Op(map[int]string{4: "VMOVUPS.Z", 2: "VMOVDQU16.Z", 1: "VMOVDQU8.Z"}[g.Bytes], mem, gemvTail, reg)
	default:
		a.Op("VMASKMOVPS", mem, g.tail(), reg)
	}
}

// words loads what is multiplied of a vector of a: it, or its even elements and its odd ones, widened.
func (g Gemv) words(a *Asm, mem string, masked bool, temp func() string) []string {
	words := temp()
	switch {
	case g.offset && !masked:
		a.Op("VPXORD", mem, g.flip(), words)
		return []string{words}
	case g.offset:
		g.load(a, mem, words, masked)
		a.Op("VPXORD", words, g.flip(), words)
		return []string{words}
	}
	g.load(a, mem, words, masked)
	if !g.widens() {
		return []string{words}
	}
	even := temp()
	a.Op("VPSLLD", imm(16), words, even)
	a.Op("VPANDD", words, g.flip(), words)
	return []string{even, words}
}

// widens reports whether elements are widened to words.
func (g Gemv) widens() bool { return g.Bytes == 2 && g.Name != bfloat16s.Name }

// halves are how far apart lanes are that fold adds, in the order in which it does.
func (g Gemv) halves() []int {
	if g.Masks {
		return []int{8, 2, 4, 1}
	}
	return []int{4, 2, 1}
}

// lanesWith is a mask of the lanes that have a bit in their numbers.
func (g Gemv) lanesWith(bit int) int {
	lanes := 0
	for i := range g.Lanes {
		lanes |= (i & bit) / bit << i
	}
	return lanes
}

// upper is the register that has it.
func (g Gemv) upper(apart int) string { return fmt.Sprintf("K%d", 1+log2(apart)) }

// fold adds up the lanes of each sum, to the lane that has its number. Two vectors become one at a
// time: it takes half of the lanes of each, and adds the others to them.
func (g Gemv) fold(a *Asm, sums []string) string {
	u, done := g.reg(len(sums)+1), 0
	for _, apart := range g.halves() {
		done |= apart
		for i, x := range sums {
			if i&done > 0 {
				continue
			}
			y := x
			if i+apart < len(sums) {
				y = sums[i+apart]
			}
			t := g.blend(a, apart, x, y, g.reg(len(sums)))
			switch {
			case apart == 8:
				a.Op("VSHUFF32X4", imm(0x4e), y, x, u)
			case apart == 2:
				a.Op("VSHUFPS", imm(0x4e), y, x, u)
			case apart == 4 && !g.Masks:
				a.Op("VPERM2F128", imm(0x21), y, x, u)
			case apart == 4:
				both := g.blend(a, apart, y, x, u)
				a.Op("VSHUFF32X4", imm(0xb1), both, both, u)
			default:
				a.Op("VPERMILPS", imm(0xb1), g.blend(a, apart, y, x, u), u)
			}
			a.Op(g.Add, u, t, x)
		}
	}
	return sums[0]
}

// blend takes the upper of lanes that are apart from y, and the lower from x.
func (g Gemv) blend(a *Asm, apart int, x, y, to string) string {
	switch {
	case x == y:
		return x
	case g.Masks:
		a.Op("VBLENDMPS", y, x, g.upper(apart), to)
	default:
		a.Op("VBLENDPS", imm(g.lanesWith(apart)), y, x, to)
	}
	return to
}

// store writes the sums of a turn to lines of c of some width, or adds them.
func (g Gemv) store(a *Asm, sum string, lines, width int) {
	const rTo, rApart, rLive = "R8", "R10", "R13"
	held, apart, stored := g.reg(lines*width), a.NewLabel("apart"), a.NewLabel("stored")
	if g.Masks || lines*width == g.Lanes {
		if lines > 1 {
			a.JumpIf(rLDC, "JNE", 4*width, apart)
		}
		if !g.Masks {
			a.JumpIf(rFresh, "JNE", g.rowsOf(lines, width), apart)
		}
		a.Op("MOVBLZX", a.arg("accumulate"), rCount)
		a.addOrNot(rCount, func(add bool) {
			switch {
			case add && g.Masks:
				a.Op(g.Add, at(rC, 0), sum, gemvLive, sum)
			case add:
				a.Op(g.Add, at(rC, 0), sum, sum)
			}
			if g.Masks {
				a.Op("VMOVUPS", sum, gemvLive, at(rC, 0))
			} else {
				a.Op("VMOVUPS", sum, at(rC, 0))
			}
		})
		a.Op("JMP", string(stored))
		a.Place(apart)
	}
	a.Op("MOVQ", rC, rTo)
	if g.Masks {
		a.EOL("lines are where their lanes are those of memory")
		a.Op("LEAQ", at(rLDC, -4*width), rApart)
		a.Op("KMOVW", gemvLive, rLive)
		a.Op("MOVBLZX", a.arg("accumulate"), rCount)
		a.addOrNot(rCount, func(add bool) {
			for i := range lines {
				a.Op("MOVQ", rLive, rCount)
				a.Op("ANDQ", imm((1<<width-1)<<(i*width)), rCount)
				a.Op("KMOVW", rCount, gemvRow)
				if add {
					a.Op(g.Add, at(rTo, 0), sum, gemvRow, sum)
				}
				a.Op("VMOVUPS", sum, gemvRow, at(rTo, 0))
				a.Op("ADDQ", rApart, rTo)
			}
		})
		a.Place(stored)
		return
	}
	a.Op("VMOVUPS", sum, at("SP", 0))
	rows := g.rowsOf(lines, width)
	if g.across {
		a.threefold(rLDC, rApart)
		a.Op("ADDQ", imm(4*(rows-1)), rTo)
	} else {
		for range rows - 1 {
			a.Op("ADDQ", rLDC, rTo)
		}
	}
	a.Op("MOVQ", rFresh, rLive)
	a.Op("MOVBLZX", a.arg("accumulate"), rCount)
	a.addOrNot(rCount, func(add bool) {
		for i := rows - 1; i >= 0; i-- {
			for j := range lines * width / rows {
				from, to := 4*(i*width+j), at(rTo, 4*j)
				if g.across {
					from, to = 4*(j*width+i), rowOf(rTo, rLDC, rApart, j, 0)
				}
				g.storeOne(a, at("SP", from), to, xmm(sum), xmm(held), add)
			}
			switch {
			case i == 0:
				continue
			case g.across:
				a.Op("SUBQ", imm(4), rTo)
			default:
				a.Op("SUBQ", rLDC, rTo)
			}
			a.Op("DECQ", rLive)
			a.Op("JEQ", string(stored))
		}
	})
	a.Place(stored)
}

// rowsOf is how many rows of a lines of c are.
func (g Gemv) rowsOf(lines, width int) int {
	if g.across {
		return width
	}
	return lines
}

// storeOne stores one sum of memory, or adds it.
func (g Gemv) storeOne(a *Asm, from, to, sum, held string, add bool) {
	if from != "" {
		a.Op("VMOVSS", from, sum)
	}
	if add {
		a.Op("VMOVSS", to, held)
		a.Op(g.Add, held, sum, sum)
	}
	a.Op("VMOVSS", sum, to)
}

// fewRows goes through rows one by one, and through columns one by one for each.
func (g Gemv) fewRows(a *Asm) {
	const rColumn, rColumns, rTo, rBiases = "R10", "R13", rFresh, "R14"
	row, column := a.NewLabel("row"), a.NewLabel("column")
	a.Place(row)
	a.load("b", rColumn)
	a.load("cols", rColumns)
	a.load("bias", rBiases)
	a.Op("MOVQ", rC, rTo)
	a.Place(column)
	a.Op("MOVQ", rA, gemvBases[0])
	a.Op("MOVQ", rColumn, rB)
	sum := g.fold(a, g.sums(a, 1, 1))
	if g.offset {
		a.Op("VMOVSS", at(rBiases, 0), xmm(g.reg(1)))
		a.Op(g.Add, xmm(g.reg(1)), xmm(sum), xmm(sum))
		a.Op("ADDQ", imm(4), rBiases)
	}
	a.Op("MOVBLZX", a.arg("accumulate"), rCount)
	a.addOrNot(rCount, func(add bool) { g.storeOne(a, "", at(rTo, 0), xmm(sum), xmm(g.reg(1)), add) })
	a.Op("ADDQ", imm(gemvColumn), rColumn)
	right, down := imm(4), rLDC
	if g.across {
		right, down = down, right
	}
	a.Op("ADDQ", right, rTo)
	a.Op("DECQ", rColumns)
	a.Op("JNE", string(column))
	a.Op("ADDQ", rGemvLDA, rA)
	a.Op("ADDQ", down, rC)
	a.Op("DECQ", rRowsLeft)
	a.Op("JNE", string(row))
	a.Return()
}

// spread writes the micro-kernel for shallow rows: the sums of a row of c are lanes of a vector. Each step
// is a word of a for each row, and a row of b where it lies.
func (g Gemv) spread(a *Asm) {
	a.Func("spread"+g.Name+g.Suffix, g.summing("ldc int, a, b unsafe.Pointer, lda, ldb, k, rows, cols int"),
		rC, rLDC, rA, "", rGemvLDA, "", "", rRowsLeft, rCount)
	a.Op("SHLQ", imm(2), rLDC)
	a.threefold(rGemvLDA, rGemvLDA3)
	g.mask(a, rCount)
	for _, rows := range []int{g.Lanes, 4, 1} {
		fewer := a.NewLabel("fewer")
		a.JumpIf(rRowsLeft, "JLT", rows, fewer)
		g.spreadTurns(a, rows)
		a.Place(fewer)
	}
	a.Return()
}

// spreadTurns goes through the rows as turns does.
func (g Gemv) spreadTurns(a *Asm, rows int) {
	const rLDB, rTo, rStores = rFresh, "R8", "R10"
	sums, b, temp := g.regs(0, rows), g.reg(rows), inTurn(g.regs(rows+1, rows+4))
	turn, stored := a.NewLabel("turn"), a.NewLabel("stored")
	a.Place(turn)
	a.load("b", rB)
	a.load("ldb", rLDB)
	a.load("k", rCount)
	bases := g.bases(a, rows)
	for _, sum := range sums {
		a.Op("VPXOR", xmm(sum), xmm(sum), xmm(sum))
	}
	a.CountDown(rCount, func() {
		g.load(a, at(rB, 0), b, true)
		a.Op("ADDQ", rLDB, rB)
		for i, sum := range sums {
			word, mem := temp(), rowOf(bases[i/4], rGemvLDA, rGemvLDA3, i%4, 0)
			if g.Masks {
				a.Op("VFMADD231PS.BCST", mem, b, sum)
				continue
			}
			a.Op(g.Broadcast, mem, word)
			g.multiplyAdd(a, word, b, sum, temp)
		}
		a.advance(4, bases...)
	})
	g.fresh(a, rows)
	a.Op("MOVQ", rFresh, rStores)
	a.Op("IMUL3Q", imm(rows-1), rLDC, rTo)
	a.Op("ADDQ", rC, rTo)
	a.Op("MOVBLZX", a.arg("accumulate"), rCount)
	a.addOrNot(rCount, func(add bool) {
		for i := rows - 1; i >= 0; i-- {
			switch held := temp(); {
			case add && g.Masks:
				a.Op(g.Add, at(rTo, 0), sums[i], gemvTail, sums[i])
			case add:
				g.load(a, at(rTo, 0), held, true)
				a.Op(g.Add, held, sums[i], sums[i])
			}
			if g.Masks {
				a.Op("VMOVUPS", sums[i], gemvTail, at(rTo, 0))
			} else {
				a.Op("VMASKMOVPS", sums[i], g.tail(), at(rTo, 0))
			}
			if i > 0 {
				a.Op("SUBQ", rLDC, rTo)
				a.Op("DECQ", rStores)
				a.Op("JEQ", string(stored))
			}
		}
	})
	a.Place(stored)
	g.next(a, rows, turn, func() {})
}

const (
	rOuterLDB = "R14" // bytes
	rOuterK   = "R9"  // words; of bytes, those before the last
	outerOdd  = "K1"  // halves of words that are bfloat16
	outerLast = "K2"  // bytes of the last word
)

// outer writes the micro-kernel for a b of few columns whose rows are words: a row of c is up to four vectors of
// sums. Bytes of b are offset, and a column of 128 behind gives what is to be subtracted. Nothing is read behind
// a row of a.
func (g Gemv) outer(a *Asm) {
	a.Func("outer"+g.Name+g.Suffix, g.summing("ldc int, a, b unsafe.Pointer, lda, ldb, k, rows, cols int"),
		rC, rLDC, rA, "", rGemvLDA, rOuterLDB, rOuterK, rRowsLeft, rCount)
	a.Op("SHLQ", imm(2), rLDC)
	a.threefold(rGemvLDA, rGemvLDA3)
	full := "JGT" // from which columns on there is one more vector
	if g.offset {
		full = "JGE"
		a.Op("DECQ", rOuterK)
		a.Op("MOVQ", rOuterK, rFresh)
		a.Op("ANDQ", imm(3), rFresh)
		a.Op("INCQ", rFresh)
		a.first("KMOVQ", rFresh, rNext, outerLast)
		a.Op("SHRQ", imm(2), rOuterK)
	} else {
		a.Op("MOVL", "$0xaaaaaaaa", rNext)
		a.Op("KMOVD", rNext, outerOdd)
	}
	for v, rows := range outerRows {
		more := a.NewLabel("more")
		if v+1 < len(outerRows) {
			a.JumpIf(rCount, full, (v+1)*g.Lanes, more)
		}
		a.Op("SUBQ", imm(v*g.Lanes), rCount)
		g.mask(a, rCount)
		if g.offset {
			g.broadcast32(a, rCount, g.flip())
		}
		for _, rows := range []int{rows, 1} {
			fewer := a.NewLabel("fewer")
			a.JumpIf(rRowsLeft, "JLT", rows, fewer)
			g.outerTurns(a, rows, v+1)
			a.Place(fewer)
		}
		a.Return()
		a.Place(more)
	}
}

// outerRows are how many rows a turn takes of each number of vectors.
var outerRows = []int{12, 8, 4, 4}

// outerTurns goes through the rows, some at a time, as long as there are so many.
func (g Gemv) outerTurns(a *Asm, rows, vectors int) {
	sums, b := g.regs(0, rows*vectors), g.regs(rows*vectors, (rows+1)*vectors)
	temp := inTurn(g.regs((rows+1)*vectors, (rows+1)*vectors+4))
	turn, last := a.NewLabel("turn"), a.NewLabel("last")
	a.Place(turn)
	a.load("b", rB)
	bases := g.bases(a, rows)
	g.zero(a, sums...)
	step := func(bring func(mem, word string)) {
		for v, reg := range b {
			a.Op("VMOVUPS", at(rB, v*g.bytes()), reg)
		}
		a.Op("ADDQ", rOuterLDB, rB)
		for i := range rows {
			word := temp()
			bring(rowOf(bases[i/4], rGemvLDA, rGemvLDA3, i%4, 0), word)
			for v, column := range b {
				g.multiplyAdd(a, word, column, sums[i*vectors+v], nil)
			}
		}
	}
	a.Op("MOVQ", rOuterK, rCount)
	if g.offset {
		a.JumpIf(rCount, "JEQ", 0, last)
		a.CountDown(rCount, func() {
			step(func(mem, word string) { a.Op(g.Broadcast, mem, word) })
			a.advance(4, bases...)
		})
		a.Place(last)
		step(func(mem, word string) {
			a.Op("VMOVDQU8.Z", mem, outerLast, xmm(word))
			a.Op(g.Broadcast, xmm(word), word)
		})
		for i := range rows {
			less := temp()
			a.Op("VPERMD", sums[(i+1)*vectors-1], g.flip(), less)
			for _, sum := range sums[i*vectors:][:vectors] {
				a.Op("VPSUBD", less, sum, sum)
			}
		}
	} else {
		a.CountDown(rCount, func() {
			step(func(mem, word string) { a.Op("VPBROADCASTW.Z", mem, outerOdd, word) })
			a.advance(g.Bytes, bases...)
		})
	}
	a.Op("MOVBLZX", a.arg("accumulate"), rCount)
	a.addOrNot(rCount, func(add bool) {
		for i, sum := range sums {
			c, masked := at(rC, i%vectors*g.bytes()), i%vectors == vectors-1
			switch {
			case add && masked:
				a.Op(g.Add, c, sum, gemvTail, sum)
			case add:
				a.Op(g.Add, c, sum, sum)
			}
			if !masked {
				a.Op("VMOVUPS", sum, c)
				continue
			}
			a.Op("VMOVUPS", sum, gemvTail, c)
			a.Op("ADDQ", rLDC, rC)
		}
	})
	a.Op("IMUL3Q", imm(rows), rGemvLDA, rCount)
	a.Op("ADDQ", rCount, rA)
	a.Op("SUBQ", imm(rows), rRowsLeft)
	a.JumpIf(rRowsLeft, "JGE", rows, turn)
}

// flat writes the micro-kernel for few rows and a b whose rows follow each other: as many of them as a
// vector has lanes are as many vectors as b has columns. Words of a come to the lanes of their rows.
func (g Gemv) flat(a *Asm) {
	for cols := 2; cols <= g.Columns; cols++ {
		a.raw("\n")
		for i := range cols * g.Lanes {
			a.raw("DATA flat%d<>+%d(SB)/4, $%d\n", cols, 4*i, i/cols)
		}
		a.raw("GLOBL flat%d<>(SB), RODATA|NOPTR, $%d\n", cols, cols*g.bytes())
	}
	a.FuncFrame("flat"+g.Name+g.Suffix, g.Columns*g.bytes(), g.summing("ldc int, a, b unsafe.Pointer, lda, ldb, k, rows, cols int"),
		rC, rLDC, rA, "", rGemvLDA, "", "", rRowsLeft, rCount)
	a.Op("SHLQ", imm(2), rLDC)
	g.mask(a, rCount)
	for cols := 2; cols <= g.Columns; cols++ {
		if cols == g.Columns {
			g.flatRows(a, cols)
			return
		}
		more := a.NewLabel("more")
		a.JumpIf(rCount, "JNE", cols, more)
		g.flatRows(a, cols)
		a.Place(more)
	}
}

// flatRows goes through the rows one by one.
func (g Gemv) flatRows(a *Asm, cols int) {
	const rElements, rWords, rZero, elements, words = "R10", "R13", "R14", "K1", "K2"
	sums, order := [][]string{g.regs(0, cols), g.regs(cols, 2*cols)}, g.regs(2*cols, 3*cols)
	row, temp := g.reg(3*cols), inTurn(g.regs(3*cols+1, g.Registers))
	turn, rest, tail, summed := a.NewLabel("turn"), a.NewLabel("rest"), a.NewLabel("tail"), a.NewLabel("summed")
	step := func(part int) {
		a.Op("VMOVUPS", at(rElements, part*g.bytes()), row)
		for v, sum := range sums[part] {
			word := temp()
			a.Op("VPERMPS", row, order[v], word)
			a.Op("VFMADD231PS", at(rB, (part*cols+v)*g.bytes()), word, sum)
		}
	}
	next := func(parts int) {
		a.advance(parts*g.bytes(), rElements)
		a.advance(parts*cols*g.bytes(), rB)
	}
	for v, reg := range order {
		a.Op("VMOVUPS", fmt.Sprintf("flat%d<>+%d(SB)", cols, v*g.bytes()), reg)
	}
	a.Op("XORQ", rZero, rZero)
	a.Place(turn)
	a.load("b", rB)
	a.load("k", rFresh)
	a.Op("MOVQ", rA, rElements)
	for _, sum := range slices.Concat(sums...) {
		a.Op("VPXOR", xmm(sum), xmm(sum), xmm(sum))
	}
	a.Op("MOVQ", rFresh, rCount)
	a.Op("SHRQ", imm(log2(2*g.Lanes)), rCount)
	a.Op("JEQ", string(rest))
	a.CountDown(rCount, func() {
		step(0)
		step(1)
		next(2)
	})
	a.Place(rest)
	a.Op("TESTQ", imm(g.Lanes), rFresh)
	a.Op("JEQ", string(tail))
	step(0)
	next(1)
	a.Place(tail)
	a.Op("ANDQ", imm(g.Lanes-1), rFresh)
	a.Op("JEQ", string(summed))
	a.first("KMOVW", rFresh, rNext, elements)
	a.Op("VMOVUPS.Z", at(rElements, 0), elements, row)
	a.EOL("words of b that are left")
	a.Op("IMUL3Q", imm(cols), rFresh, rWords)
	for v, sum := range sums[0] {
		word := temp()
		a.Op("VPERMPS", row, order[v], word)
		a.first("KMOVW", rWords, rNext, words)
		a.Op("VFMADD231PS", at(rB, v*g.bytes()), word, words, sum)
		a.Op("SUBQ", imm(g.Lanes), rWords)
		a.Op("CMOVQLT", rZero, rWords)
	}
	a.Place(summed)
	for v, sum := range sums[0] {
		a.Op(g.Add, sums[1][v], sum, sum)
		a.Op("VMOVUPS", sum, at("SP", v*g.bytes()))
	}
	for i := range g.Lanes {
		from, sum := at("SP", 4*cols*i), sums[0][i%2]
		if i < 2 {
			a.Op("VMOVUPS.Z", from, gemvTail, sum)
		} else {
			a.Op(g.Add, from, sum, gemvTail, sum)
		}
	}
	sum := sums[0][0]
	a.Op(g.Add, sums[0][1], sum, sum)
	a.Op("MOVBLZX", a.arg("accumulate"), rCount)
	a.addOrNot(rCount, func(add bool) {
		if add {
			a.Op(g.Add, at(rC, 0), sum, gemvTail, sum)
		}
		a.Op("VMOVUPS", sum, gemvTail, at(rC, 0))
	})
	a.Op("ADDQ", rGemvLDA, rA)
	a.Op("ADDQ", rLDC, rC)
	a.Op("DECQ", rRowsLeft)
	a.Op("JNE", string(turn))
	a.Return()
}

// flatQuads writes flat for bytes and four columns: four rows of b are sixteen bytes, in which the words of
// columns are put together. It multiplies b+128, and subtracts 128 times the sum of a row of a.
func (g Gemv) flatQuads(a *Asm) {
	const rElements, elements, rowsOfB, columns = "R10", "K1", "K2", 4
	a.raw("\n")
	for i := range g.Lanes {
		a.raw("DATA flatQuads<>+%d(SB)/4, $%#x\n", 4*i, 0x0c080400+0x01010101*(i%columns))
	}
	a.raw("GLOBL flatQuads<>(SB), RODATA|NOPTR, $%d\n", g.bytes())
	a.Func("flat"+g.Name+g.Suffix, g.summing("ldc int, a, b unsafe.Pointer, lda, ldb, k, rows, cols int"),
		rC, rLDC, rA, "", rGemvLDA, "", "", rRowsLeft)
	sum, ofA, quads, order, offsets, words, b := g.reg(0), g.reg(1), g.reg(2), g.reg(3), g.reg(4), g.reg(5), g.reg(6)
	turn, tail, summed := a.NewLabel("turn"), a.NewLabel("tail"), a.NewLabel("summed")
	step := func() {
		a.Op("VPERMD", words, order, words)
		a.Op("VPSHUFB", quads, b, b)
		a.Op("VPXORD", offsets, b, b)
		g.multiplyAdd(a, words, b, sum, nil)
		g.multiplyAdd(a, words, offsets, ofA, nil)
	}
	a.Op("SHLQ", imm(2), rLDC)
	a.Op("VMOVUPS", "flatQuads<>+0(SB)", quads)
	a.Op("VMOVUPS", fmt.Sprintf("flat%d<>+0(SB)", columns), order)
	a.Op("MOVL", "$0x80808080", rNext)
	g.broadcast32(a, rNext, offsets)
	a.Place(turn)
	a.load("b", rB)
	a.load("k", rFresh)
	a.Op("MOVQ", rA, rElements)
	g.zero(a, sum, ofA)
	a.Op("MOVQ", rFresh, rCount)
	a.Op("SHRQ", imm(log2(g.Lanes)), rCount)
	a.Op("JEQ", string(tail))
	a.CountDown(rCount, func() {
		a.Op("VMOVUPS", at(rElements, 0), xmm(words))
		a.Op("VMOVUPS", at(rB, 0), b)
		step()
		a.advance(g.Lanes, rElements)
		a.advance(g.bytes(), rB)
	})
	a.Place(tail)
	a.Op("ANDQ", imm(g.Lanes-1), rFresh)
	a.Op("JEQ", string(summed))
	for _, mask := range []string{elements, rowsOfB} {
		a.first("KMOVQ", rFresh, rNext, mask)
		a.Op("SHLQ", imm(log2(columns)), rFresh)
	}
	a.Op("VMOVDQU8.Z", at(rElements, 0), elements, xmm(words))
	a.Op("VMOVDQU8.Z", at(rB, 0), rowsOfB, b)
	step()
	a.Place(summed)
	a.Op("VPSUBD", ofA, sum, sum)
	a.Op("VEXTRACTI64X4", imm(1), sum, ymm(ofA))
	a.Op(g.Add, ymm(ofA), ymm(sum), ymm(sum))
	a.Op("VEXTRACTI128", imm(1), ymm(sum), xmm(ofA))
	a.Op(g.Add, xmm(ofA), xmm(sum), xmm(sum))
	a.Op("MOVBLZX", a.arg("accumulate"), rCount)
	a.addOrNot(rCount, func(add bool) {
		if add {
			a.Op(g.Add, at(rC, 0), xmm(sum), xmm(sum))
		}
		a.Op("VMOVUPS", xmm(sum), at(rC, 0))
	})
	a.Op("ADDQ", rGemvLDA, rA)
	a.Op("ADDQ", rLDC, rC)
	a.Op("DECQ", rRowsLeft)
	a.Op("JNE", string(turn))
	a.Return()
}
