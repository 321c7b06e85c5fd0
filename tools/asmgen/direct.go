package asmgen

import "fmt"

// A Direct is a tile that reads b where it is, from rows of a matrix, instead
// of from a panel.
type Direct struct {
	Tile
	Name  string // of routine names
	Bytes int    // of an element of b
	KU    int    // rows of b in a step
	// words loads one step of b: a word for each column.
	words func(t Direct, a *Asm, b, scratch []string)
	// order puts the columns of sums in order where words does not keep it.
	order func(a *Asm, first, second, temp string)
	// offset tells that b is multiplied as b+128, and sums start from a bias.
	offset bool
	// packs tells that it writes the panels of b that it reads, instead of asking for memory.
	packs bool
}

const (
	rLDB    = rBias // bytes
	rLDB3   = rNext
	rDirect = rAcc  // what each step asks for of b; until c is stored
	rWord   = rCols // bytes from a word of a to the next; once there are masks
	words   = "K3"  // mask of elements narrower than words
)

var (
	directFloat32 = Direct{Name: "Float32", Bytes: 4, KU: 1,
		words: func(t Direct, a *Asm, b, _ []string) {
			for v := range b {
				t.load(a, "VMOVUPS", v, b[v])
			}
		}}
	directWideBFloat16 = Direct{Name: "WideBFloat16", Bytes: 2, KU: 1,
		words: func(t Direct, a *Asm, b, _ []string) {
			for v := range b {
				t.load(a, "VPMOVZXWD", v, b[v])
				a.Op("VPSLLD", imm(16), b[v], b[v])
			}
		}}
	directBFloat16 = Direct{Name: "BFloat16", Bytes: 2, KU: 2, order: orderHalves,
		words: func(t Direct, a *Asm, b, scratch []string) {
			a.Op("VMOVDQU16.Z", t.row(0, 0), words, scratch[0])
			a.Op("VMOVDQU16.Z", t.row(1, 0), words, scratch[1])
			a.Op("VPUNPCKLWD", scratch[1], scratch[0], b[0])
			a.Op("VPUNPCKHWD", scratch[1], scratch[0], b[1])
		}}
	directQuads = Direct{Name: "Quads", Bytes: 1, KU: 4, offset: true,
		words: func(t Direct, a *Asm, b, scratch []string) {
			even, odd := scratch[0], scratch[1]
			for u, row := range []string{even, b[0], odd, b[1]} {
				a.Op("VMOVDQU8.Z", t.row([]int{0, 2, 1, 3}[u], 0), words, ymm(row))
			}
			a.Op("VINSERTI64X4", imm(1), ymm(b[0]), even, even)
			a.Op("VINSERTI64X4", imm(1), ymm(b[1]), odd, odd)
			joinQuads(a, even, odd, t.constants(), b)
			for _, words := range b {
				a.Op("VPXORD", t.constants()[2], words, words)
			}
		}}
	directPairs = Direct{Name: "Pairs", Bytes: 1, KU: 2, order: orderFours,
		words: func(t Direct, a *Asm, b, scratch []string) {
			a.Op("VPMOVSXBW", t.row(0, 0), b[0])
			a.Op("VPMOVSXBW", t.row(1, 0), scratch[0])
			a.Op("VPUNPCKHWD", scratch[0], b[0], b[1])
			a.Op("VPUNPCKLWD", scratch[0], b[0], b[0])
		}}
)

// orderFours is for columns 0 to 3 and 8 to 11 in the first vector of eight, 4 to
// 7 and 12 to 15 in the second.
func orderFours(a *Asm, first, second, temp string) {
	a.Op("VPERM2I128", imm(0x20), second, first, temp) // the low halves of both
	a.Op("VPERM2I128", imm(0x31), second, first, second)
	a.Op("VMOVAPS", temp, first)
}

