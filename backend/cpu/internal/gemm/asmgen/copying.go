package asmgen

// A copying is a way for sums to come from their memory, where rows of 32 follow
// each other, to c.
type copying struct {
	name  string
	way   int                                // value of the field
	begin func(a *Asm)                       // before the rows of a tile; nil for nothing
	rows  func(a *Asm, from, to, row string) // of some rows, copiedRows of them
}

const copiedRows = 2 // with each step

// The ways to copy: as they are, or rounded to bfloat16. Past the caches they are
// written without reading what they overwrite, and without driving out a and b.
var (
	copySums       = copying{"sums", 1, nil, sumRows("VMOVNTDQ")}
	copyNarrowPast = copying{"narrowPast", 3, nil, narrowRows("VMOVNTDQ")}
	copyNarrow     = copying{"narrow", 4, nil, narrowRows("VMOVDQU64")}
	copyCopied     = copying{"copied", 2, nil, sumRows("VMOVDQU64")}
)

func sumRows(store string) func(a *Asm, from, to, row string) {
	return func(a *Asm, from, to, row string) {
		for i := range 2 * copiedRows {
			a.Op("VMOVDQU64", at(from, i*tileLine), avx512.reg(i))
		}
		for i := range copiedRows {
			for j := range 2 {
				a.Op(store, avx512.reg(2*i+j), at(to, j*tileLine))
			}
			a.Op("ADDQ", row, to)
		}
	}
}

func narrowRows(store string) func(a *Asm, from, to, row string) {
	return func(a *Asm, from, to, row string) {
		for i := range copiedRows {
			low, high := avx512.reg(2*i), avx512.reg(2*i+1)
			a.Op("VMOVDQU64", at(from, 2*i*tileLine), low)
			a.Op("VMOVDQU64", at(from, (2*i+1)*tileLine), high)
			a.Encoded("VCVTNE2PS2BF16", low, high, low)
		}
		for i := range copiedRows {
			a.Op(store, avx512.reg(2*i), at(to, 0))
			a.Op("ADDQ", row, to)
		}
	}
}

// copiesScaled are the ways to copy sums times a factor of their row, times one of
// their column, plus a number of their column, each result rounded to float32: as
// they are or rounded to bfloat16, by non-temporal stores or not. Load makes floats of sums.
func copiesScaled(load string) []copying {
	return []copying{
		{"scaledPast", 5, columnsBy, scaledRows(load, "VMOVNTDQ", false)},
		{"scaled", 6, columnsBy, scaledRows(load, "VMOVDQU64", false)},
		{"scaledNarrowPast", 7, columnsBy, scaledRows(load, "VMOVNTDQ", true)},
		{"scaledNarrow", 8, columnsBy, scaledRows(load, "VMOVDQU64", true)},
	}
}

// Of the columns of the tile that is copied: factors, and what is added.
var columnFactors, columnTerms = [2]string{"Z28", "Z29"}, [2]string{"Z30", "Z31"}

func columnsBy(a *Asm) {
	const by = "R15"
	a.Op("MOVQ", stripField("atBy.copyColumns"), by)
	for j := range 2 {
		a.Op("VMOVUPS", at(by, j*tileLine), columnFactors[j])
		a.Op("VMOVUPS", at(by, (2+j)*tileLine), columnTerms[j])
	}
}

func scaledRows(load, store string, narrow bool) func(a *Asm, from, to, row string) {
	return func(a *Asm, from, to, row string) {
		const strip, by = "AX", "R15" // which has the bytes that a moves by before and after
		all := func(do func(i, j int, reg string)) {
			for i := range copiedRows {
				for j := range 2 {
					do(i, j, avx512.reg(2*i+j))
				}
			}
		}
		a.Op("MOVQ", stripField("atBy.copyRows"), by)
		all(func(i, j int, reg string) { a.Op(load, at(from, (2*i+j)*tileLine), reg) })
		all(func(i, j int, reg string) { a.Op("VMULPS.BCST", at(by, i*4), reg, reg) })
		a.Op("ADDQ", imm(copiedRows*4), by)
		a.Op("MOVQ", by, stripField("atBy.copyRows"))
		a.Op("MOVQ", stripField("aheadA"), by)
		all(func(i, j int, reg string) { a.Op("VMULPS", columnFactors[j], reg, reg) })
		all(func(i, j int, reg string) { a.Op("VADDPS", columnTerms[j], reg, reg) })
		for i := range copiedRows {
			low, high := avx512.reg(2*i), avx512.reg(2*i+1)
			if narrow {
				a.Encoded("VCVTNE2PS2BF16", low, high, low)
			}
			a.Op(store, low, at(to, 0))
			if !narrow {
				a.Op(store, high, at(to, tileLine))
			}
			a.Op("ADDQ", row, to)
		}
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
			c.rows(a, from, to, row)
			a.Op("ADDQ", imm(2*copiedRows*tileLine), from)
		}
		if c.begin != nil {
			c.begin(a)
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
