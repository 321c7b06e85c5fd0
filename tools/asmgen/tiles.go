package asmgen

import "slices"

// A Tiles is a micro-kernel on AMX: up to 2×2 tiles of 16×16 sums each.
type Tiles struct {
	Name     string // of routine names
	sum      string // its type in Go
	Multiply string // adds the products of one step
	toFloats string // loads sums as floats
	Copyings []copying
}

var (
	bfloat16Tiles = Tiles{Name: "BFloat16", sum: "float32", Multiply: "TDPBF16PS", toFloats: "VMOVUPS", Copyings: slices.Concat(copySums, copyNarrow, copiesScaled)}
	int8Tiles     = Tiles{Name: "Int8", sum: "int32", Multiply: "TDPBSSD", toFloats: "VCVTDQ2PS", Copyings: slices.Concat(copySums, copiesScaled)}
)

// Tiles that a kernel and a peak use: of sums, row by row, of a and of b.
var (
	sumTiles = [2][2]string{{"T0", "T1"}, {"T2", "T3"}}
	aTiles   = [2]string{"T4", "T5"}
	bTiles   = [2]string{"T6", "T7"}
)

const (
	tileRows = 16 // of every tile
	tileLine = 64 // bytes of a tile's row
)

// Registers of a kernel on tiles.
const (
	rStrip         = "AX"
	rSums, rBelow  = "DX", "R15" // upper and lower tiles of sums
	rRowC          = "R11"
	rUpper, rLower = "SI", "DI" // rows of a
	rRowA, rStepA  = "R9", "BX"
	rWordsB, rRowB = "R13", "R10"
	rLeft          = "R14" // steps
	rNextA, rNextB = "R12", "R8"
	rFlag          = "R15"
	rAheadA        = "R15" // bytes from what one step asks for to the next
)

// loadField loads a field of the strip.
func (a *Asm) loadField(field, reg string) { a.Op("MOVQ", stripField(field), reg) }

// storeField stores one.
func (a *Asm) storeField(reg, field string) { a.Op("MOVQ", reg, stripField(field)) }

// moveField adds the distance in one field to another.
func (a *Asm) moveField(distance, field string) {
	a.loadField(distance, rBelow)
	a.Op("ADDQ", rBelow, stripField(field))
}

// jumpUnless jumps where a field of one byte is zero.
func (a *Asm) jumpUnless(field string, l Label) {
	a.Op("MOVBLZX", stripField(field), rFlag)
	a.JumpIf(rFlag, "JEQ", 0, l)
}

// tiles writes the micro-kernel. It walks down the panels of a, all by one
// panel of b. What of the tiles is used lies in their shapes, which the caller
// prepares: rows and columns beyond the edge of c are neither read nor written.
//
// All tiles are configured after the first instruction and released before the
// last: no other code, and no stack switch of the runtime, meets a live one.
//
// Tiles of b come through L1, those of a, each needed once, past it: a panel of
// b stays in L1 for all panels of a.
func (t Tiles) tiles(a *Asm) {
	a.Func("tiles"+t.Name+"AMX", "(x *strip["+t.sum+"])", rStrip)
	a.ConfigureTiles(rStrip)
	a.EOL("what moves along; the caller's pointers stay")
	for _, f := range [][2]string{{"sum", "at.sum"}, {"c", "at.c"}, {"a", "at.a"}, {"copy", "at.copy"}, {"copyTo", "at.copyTo"},
		{"sumPanel", "at.next"}, {"sumAfter", "at.after"},
		{"by.rows", "atBy.rows"}, {"copyBy.rows", "atBy.copyRows"}, {"copyBy.columns", "atBy.copyColumns"}} {
		a.loadField(f[0], rSums)
		a.storeField(rSums, f[1])
	}
	a.loadField("rowA", rRowA)
	a.loadField("stepA", rStepA)
	a.loadField("nextA", rNextA)
	a.loadField("nextB", rNextB)
	a.EOL("bytes between rows of a tile")
	a.Op("MOVQ", imm(2*tileLine), rRowB)

	release := a.NewLabel("release")
	short, narrow, narrowTall := a.NewLabel("short"), a.NewLabel("narrow"), a.NewLabel("narrow")
	a.jumpUnless("tall", short)
	a.jumpUnless("wide", narrowTall)
	grid{t, 2, 2}.panels(a)
	a.Op("JMP", string(release))
	a.Place(narrowTall)
	grid{t, 2, 1}.panels(a)
	a.Op("JMP", string(release))
	a.Place(short)
	a.jumpUnless("wide", narrow)
	grid{t, 1, 2}.panels(a)
	a.Op("JMP", string(release))
	a.Place(narrow)
	grid{t, 1, 1}.panels(a)
	a.Place(release)
	a.ReleaseTiles()
	a.Return()
}