// orderHalves is for four columns of each quarter of both vectors in the
// first, and the next four in the second.
func orderHalves(a *Asm, first, second, temp string) {
	a.Op("VSHUFF32X4", imm(0x44), second, first, temp) // quarters 0 and 1 of both
	a.Op("VSHUFF32X4", imm(0xee), second, first, second)
	a.Op("VSHUFF32X4", imm(0xd8), temp, temp, first) // one of the first, one of the second
	a.Op("VSHUFF32X4", imm(0xd8), second, second, second)
}

// joinQuads makes words of the bytes of four rows of 32 columns, the first and the third in
// even, the others in odd; it overwrites both. to gets the first vector of words, or both.
func joinQuads(a *Asm, even, odd string, order, to []string) {
	low := to[len(to)-1]
	a.EOL("two bytes of columns 0 to 7 and 16 to 23")
	a.Op("VPUNPCKLBW", odd, even, low)
	a.Op("VPUNPCKHBW", odd, even, odd)
	if len(to) > 1 {
		a.Op("VMOVDQA64", low, to[0])
	}
	for i := range to {
		a.Op("VPERMT2W", odd, order[i], to[i])
	}
}

// quadsOrder writes where joinQuads finds halves of its words: for the first vector and for the
// second.
func quadsOrder(a *Asm) {
	a.raw("\n")
	for i := range 2 * avx512.Lanes {
		at := i/16*8 + i%16/8*32 + i%8
		a.raw("DATA quadsOrder<>+%d(SB)/4, $%#x\n", 4*i, at|(at+16)<<16)
	}
	a.raw("GLOBL quadsOrder<>(SB), RODATA|NOPTR, $%d\n", 2*avx512.bytes())
}

// loadQuadsOrder brings that to registers.
func loadQuadsOrder(a *Asm, order ...string) {
	for i, reg := range order {
		a.Op("VMOVUPS", fmt.Sprintf("quadsOrder<>+%d(SB)", i*avx512.bytes()), reg)
	}
}

// on writes the micro-kernel by a tile, for as many rows as it has. Few sums are in parts, but those
// of pairs of bfloat16, which are added in the order of its tile.
func (t Direct) on(tile Tile) func(*Asm) {
	t.Tile = tile
	t.Parts, t.Heights = tile.Product.Name != bfloat16s.Name, nil
	for rows := tile.MR; rows > 0; rows-- {
		t.Heights = append(t.Heights, rows)
	}
	return t.tile
}

// wide writes it for each number of vectors up to some, of whose last alone columns may be missing.
// There are as many rows as registers hold sums of, beside a row of b, a word of a and a mask.
func (t Direct) wide(tile Tile, vectors int) func(*Asm) {
	return func(a *Asm) {
		left := tile.Registers - 2
		if tile.Masks {
			left++
		}
		for v := 1; v <= vectors; v++ {
			x, of := t, tile
			x.Name = fmt.Sprintf("%sx%d", t.Name, v)
			of.Vectors, of.MR, of.last = v, min(tile.MR, (left-v)/v), true
			x.on(of)(a)
		}
	}
}

// packing writes it for whole tiles of rows, whose words of b become panels.
func (t Direct) packing(tile Tile) func(*Asm) {
	t.Tile, t.packs = tile, true
	t.Heights = []int{tile.MR}
	return t.tile
}

// load loads vector v of the one row of a step: columns beyond the edge as zero
// where there are masks.
func (t Direct) load(a *Asm, mnemonic string, v int, reg string) {
	switch whole := t.last && v < t.Vectors-1; {
	case t.Masks && !whole:
		a.Op(mnemonic+".Z", t.row(0, v), t.mask(v), reg)
	case t.last && !whole:
		a.Op("VMASKMOVPS", t.row(0, v), t.mask(v), reg)
	default:
		a.Op(mnemonic, t.row(0, v), reg)
	}
}

// row is vector v of row u of the step.
func (t Direct) row(u, v int) string {
	return t.of(rB, u, v*t.Lanes*t.Bytes)
}

// of is off bytes behind the start of row u of those that base has the first of.
func (t Direct) of(base string, u, off int) string {
	return rowOf(base, rLDB, rLDB3, u, off)
}

