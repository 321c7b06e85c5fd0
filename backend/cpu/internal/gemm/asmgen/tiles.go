package asmgen

// A Tiles is a micro-kernel on AMX: up to 2×2 tiles of 16×16 sums each.
type Tiles struct {
	Name     string // of routine names
	Multiply string // adds the products of one step
	Copyings []copying
}

var (
	bfloat16Tiles = Tiles{Name: "BFloat16", Multiply: "TDPBF16PS", Copyings: append([]copying{copySums, copyCopied, copyNarrowPast, copyNarrow}, copiesScaled("VMOVUPS")...)}
	int8Tiles     = Tiles{Name: "Int8", Multiply: "TDPBSSD", Copyings: append([]copying{copySums, copyCopied}, copiesScaled("VCVTDQ2PS")...)}
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

// Offsets of the fields of a strip, the micro-kernel's only argument.
const (
	stripConfig     = 0
	stripSum        = 64
	stripSumRow     = 72
	stripSumPanel   = 80
	stripC          = 88
	stripRow        = 96
	stripPanel      = 104
	stripA          = 112
	stripRowA       = 120
	stripStepA      = 128
	stripPanelA     = 136
	stripB          = 144
	stripSteps      = 152
	stripPanels     = 160
	stripNextA      = 168
	stripNextB      = 176
	stripAheadA     = 184
	stripSumAfter   = 192
	stripCopy       = 200
	stripCopyTo     = 208
	stripAtSum      = 216
	stripAtC        = 224
	stripAtA        = 232
	stripAtCopy     = 240
	stripAtCopyTo   = 248
	stripAtNext     = 256
	stripAtAfter    = 264
	stripTall       = 272
	stripWide       = 273
	stripAccumulate = 274
	stripStream     = 275
	stripRowsBy     = 280
	stripColumnsBy  = 288
	stripCopyRows   = 296
	stripCopyCols   = 304
	stripAtRows     = 312
	stripAtCopyRows = 320
	stripAtCopyCols = 328
)

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
	const (
		strip          = "AX"
		sums, below    = "DX", "R15" // upper and lower tiles of sums
		rowC           = "R11"
		upper, lower   = "SI", "DI" // rows of a
		rowA, stepA    = "R9", "BX"
		wordsB, rowB   = "R13", "R10"
		left           = "R14"
		nextA, nextB   = "R12", "R8"
		flag           = "R15"
		aheadA         = "R15" // bytes from what one step asks for to the next
		linesA, linesB = 2, 4  // that each step asks for
	)
	a.Func("tiles"+t.Name+"AMX", []Arg{{Name: "x"}}, []string{strip})
	a.ConfigureTiles(strip)
	load := func(field int, reg string) { a.Op("MOVQ", at(strip, field), reg) }
	add := func(distance, field int, reg string) {
		load(distance, reg)
		a.Op("ADDQ", reg, at(strip, field))
	}
	a.EOL("what moves along; the caller's pointers stay")
	for _, f := range [][2]int{{stripSum, stripAtSum}, {stripC, stripAtC}, {stripA, stripAtA}, {stripCopy, stripAtCopy}, {stripCopyTo, stripAtCopyTo},
		{stripSumPanel, stripAtNext}, {stripSumAfter, stripAtAfter},
		{stripRowsBy, stripAtRows}, {stripCopyRows, stripAtCopyRows}, {stripCopyCols, stripAtCopyCols}} {
		load(f[0], sums)
		a.Op("MOVQ", sums, at(strip, f[1]))
	}
	load(stripRowA, rowA)
	load(stripStepA, stepA)
	load(stripNextA, nextA)
	load(stripNextB, nextB)
	a.EOL("bytes between rows of a tile")
	a.Op("MOVQ", imm(2*tileLine), rowB)

	release := a.NewLabel("release")
	run := func(rows, cols int) {
		loop, zero, start := a.NewLabel("panel"), a.NewLabel("zero"), a.NewLabel("start")
		each := func(do func(i, j int)) {
			for i := range rows {
				for j := range cols {
					do(i, j)
				}
			}
		}
		move := func(mnemonic string, base, row int) {
			load(base, sums)
			load(row, rowC)
			if rows > 1 {
				a.Op("MOVQ", rowC, below)
				a.Op("SHLQ", imm(log2(tileRows)), below)
				a.Op("ADDQ", sums, below)
			}
			each(func(i, j int) {
				a.MoveTile(mnemonic, j*tileLine, [2]string{sums, below}[i], rowC, sumTiles[i][j])
			})
		}
		a.Place(loop)
		load(stripAtA, upper)
		if rows > 1 {
			a.Op("MOVQ", rowA, lower)
			a.Op("SHLQ", imm(log2(tileRows)), lower)
			a.Op("ADDQ", upper, lower)
		}
		load(stripB, wordsB)
		load(stripSteps, left)
		a.Op("MOVBLZX", at(strip, stripAccumulate), flag)
		a.JumpIf(flag, "JEQ", 0, zero)
		move("TILELOADD", stripAtSum, stripSumRow)
		a.Op("JMP", string(start))
		a.Place(zero)
		each(func(i, j int) { a.ZeroTile(sumTiles[i][j]) })
		a.Place(start)
		load(stripAheadA, aheadA)
		step := func() {
			each(func(i, j int) {
				if i == 0 {
					a.MoveTile("TILELOADD", j*tileLine, wordsB, rowB, bTiles[j])
				}
				if j == 0 {
					a.MoveTile("TILELOADDT1", 0, [2]string{upper, lower}[i], rowA, aTiles[i])
				}
				a.MultiplyTiles(t.Multiply, bTiles[j], aTiles[i], sumTiles[i][j])
			})
			for line := range linesB {
				a.Op("PREFETCHT1", at(nextB, line*tileLine))
			}
			for line := range linesA {
				a.Op("PREFETCHT1", at(nextA, line*tileLine))
			}
			a.Op("ADDQ", imm(linesB*tileLine), nextB)
			a.Op("ADDQ", aheadA, nextA)
			a.Op("ADDQ", stepA, upper)
			if rows > 1 {
				a.Op("ADDQ", stepA, lower)
			}
			a.Op("ADDQ", imm(2*tileRows*tileLine), wordsB)
		}
		if rows*cols == 4 {
			t.whileCopying(a, left, step)
			plain, stored := a.NewLabel("plain"), a.NewLabel("stored")
			a.Op("MOVBLZX", at(strip, stripStream), flag)
			a.JumpIf(flag, "JEQ", 0, plain)
			move("TILESTORED", stripAtSum, stripSumRow)
			a.EOL("to be copied while the next tile is computed")
			a.Op("MOVQ", sums, at(strip, stripAtCopy))
			load(stripAtC, below)
			a.Op("MOVQ", below, at(strip, stripAtCopyTo))
			a.EOL("by what: of the next panel the rows' are others")
			load(stripAtRows, below)
			a.Op("MOVQ", below, at(strip, stripAtCopyRows))
			a.Op("ADDQ", imm(2*tileRows*4), at(strip, stripAtRows))
			load(stripColumnsBy, below)
			a.Op("MOVQ", below, at(strip, stripAtCopyCols))
			a.Op("JMP", string(stored))
			a.Place(plain)
			move("TILESTORED", stripAtC, stripRow)
			a.Place(stored)
			a.EOL("two tiles of sums take turns, or each has its own")
			load(stripAtNext, below)
			load(stripAtAfter, rowC)
			a.Op("MOVQ", rowC, at(strip, stripAtNext))
			a.Op("MOVQ", below, at(strip, stripAtAfter))
			a.Op("ADDQ", below, at(strip, stripAtSum))
		} else {
			a.CountDown(left, step)
			move("TILESTORED", stripAtC, stripRow)
			add(stripSumPanel, stripAtSum, below)
		}
		add(stripPanel, stripAtC, below)
		add(stripPanelA, stripAtA, below)
		a.Op("DECQ", at(strip, stripPanels))
		a.Op("JNZ", string(loop))
	}
	short, narrow, narrowTall := a.NewLabel("short"), a.NewLabel("narrow"), a.NewLabel("narrow")
	choose := func(field int, l Label) {
		a.Op("MOVBLZX", at(strip, field), flag)
		a.JumpIf(flag, "JEQ", 0, l)
	}
	choose(stripTall, short)
	choose(stripWide, narrowTall)
	run(2, 2)
	a.Op("JMP", string(release))
	a.Place(narrowTall)
	run(2, 1)
	a.Op("JMP", string(release))
	a.Place(short)
	choose(stripWide, narrow)
	run(1, 2)
	a.Op("JMP", string(release))
	a.Place(narrow)
	run(1, 1)
	a.Place(release)
	a.ReleaseTiles()
	a.Return()
}