// A grid is a kernel on so many rows and columns of tiles.
type grid struct {
	Tiles
	rows, cols int
}

func (g grid) each(do func(i, j int)) {
	for i := range g.rows {
		for j := range g.cols {
			do(i, j)
		}
	}
}

// panels writes the loop down the panels of a.
func (g grid) panels(a *Asm) {
	loop, zero, start := a.NewLabel("panel"), a.NewLabel("zero"), a.NewLabel("start")
	a.Place(loop)
	a.loadField("at.a", rUpper)
	if g.rows > 1 {
		a.Op("MOVQ", rRowA, rLower)
		a.Op("SHLQ", imm(log2(tileRows)), rLower)
		a.Op("ADDQ", rUpper, rLower)
	}
	a.loadField("b", rWordsB)
	a.loadField("steps", rLeft)
	a.jumpUnless("accumulate", zero)
	g.moveSums(a, "TILELOADD", "at.sum", "sumRow")
	a.Op("JMP", string(start))
	a.Place(zero)
	g.each(func(i, j int) { a.ZeroTile(sumTiles[i][j]) })
	a.Place(start)
	a.loadField("aheadA", rAheadA)
	if g.rows*g.cols == 4 {
		g.whileCopying(a, rLeft, func() { g.step(a) })
		g.finish(a)
	} else {
		a.CountDown(rLeft, func() { g.step(a) })
		g.moveSums(a, "TILESTORED", "at.c", "row")
		a.moveField("sumPanel", "at.sum")
	}
	a.moveField("panel", "at.c")
	a.moveField("panelA", "at.a")
	a.Op("DECQ", stripField("panels"))
	a.Op("JNZ", string(loop))
}

// moveSums loads or stores all sums, from or to where one field says, in rows as far
// apart as another does.
func (g grid) moveSums(a *Asm, mnemonic string, base, row string) {
	a.loadField(base, rSums)
	a.loadField(row, rRowC)
	if g.rows > 1 {
		a.Op("MOVQ", rRowC, rBelow)
		a.Op("SHLQ", imm(log2(tileRows)), rBelow)
		a.Op("ADDQ", rSums, rBelow)
	}
	g.each(func(i, j int) {
		a.MoveTile(mnemonic, j*tileLine, [2]string{rSums, rBelow}[i], rRowC, sumTiles[i][j])
	})
}

// step multiplies by one step, and asks for some memory.
func (g grid) step(a *Asm) {
	const linesA, linesB = 2, 4
	g.each(func(i, j int) {
		if i == 0 {
			a.MoveTile("TILELOADD", j*tileLine, rWordsB, rRowB, bTiles[j])
		}
		if j == 0 {
			a.MoveTile("TILELOADDT1", 0, [2]string{rUpper, rLower}[i], rRowA, aTiles[i])
		}
		a.MultiplyTiles(g.Multiply, bTiles[j], aTiles[i], sumTiles[i][j])
	})
	for line := range linesB {
		a.Op("PREFETCHT1", at(rNextB, line*tileLine))
	}
	for line := range linesA {
		a.Op("PREFETCHT1", at(rNextA, line*tileLine))
	}
	a.Op("ADDQ", imm(linesB*tileLine), rNextB)
	a.Op("ADDQ", rAheadA, rNextA)
	a.Op("ADDQ", rStepA, rUpper)
	if g.rows > 1 {
		a.Op("ADDQ", rStepA, rLower)
	}
	a.Op("ADDQ", imm(2*tileRows*tileLine), rWordsB)
}

// finish stores the sums of a whole panel: to c, or with a stream to where the next
// panel finds them to be copied.
func (g grid) finish(a *Asm) {
	plain, stored := a.NewLabel("plain"), a.NewLabel("stored")
	a.jumpUnless("stream", plain)
	g.moveSums(a, "TILESTORED", "at.sum", "sumRow")
	a.EOL("to be copied while the next tile is computed")
	a.storeField(rSums, "at.copy")
	a.loadField("at.c", rBelow)
	a.storeField(rBelow, "at.copyTo")
	a.EOL("by what: of the next panel the rows' are others")
	a.loadField("atBy.rows", rBelow)
	a.storeField(rBelow, "atBy.copyRows")
	a.Op("ADDQ", imm(2*tileRows*rowFactors), stripField("atBy.rows"))
	a.loadField("by.columns", rBelow)
	a.storeField(rBelow, "atBy.copyColumns")
	a.Op("JMP", string(stored))
	a.Place(plain)
	g.moveSums(a, "TILESTORED", "at.c", "row")
	a.Place(stored)
	a.EOL("two tiles of sums take turns, or each has its own")
	a.loadField("at.next", rBelow)
	a.loadField("at.after", rRowC)
	a.storeField(rRowC, "at.next")
	a.storeField(rBelow, "at.after")
	a.Op("ADDQ", rBelow, stripField("at.sum"))
}