// constants are the order of joinQuads and 128 in each byte, where b is offset.
func (t Direct) constants() []string {
	free := t.free()
	return free[len(free)-3:]
}

// tile writes the micro-kernel. It is that of Tile, but for where a and b come from;
// columns beyond the edge are loaded as zero, or with masks missing as they are.
func (t Direct) tile(a *Asm) {
	kind := "direct"
	if t.packs {
		kind = "packing"
	}
	a.FuncFrame(kind+t.Name+t.Suffix, 24, t.summing("ldc, steps int, a *uint32, lda, step int, b unsafe.Pointer, ldb, ahead, further, height, rows, cols int, bias *C"))
	for i, arg := range directRow {
		a.load(arg, rCount)
		a.Op("MOVQ", rCount, at("SP", 8*i))
	}
	turn := a.NewLabel("turn")
	a.Place(turn)
	for _, arg := range [][2]string{{"ldc", rLDC}, {"steps", rSteps}, {"a", rA}, {"b", rB}, {"ldb", rLDB}, {"ahead", rDirect}, {"height", rRows}, {"rows", rCount}, {"cols", rCols}} {
		a.load(arg[0], arg[1])
	}
	a.Op("SHLQ", imm(2), rLDC)
	a.Op("CMPQ", rCount, rRows)
	a.Op("CMOVQLT", rCount, rRows)
	a.Op("MOVQ", imm(t.Vectors*t.Lanes), rCount)
	a.Op("CMPQ", rCols, rCount)
	a.Op("CMOVQGT", rCount, rCols)
	if !t.packs {
		a.Op("ADDQ", rB, rDirect)
	}
	if t.Masks || t.last {
		t.masks(a)
	}
	if t.KU == 4 {
		a.threefold(rLDB, rLDB3)
	}
	if t.Masks && t.KU > 1 {
		a.Op("MOVQ", imm(1), rCount)
		a.Op("SHLQ", rCols, rCount)
		a.Op("DECQ", rCount)
		a.Op("KMOVD", rCount, words)
	}
	if t.offset {
		constants := t.constants()
		loadQuadsOrder(a, constants[:2]...)
		a.Op("MOVQ", a.arg("bias"), rRow)
		t.start(a, rRow, "")
		t.offsets(a, rRow, constants[2])
	} else {
		t.zeros(a)
	}
	t.rows = t.rowsFrom(rC)
	t.rows.step = rWord
	a.load("lda", rLDA)
	a.load("step", rWord)
	t.rows.start(a)

	add := a.NewLabel("add")
	loops := map[int]Label{}
	for _, rows := range t.Heights {
		loops[rows] = a.NewLabel(fmt.Sprintf("direct%d_", rows))
	}
	for i := len(t.Heights) - 1; i > 0; i-- {
		a.JumpIf(rRows, "JLE", t.Heights[i], loops[t.Heights[i]])
	}
	for _, rows := range t.Heights {
		a.Place(loops[rows])
		if rows >= t.Heights[0]/2 && rows > 1 {
			t.askForC(a, rows)
		}
		parts := [][]string{t.corner(rows, t.Vectors)}
		if t.Parts {
			parts = t.apart(a, parts[0])
		}
		a.Unrolled(rSteps, rCount, unroll, func(steps int) {
			for s := range steps {
				t.step(a, s, rows, parts[s%len(parts)])
			}
		})
		t.together(a, parts)
		if rows != t.Heights[len(t.Heights)-1] {
			a.Op("JMP", string(add))
		}
	}
	a.Place(add)
	if t.packs {
		a.Op("MOVQ", rDirect, a.arg("ahead"))
	}
	a.load("c", rC)
	a.load("accumulate", rAcc)
	t.finish(a)
	t.stored = func() { t.next(a, turn) }
	switch {
	case t.last:
		t.storeOrAdd(a, t.Vectors, t.Vectors-1)
		return
	case !t.Masks:
		edge := a.NewLabel("edge")
		a.load("cols", rCols)
		a.JumpIf(rCols, "JLT", t.Vectors*t.Lanes, edge)
		t.storeOrAdd(a, t.Vectors, t.Vectors)
		a.Place(edge)
		t.masks(a)
	}
	t.storeOrAdd(a, t.Vectors, 0)
}

