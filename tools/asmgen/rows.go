package asmgen

// rowsOfA are rows of an a that is not packed: a tile reads a word of each in a step, the
// next words of memory in the next. An address serves rowsOfABase of them.
type rowsOfA struct {
	bases []string // registers with the addresses of rows 0, 3, 6, …
	step  string   // register with the bytes from a word to the next; "" where they follow each other
}

const (
	rLDA        = rRow // bytes; until c is stored
	rowsOfABase = 3
)

// tileRows writes tile for such an a.
func (t Tile) tileRows(a *Asm) {
	a.Func("rows"+t.Name+t.Suffix, t.summing("ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next uintptr, rows, cols int"),
		rC, rLDC, rSteps, rA, rLDA, rB, rBias, rNext, rRows, rCols, rAcc)
	a.Op("SHLQ", imm(2), rLDC)
	t.prefetchColumns(a)
	t.start(a, rBias, "")
	t.rows = t.rowsFrom(rBias)
	t.rows.start(a)
	t.loops(a)
}

// rowsFrom gives the bases registers, the last of which is left to the caller.
func (t Tile) rowsFrom(last string) *rowsOfA {
	return &rowsOfA{bases: []string{rA, "R14", "R15", last}[:(t.MR+rowsOfABase-1)/rowsOfABase]}
}

// start sets the bases behind the first.
func (x *rowsOfA) start(a *Asm) {
	for i, base := range x.bases[1:] {
		a.Op("LEAQ", indexed(at(x.bases[i], 0), rLDA, 2), base)
		a.Op("ADDQ", rLDA, base)
	}
}

func (x *rowsOfA) word(s, r int) string {
	off := s * 4
	if x.step != "" { // the bases move on at each step
		off = 0
	}
	return rowOf(x.bases[r/rowsOfABase], rLDA, "", r%rowsOfABase, off)
}

// next goes to the next step of some rows.
func (x *rowsOfA) next(a *Asm, rows int) {
	for _, base := range x.bases[:(rows+rowsOfABase-1)/rowsOfABase] {
		a.Op("ADDQ", x.step, base)
	}
}

func (x *rowsOfA) advance(a *Asm, rows, steps int) {
	a.advance(steps*4, x.bases[:(rows+rowsOfABase-1)/rowsOfABase]...)
}