// peak writes a loop of nothing but products between tiles that hold the
// caller's data: with zeros or ones the multipliers run faster than with any
// matrix of interest.
func (t Tiles) peak(a *Asm) {
	const config, data, stride = "AX", "SI", "DX"
	a.Func("peakTiles"+t.Name+"AMX", []Arg{{Name: "config"}, {Name: "data"}, {Name: "turns"}}, []string{config, data, rCount})
	a.ConfigureTiles(config)
	a.Op("MOVQ", imm(tileLine), stride)
	for i, tile := range []string{aTiles[0], aTiles[1], bTiles[0], bTiles[1]} {
		a.MoveTile("TILELOADD", i*tileRows*tileLine, data, stride, tile)
	}
	each := func(do func(i, j int)) {
		for i := range 2 {
			for j := range 2 {
				do(i, j)
			}
		}
	}
	each(func(i, j int) { a.ZeroTile(sumTiles[i][j]) })
	a.CountDown(rCount, func() {
		each(func(i, j int) { a.MultiplyTiles(t.Multiply, bTiles[j], aTiles[i], sumTiles[i][j]) })
	})
	a.ReleaseTiles()
	a.Op("RET")
}

// packTileRows writes the packing of rows of bytes as rows of tiles: each row
// is cut into lines, which lie as far apart as two tiles are large.
func packTileRows(a *Asm) {
	const (
		rows, bytes = "R8", "R9"
		whole, left = "BX", "CX" // lines
		from, to    = "R11", "R12"
		mask, row   = "R10", "R10"
		rest        = "K1"
		zero        = "Z4"
		apart       = 2 * tileRows * tileLine
	)
	store := func(reg string, line int) { a.Op("VMOVUPS", reg, at(to, line*apart)) }
	a.Func("packTileRowsAVX512", []Arg{{Name: "dst"}, {Name: "src"}, {Name: "ld"}, {Name: "rows"}, {Name: "bytes"}},
		[]string{rTo, rFrom, rLD, rows, bytes})
	a.Op("MOVQ", bytes, whole)
	a.Op("SHRQ", imm(log2(tileLine)), whole)
	a.Op("ANDQ", imm(tileLine-1), bytes)
	a.EOL("the bytes of the last line")
	a.Op("MOVQ", imm(-1), mask)
	a.Op("BZHIQ", bytes, mask, mask)
	a.Op("KMOVQ", mask, rest)
	avx512.zero(a, zero)
	a.Op("MOVQ", imm(2*tileRows), row)
	a.CountDown(row, func() {
		next, none := a.NewLabel("next"), a.NewLabel("none")
		a.Op("MOVQ", rFrom, from)
		a.Op("MOVQ", rTo, to)
		a.Op("ADDQ", imm(tileLine), rTo)
		a.JumpIf(rows, "JLE", 0, none)
		a.Unrolled(whole, left, 4, func(lines int) {
			for i := range lines {
				a.Op("VMOVUPS", at(from, i*tileLine), avx512.reg(i))
			}
			for i := range lines {
				store(avx512.reg(i), i)
			}
			a.Op("ADDQ", imm(lines*tileLine), from)
			a.Op("ADDQ", imm(lines*apart), to)
		})
		a.JumpIf(bytes, "JEQ", 0, next)
		a.Op("VMOVDQU8.Z", at(from, 0), rest, "Z0")
		store("Z0", 0)
		a.Op("JMP", string(next))
		a.Place(none)
		part := a.NewLabel("part")
		a.JumpIf(whole, "JEQ", 0, part)
		a.Op("MOVQ", whole, left)
		a.CountDown(left, func() {
			store(zero, 0)
			a.Op("ADDQ", imm(apart), to)
		})
		a.Place(part)
		a.JumpIf(bytes, "JEQ", 0, next)
		store(zero, 0)
		a.Place(next)
		a.Op("ADDQ", rLD, rFrom)
		a.Op("DECQ", rows)
	})
	a.Return()
}