// askForC asks for rows of c that are needed soon: vectors of those that begin within lines are two stores
// each, which else wait for memory. Lines that are written as a whole come without being asked for.
func (t Direct) askForC(a *Asm, rows int) {
	const line, soon = 64, 16
	later := a.NewLabel("later")
	a.JumpIf(rSteps, "JGT", soon, later)
	a.Op("TESTQ", imm(line-1), rLDC)
	a.Op("JEQ", string(later))
	a.load("c", rCount)
	for range rows {
		for off := 0; off < t.Vectors*t.bytes(); off += line {
			a.Op("PREFETCHT0", at(rCount, off))
		}
		a.Op("ADDQ", rLDC, rCount)
	}
	a.Place(later)
}

// directRow are the arguments that change along a row of c; they begin again at SP.
var directRow = []string{"c", "b", "cols"}

// next begins again with the columns behind those that are stored, and then with the rows below.
func (t Direct) next(a *Asm, turn Label) {
	below, done := a.NewLabel("below"), a.NewLabel("done")
	a.Op("SUBQ", imm(t.Vectors*t.Lanes), a.arg("cols"))
	a.Op("JLE", string(below))
	a.Op("ADDQ", imm(t.Vectors*t.bytes()), a.arg("c"))
	a.Op("ADDQ", imm(t.Vectors*t.Lanes*t.Bytes), a.arg("b"))
	a.Op("JMP", string(turn))
	a.Place(below)
	a.Op("SUBQ", rRows, a.arg("rows"))
	a.Op("JLE", string(done))
	a.Op("IMULQ", rRows, rLDC)
	a.Op("ADDQ", rLDC, at("SP", 0))
	for i, arg := range directRow {
		a.Op("MOVQ", at("SP", 8*i), rCount)
		a.Op("MOVQ", rCount, a.arg(arg))
	}
	if t.offset {
		a.Op("MOVQ", a.arg("bias"), rCount)
		a.Op("LEAQ", indexed(at(rCount, 0), rRows, 4), rCols)
		a.Op("TESTQ", rCount, rCount)
		a.Op("CMOVQNE", rCols, rCount)
		a.Op("MOVQ", rCount, a.arg("bias"))
	}
	a.Op("IMULQ", a.arg("lda"), rRows)
	a.Op("ADDQ", rRows, a.arg("a"))
	a.Op("JMP", string(turn))
	a.Place(done)
}

// finish puts the sums in order, of all rows that the tile has.
func (t Direct) finish(a *Asm) {
	if t.order == nil {
		return
	}
	free := t.free()
	for row := range t.Heights[0] {
		t.order(a, t.acc(row, 0), t.acc(row, 1), free[len(free)-1])
	}
}

// step advances sums of some rows by step s of the turn.
func (t Direct) step(a *Asm, s, rows int, sums []string) {
	const line = 64
	free := t.free()
	b, scratch := free[:t.Vectors], free[t.Vectors:]
	if !t.packs {
		for u := range t.KU {
			for off := 0; off < t.Vectors*t.Lanes*t.Bytes; off += line {
				a.Op("PREFETCHT1", t.of(rDirect, u, off))
			}
		}
	}
	t.words(t, a, b, scratch)
	a.Op("LEAQ", indexed(at(rB, 0), rLDB, t.KU), rB)
	if t.packs {
		for v := range b {
			a.Op("VMOVUPS", b[v], at(rDirect, v*t.bytes()))
		}
		a.Op("ADDQ", imm(t.Vectors*t.bytes()), rDirect)
	} else {
		a.Op("ADDQ", a.arg("further"), rDirect)
	}
	switch {
	case t.offset:
		scratch = scratch[:len(scratch)-len(t.constants())]
	case t.last && !t.Masks:
		scratch = scratch[:len(scratch)-1]
	}
	t.multiplyRows(a, s, b, sums, inTurn(scratch))
	t.rows.next(a, rows)
}
