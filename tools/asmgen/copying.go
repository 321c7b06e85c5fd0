package asmgen

// A copying is a way for sums to come from their memory, where rows of 32 follow each other,
// to c: as they are, or as floats times a factor of their row, one of their column and another
// of their row, plus a number of their column, each result rounded to float32. Either may be
// rounded to bfloat16.
type copying struct {
	name           string
	way            int // value of the field
	scaled, narrow bool
	store          string // past the caches, or by way of them
}

const (
	copiedRows = 2 // with each step
	rowFactors = 8 // bytes of the two factors of a row

	// Stores past the caches do not read what they overwrite, nor drive out a and b.
	storePast, storeCached = "VMOVNTDQ", "VMOVDQU64"
)

var (
	copySums     = []copying{{"sums", 1, false, false, storePast}, {"copied", 2, false, false, storeCached}}
	copyNarrow   = []copying{{"narrowPast", 3, false, true, storePast}, {"narrow", 4, false, true, storeCached}}
	copiesScaled = []copying{
		{"scaledPast", 5, true, false, storePast}, {"scaled", 6, true, false, storeCached},
		{"scaledNarrowPast", 7, true, true, storePast}, {"scaledNarrow", 8, true, true, storeCached},
	}
)

// Of the columns of the tile that is copied: factors, and what is added.
var columnFactors, columnTerms = [2]string{"Z28", "Z29"}, [2]string{"Z30", "Z31"}

const rCopiedBy = "R15" // which has the bytes that a moves by before and after

// columnsBy prepares the columns of a tile.
func (c copying) columnsBy(a *Asm) {
	a.Op("MOVQ", stripField("atBy.copyColumns"), rCopiedBy)
	for j := range 2 {
		a.Op("VMOVUPS", at(rCopiedBy, j*tileLine), columnFactors[j])
		a.Op("VMOVUPS", at(rCopiedBy, (2+j)*tileLine), columnTerms[j])
	}
}

// rows copies some rows, copiedRows of them; toFloats loads sums as floats.
func (c copying) rows(a *Asm, toFloats, from, to, row string) {
	load := "VMOVDQU64"
	if c.scaled {
		load = toFloats
		a.Op("MOVQ", stripField("atBy.copyRows"), rCopiedBy)
	}
	narrow := func(i int) {
		if c.narrow {
			a.Encoded("VCVTNE2PS2BF16", avx512.reg(2*i), avx512.reg(2*i+1), avx512.reg(2*i))
		}
	}
	all := func(do func(i, j int, reg string)) {
		for i := range 2 * copiedRows {
			do(i/2, i%2, avx512.reg(i))
		}
	}
	all(func(i, j int, reg string) {
		if a.Op(load, at(from, (2*i+j)*tileLine), reg); j == 1 && !c.scaled {
			narrow(i)
		}
	})
	if c.scaled {
		all(func(i, j int, reg string) { a.Op("VMULPS.BCST", at(rCopiedBy, i*rowFactors), reg, reg) })
		all(func(i, j int, reg string) { a.Op("VMULPS", columnFactors[j], reg, reg) })
		all(func(i, j int, reg string) { a.Op("VMULPS.BCST", at(rCopiedBy, i*rowFactors+4), reg, reg) })
		a.Op("ADDQ", imm(copiedRows*rowFactors), rCopiedBy)
		a.Op("MOVQ", rCopiedBy, stripField("atBy.copyRows"))
		a.Op("MOVQ", stripField("aheadA"), rCopiedBy)
		all(func(i, j int, reg string) { a.Op("VADDPS", columnTerms[j], reg, reg) })
	}
	for i := range copiedRows {
		if c.scaled {
			narrow(i)
		}
		a.Op(c.store, avx512.reg(2*i), at(to, 0))
		if !c.narrow {
			a.Op(c.store, avx512.reg(2*i+1), at(to, tileLine))
		}
		a.Op("ADDQ", row, to)
	}
}

// whileCopying runs steps and between them copies the sums of the tile before, if
// there are any. What the steps do not get to is copied after them.
func (t Tiles) whileCopying(a *Asm, left string, step func()) {
	const (
		strip         = "AX"
		from, to, row = "DX", "R11", "CX"
	)
	nothing, done := a.NewLabel("nothing"), a.NewLabel("computed")
	a.Op("MOVQ", stripField("at.copy"), from)
	a.JumpIf(from, "JEQ", 0, nothing)
	a.Op("MOVQ", stripField("at.copyTo"), to)
	a.Op("MOVQ", stripField("row"), row)
	a.EOL("the end of what is to be copied")
	a.Op("LEAQ", at(from, 4*tileRows*tileLine), "R15")
	a.Op("MOVQ", "R15", stripField("at.copy"))
	var ways []Label
	for _, c := range t.Copyings[1:] {
		ways = append(ways, a.NewLabel(c.name))
		a.Op("CMPB", stripField("stream"), imm(c.way))
		a.Op("JEQ", string(ways[len(ways)-1]))
	}
	for i, c := range t.Copyings {
		loop, more, rest := a.NewLabel("copying"), a.NewLabel("more"), a.NewLabel("rest")
		if i > 0 {
			a.Place(ways[i-1])
		}
		copyRows := func() {
			c.rows(a, t.toFloats, from, to, row)
			a.Op("ADDQ", imm(2*copiedRows*tileLine), from)
		}
		if c.scaled {
			c.columnsBy(a)
		}
		a.Op("MOVQ", stripField("aheadA"), "R15")
		a.Place(loop)
		copyRows()
		step()
		a.Op("DECQ", left)
		a.Op("JEQ", string(rest))
		a.Op("CMPQ", from, stripField("at.copy"))
		a.Op("JNE", string(loop))
		a.Op("JMP", string(nothing))
		a.Place(rest)
		a.Op("CMPQ", from, stripField("at.copy"))
		a.Op("JEQ", string(done))
		a.Place(more)
		copyRows()
		a.Op("CMPQ", from, stripField("at.copy"))
		a.Op("JNE", string(more))
		a.Op("JMP", string(done))
	}
	a.Place(nothing)
	a.CountDown(left, step)
	a.Place(done)
	a.EOL("nothing is left to copy")
	a.Op("MOVQ", imm(0), stripField("at.copy"))
}
