package asmgen

import "fmt"

// A Dots multiplies few rows of a by a transposed b, four of its rows at a time: dot products
// of rows, each summed in a vector that is added up at the end. Type dots of package gemm has
// the loop.
type Dots struct {
	Vector
	Product
	Rows int // of a, at most
}

const (
	dotsColumns = 4 // rows of b at a time, which are columns of the product

	rDotLDA  = "BX"  // bytes, of rows of a
	rDotLDA3 = "AX"  // three of them
	rDeep    = "R8"  // vectors in a row
	rAsk     = "R9"  // rows of b that are asked for
	rTurns   = "CX"  // left
	rL3B     = "R13" // three rows of b
)

func (d Dots) sum(row, col int) string { return d.reg(row*dotsColumns + col) }
func (d Dots) b(col int) string        { return d.reg(d.Rows*dotsColumns + col) }
func (d Dots) temp(i int) string       { return d.reg(d.Rows*dotsColumns + dotsColumns + i) }

// dots writes the micro-kernel: a loop over groups of rows of b for each number of rows of
// a.
func (d Dots) dots(a *Asm) {
	a.Func("dots"+d.Name+d.Suffix, d.summing("ldc int, a *uint32, lda int, b unsafe.Pointer, ldb, vectors, rows, turns, ahead int"),
		rC, rLDC, rA, rDotLDA, rB, rLDB, rDeep, rCount, rTurns, rAsk)
	a.Op("SHLQ", imm(2), rLDC)
	a.threefold(rDotLDA, rDotLDA3)
	a.threefold(rLDB, rL3B)
	a.Op("ADDQ", rB, rAsk)
	loops := make([]Label, d.Rows+1)
	for rows := 1; rows < d.Rows; rows++ {
		loops[rows] = a.NewLabel(fmt.Sprintf("dots%d_", rows))
		a.JumpIf(rCount, "JEQ", rows, loops[rows])
	}
	for rows := d.Rows; rows > 0; rows-- {
		if rows < d.Rows {
			a.Place(loops[rows])
		}
		a.CountDown(rTurns, func() { d.turn(a, rows) })
		a.Return()
	}
}

// turn multiplies rows of a by the next rows of b.
func (d Dots) turn(a *Asm, rows int) {
	d.zero(a, d.regs(0, rows*dotsColumns)...)
	a.Op("MOVQ", rDeep, rCount)
	a.CountDown(rCount, func() {
		for col := range dotsColumns {
			a.Op("PREFETCHT1", rowOf(rAsk, rLDB, rL3B, col, 0))
		}
		for col := range dotsColumns {
			a.Op("VMOVUPS", rowOf(rB, rLDB, rL3B, col, 0), d.b(col))
		}
		for row := range rows {
			word := d.temp(row % 2)
			a.Op("VMOVUPS", rowOf(rA, rDotLDA, rDotLDA3, row, 0), word)
			for col := range dotsColumns {
				d.multiplyAdd(a, word, d.b(col), d.sum(row, col), nil)
			}
		}
		a.advance(d.bytes(), rA, rB, rAsk)
	})
	a.EOL("back to the start of rows, and on to the next ones")
	a.Op("MOVQ", rDeep, rCount)
	a.Op("SHLQ", imm(log2(d.bytes())), rCount)
	a.Op("SUBQ", rCount, rA)
	a.Op("NEGQ", rCount)
	a.Op("LEAQ", indexed(at(rCount, 0), rLDB, 4), rCount)
	a.Op("ADDQ", rCount, rB)
	a.Op("ADDQ", rCount, rAsk)

	for row := range rows {
		d.fold(a, row)
	}
	d.across(a, rows)
	plain := a.NewLabel("plain")
	a.Op("MOVBLZX", a.arg("accumulate"), rCount)
	a.JumpIf(rCount, "JEQ", 0, plain)
	a.threefold(rLDC, rCount)
	for row := range rows {
		a.Op("VADDPS", rowOf(rC, rLDC, rCount, row, 0), xmm(d.temp(row)), xmm(d.temp(row)))
	}
	a.Place(plain)
	a.threefold(rLDC, rCount)
	for row := range rows {
		a.Op("VMOVUPS", xmm(d.temp(row)), rowOf(rC, rLDC, rCount, row, 0))
	}
	a.Op("ADDQ", imm(4*dotsColumns), rC)
}

// fold adds up the sums of a row within each quarter of a vector: what comes has those of
// the four columns in each, in the place of the first.
func (d Dots) fold(a *Asm, row int) {
	s, t := func(col int) string { return d.sum(row, col) }, d.b
	for pair := range 2 {
		a.Op("VUNPCKLPS", s(2*pair+1), s(2*pair), t(2*pair))
		a.Op("VUNPCKHPS", s(2*pair+1), s(2*pair), t(2*pair+1))
		a.Op("VADDPS", t(2*pair+1), t(2*pair), t(2*pair))
	}
	a.Op("VUNPCKLPD", t(2), t(0), t(1))
	a.Op("VUNPCKHPD", t(2), t(0), t(3))
	a.Op("VADDPS", t(3), t(1), s(0))
}

// across adds the quarters up: the four sums of each row, in the first quarter of a
// register of its own.
func (d Dots) across(a *Asm, rows int) {
	if !d.Masks {
		for row := range rows {
			folded := d.sum(row, 0)
			a.Op("VEXTRACTF128", imm(1), folded, xmm(d.temp(row)))
			a.Op("VADDPS", xmm(folded), xmm(d.temp(row)), xmm(d.temp(row)))
		}
		return
	}
	folded := func(row int) string { return d.sum(min(row, rows-1), 0) }
	both := func(low, high int, x, y, to string) {
		a.Op("VSHUFF32X4", imm(low), y, x, d.temp(0))
		a.Op("VSHUFF32X4", imm(high), y, x, d.temp(1))
		a.Op("VADDPS", d.temp(1), d.temp(0), to)
	}
	both(0x44, 0xee, folded(0), folded(1), d.b(0)) // quarters 0 and 1 of each, and 2 and 3
	if rows > 2 {
		both(0x44, 0xee, folded(2), folded(3), d.b(1))
	}
	both(0x88, 0xdd, d.b(0), d.b(min(1, (rows-1)/2)), d.b(2)) // quarters 0 and 2 of each, and 1 and 3
	for row := range rows {
		a.Op("VEXTRACTF32X4", imm(row), d.b(2), xmm(d.temp(row)))
	}
}
