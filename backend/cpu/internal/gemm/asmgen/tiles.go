package asmgen

// A Tiles is a micro-kernel on AMX: up to 2×2 tiles of 16×16 sums each.
type Tiles struct {
	Name     string // of routine names
	Multiply string // adds the products of one step
}

var (
	bfloat16Tiles = Tiles{Name: "BFloat16", Multiply: "TDPBF16PS"}
	int8Tiles     = Tiles{Name: "Int8", Multiply: "TDPBSSD"}
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
		config, c, below, ldc = "AX", "DX", "AX", "R11"
		wordsA, panel, panels = "SI", "R15", "CX"
		wordsB, stepB         = "DI", "R13"
		steps, left           = "BX", "R14"
		next, accumulate      = "R8", "R12"
		tall, wide            = "R9", "R10"
		strideA, strideB      = "R9", "R10"
		ahead                 = 4 // lines of the next panel of b, each step
	)
	a.Func("tiles"+t.Name+"AMX", []Arg{{Name: "config"}, {Name: "c"}, {Name: "ldc"}, {Name: "steps"}, {Name: "a"}, {Name: "b"},
		{Name: "panel"}, {Name: "panels"}, {Name: "next"},
		{Name: "tall", Bool: true}, {Name: "wide", Bool: true}, {Name: "accumulate", Bool: true}},
		[]string{config, c, ldc, steps, wordsA, wordsB, panel, panels, next, tall, wide, accumulate})
	a.ConfigureTiles(config)
	a.Op("SHLQ", imm(2), ldc)
	a.EOL("from the end of a run to the next panel")
	a.Op("SHLQ", imm(2), panel)
	a.Op("MOVQ", steps, "AX")
	a.Op("SHLQ", imm(log2(2*tileRows*tileLine)), "AX")
	a.Op("SUBQ", "AX", panel)

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
		move := func(mnemonic string, i, j int) {
			a.MoveTile(mnemonic, j*tileLine, [2]string{c, below}[i], ldc, sumTiles[i][j])
		}
		a.EOL("bytes between rows of a tile")
		a.Op("MOVQ", imm(tileLine), strideA)
		a.Op("MOVQ", imm(2*tileLine), strideB)
		a.Place(loop)
		a.Op("MOVQ", wordsB, stepB)
		a.Op("MOVQ", steps, left)
		if rows > 1 {
			a.Op("MOVQ", ldc, below)
			a.Op("SHLQ", imm(log2(tileRows)), below)
			a.Op("ADDQ", c, below)
		}
		a.JumpIf(accumulate, "JEQ", 0, zero)
		each(func(i, j int) { move("TILELOADD", i, j) })
		a.Op("JMP", string(start))
		a.Place(zero)
		each(func(i, j int) { a.ZeroTile(sumTiles[i][j]) })
		a.Place(start)
		a.CountDown(left, func() {
			each(func(i, j int) {
				if i == 0 {
					a.MoveTile("TILELOADD", j*tileLine, stepB, strideB, bTiles[j])
				}
				if j == 0 {
					a.MoveTile("TILELOADDT1", i*tileRows*tileLine, wordsA, strideA, aTiles[i])
				}
				a.MultiplyTiles(t.Multiply, bTiles[j], aTiles[i], sumTiles[i][j])
			})
			for line := range ahead {
				a.Op("PREFETCHT1", at(next, line*tileLine))
			}
			a.Op("ADDQ", imm(ahead*tileLine), next)
			a.Op("ADDQ", imm(2*tileRows*tileLine), wordsA)
			a.Op("ADDQ", imm(2*tileRows*tileLine), stepB)
		})
		each(func(i, j int) { move("TILESTORED", i, j) })
		a.Op("ADDQ", panel, wordsA)
		a.Op("MOVQ", ldc, "AX")
		a.Op("SHLQ", imm(log2(2*tileRows)), "AX")
		a.Op("ADDQ", "AX", c)
		a.Op("DECQ", panels)
		a.Op("JNZ", string(loop))
	}
	short, narrow, narrowTall := a.NewLabel("short"), a.NewLabel("narrow"), a.NewLabel("narrow")
	a.JumpIf(tall, "JEQ", 0, short)
	a.JumpIf(wide, "JEQ", 0, narrowTall)
	run(2, 2)
	a.Op("JMP", string(release))
	a.Place(narrowTall)
	run(2, 1)
	a.Op("JMP", string(release))
	a.Place(short)
	a.JumpIf(wide, "JEQ", 0, narrow)
	run(1, 2)
	a.Op("JMP", string(release))
	a.Place(narrow)
	run(1, 1)
	a.Place(release)
	a.ReleaseTiles()
	a.Op("RET")
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
