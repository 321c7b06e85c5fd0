package asmgen

import "fmt"

// A Tile is a micro-kernel: MR rows by Vectors vectors of sums in registers.
type Tile struct {
	Vector
	Product
	MR      int
	Vectors int
	Heights []int // rows that have a loop of their own, falling from MR
	Parts   bool  // loops of few sums keep them in parts

	ahead bool     // it asks for as much of b as it reads, into L1
	last  bool     // no vector of columns but the last may be cut off
	rows  *rowsOfA // of an a that is not packed; nil for panels
	// stored, where it is not nil, writes what comes once sums are stored.
	stored func()
}

// Registers of a tile.
const (
	rC     = "DX"
	rLDC   = "R11" // bytes
	rSteps = "BX"
	rA     = "SI"
	rB     = "DI"
	rBias  = "R10"
	rNext  = "R8"
	rRows  = "R9"
	rCols  = "CX" // CL shifts
	rAcc   = "AX" // 1: add what c holds
	rCount = "R12"
	rRow   = "R13"
)

// unroll is the number of steps in a turn of the loop, and prefetching goes
// by one line a turn.
const unroll = 4

// tile writes the micro-kernel.
//
// Sums stay in registers from start to end: row r, vector v of the tile is
// register r·Vectors+v. Each step loads Vectors vectors of b and meets them
// with one broadcast word of a for each row. Tiles cut off by the edge of c
// run a loop of fewer rows and vectors; only the stores know the exact edge.
func (t Tile) tile(a *Asm) { t.named(a, "tile") }

// thin writes it for an a of few rows, which meets a b from far.
func (t Tile) thin(a *Asm) {
	t.ahead = true
	t.named(a, "thin")
}

func (t Tile) named(a *Asm, name string) {
	a.Func(name+t.Name+t.Suffix, t.summing("ldc, steps int, a, b *uint32, bias *C, next uintptr, rows, cols int"),
		rC, rLDC, rSteps, rA, rB, rBias, rNext, rRows, rCols, rAcc)
	a.Op("SHLQ", imm(2), rLDC)
	t.prefetchColumns(a)
	t.start(a, rBias, "")
	t.loops(a)
}

// loops writes the tile from where its sums are started.
func (t Tile) loops(a *Asm) {

	add := a.NewLabel("add")
	loops := map[[2]int]Label{}
	for vectors := t.Vectors; vectors > 0; vectors-- {
		for _, rows := range t.Heights {
			loops[[2]int{rows, vectors}] = a.NewLabel(fmt.Sprintf("tile%dx%d_", rows, vectors*t.Lanes))
		}
	}
	for vectors := 1; vectors <= t.Vectors; vectors++ {
		wider := a.NewLabel("wider")
		if vectors < t.Vectors {
			a.JumpIf(rCols, "JGT", vectors*t.Lanes, wider)
		}
		a.JumpIf(rRows, "JGT", t.Heights[1], loops[[2]int{t.MR, vectors}])
		for i := len(t.Heights) - 1; i > 1; i-- {
			a.JumpIf(rRows, "JLE", t.Heights[i], loops[[2]int{t.Heights[i], vectors}])
		}
		a.Op("JMP", string(loops[[2]int{t.Heights[1], vectors}]))
		if vectors < t.Vectors {
			a.Place(wider)
		}
	}
	for vectors := t.Vectors; vectors > 0; vectors-- {
		for _, rows := range t.Heights {
			a.Place(loops[[2]int{rows, vectors}])
			t.loop(a, rows, vectors, false)
			a.Op("JMP", string(add))
		}
	}

	a.Place(add)
	edge := a.NewLabel("edge")
	a.JumpIf(rCols, "JLT", t.Vectors*t.Lanes, edge)
	t.storeOrAdd(a, t.Vectors, t.Vectors)
	a.Place(edge)
	t.masks(a)
	for last := range t.Vectors {
		wider := a.NewLabel("wider")
		if last < t.Vectors-1 {
			a.JumpIf(rCols, "JGT", (last+1)*t.Lanes, wider)
		}
		t.storeOrAdd(a, last+1, last) // an empty mask takes time, and so does any without mask registers
		if last < t.Vectors-1 {
			a.Place(wider)
		}
	}
}

func (t Tile) acc(row, vector int) string { return t.reg(row*t.Vectors + vector) }

// corner lists the sums of rows×vectors, row after row.
func (t Tile) corner(rows, vectors int) []string {
	var sums []string
	for r := range rows {
		for v := range vectors {
			sums = append(sums, t.acc(r, v))
		}
	}
	return sums
}

// free lists the registers that hold no sums.
func (t Tile) free() []string {
	return t.regs(t.MR*t.Vectors, t.Registers)
}

// prefetchColumns asks for the lines of c that its columns are in.
func (t Tile) prefetchColumns(a *Asm) {
	wide, asked := a.NewLabel("wide"), a.NewLabel("asked")
	a.JumpIf(rCols, "JGT", t.Lanes, wide)
	narrow := t
	narrow.Vectors = 1
	narrow.prefetchC(a)
	a.Op("JMP", string(asked))
	a.Place(wide)
	t.prefetchC(a)
	a.Place(asked)
}

// prefetchC asks for the lines of c, which are needed only at the end.
func (t Tile) prefetchC(a *Asm) {
	const line = 64
	a.Op("MOVQ", rC, rCount)
	for r := range t.MR {
		for off := 0; off < t.Vectors*t.bytes(); off += line {
			a.Op("PREFETCHT0", at(rCount, off))
		}
		if r < t.MR-1 {
			a.Op("ADDQ", rLDC, rCount)
		}
	}
}

func (t Tile) zeros(a *Asm) { t.zero(a, t.corner(t.MR, t.Vectors)...) }

// start sets the sums to zero, or those of each row to its bias. It moves from, where that is
// given, on by the biases of a tile: to those of the next panel.
func (t Tile) start(a *Asm, bias, from string) {
	zeros, started := a.NewLabel("zeros"), a.NewLabel("started")
	a.JumpIf(bias, "JEQ", 0, zeros)
	for r := range t.MR {
		a.Op(t.Broadcast, at(bias, r*4), t.acc(r, 0))
		for v := 1; v < t.Vectors; v++ {
			a.Op("VMOVAPS", t.acc(r, 0), t.acc(r, v))
		}
	}
	if from != "" {
		a.Op("ADDQ", imm(t.MR*4), from)
	}
	a.Op("JMP", string(started))
	a.Place(zeros)
	t.zeros(a)
	a.Place(started)
}

// lateSteps are left when a column asks for c: what is asked for at the start, panels of
// a and b drive out of L1, as c does those, where its rows fall into one set.
const lateSteps = 64

// loop advances the sums of rows×vectors by all steps; if late, and there are more than
// lateSteps, it asks for c ahead of the last ones.
func (t Tile) loop(a *Asm, rows, vectors int, late bool) {
	parts := [][]string{t.corner(rows, vectors)}
	if t.Parts {
		parts = t.apart(a, parts[0])
		a.Align()
	}
	again := func() {}
	if late {
		again = t.inTwo(a)
	}
	a.Unrolled(rSteps, rCount, unroll, func(steps int) {
		t.prefetchB(a, steps)
		b, temp := t.free()[:vectors], inTurn(t.free()[t.Vectors:])
		for s := range steps {
			for v := range b {
				a.Op("VMOVUPS", at(rB, (s*t.Vectors+v)*t.bytes()), b[v])
			}
			t.multiplyRows(a, s, b, parts[s%len(parts)], temp)
		}
		t.advance(a, rows, steps)
	})
	again()
	t.together(a, parts)
}

// inTwo has the loop that follows run twice, c being asked for in between; what it
// returns ends the loop.
func (t Tile) inTwo(a *Asm) func() {
	const left = rBias // steps of the second run
	run, done := a.NewLabel("run"), a.NewLabel("whole")
	a.Op("XORQ", left, left)
	a.JumpIf(rSteps, "JLE", lateSteps, run)
	a.Op("MOVQ", imm(lateSteps), left)
	a.Op("SUBQ", left, rSteps)
	a.Place(run)
	return func() {
		a.JumpIf(left, "JEQ", 0, done)
		t.prefetchC(a)
		a.Op("MOVQ", left, rSteps)
		a.Op("XORQ", left, left)
		a.Op("JMP", string(run))
		a.Place(done)
	}
}

// prefetchB asks for a line of the next panel of b in each whole turn, or for as many as
// the turn reads.
func (t Tile) prefetchB(a *Asm, steps int) {
	const line = 64
	hint, bytes := "PREFETCHT1", line
	switch {
	case t.ahead:
		hint, bytes = "PREFETCHT0", steps*t.Vectors*t.bytes()
	case steps < unroll:
		return
	}
	a.EOL("the next panel of b")
	for off := 0; off < bytes; off += line {
		a.Op(hint, at(rNext, off))
	}
	a.Op("ADDQ", imm(bytes), rNext)
}

// multiplyRows adds the products of rows of a, in step s of the turn, and a row of b
// to the sums, those of a row of a after another.
func (t Tile) multiplyRows(a *Asm, s int, b, sums []string, temp func() string) {
	for r := range len(sums) / len(b) {
		t.multiplyRow(a, s, r, b, sums[r*len(b):], temp)
	}
}

func (t Tile) multiplyRow(a *Asm, s, r int, b, sums []string, temp func() string) {
	word := temp()
	a.Op(t.Broadcast, t.wordOfA(s, r), word)
	for v := range b {
		t.multiplyAdd(a, word, b[v], sums[v], temp)
	}
}

// wordOfA is the word of row r in step s of the turn.
func (t Tile) wordOfA(s, r int) string {
	if t.rows != nil {
		return t.rows.word(s, r)
	}
	return at(rA, (s*t.MR+r)*4)
}

// advance goes to the next steps of rows of a, and of b.
func (t Tile) advance(a *Asm, rows, steps int) {
	if t.rows != nil {
		t.rows.advance(a, rows, steps)
	} else {
		a.Op("ADDQ", imm(steps*t.MR*4), rA)
	}
	a.Op("ADDQ", imm(steps*t.Vectors*t.bytes()), rB)
}

// inTurn gives registers one after another, and then the first again.
func inTurn(regs []string) func() string {
	turn := 0
	return func() string {
		turn++
		return regs[(turn-1)%len(regs)]
	}
}

// storeOrAdd writes some vectors of the rows of c, those behind the whole ones by their
// masks, after adding what they hold if asked: to all sums before any is stored, as a load
// waits for a store to the same place of another 4 KiB.
func (t Tile) storeOrAdd(a *Asm, vectors, whole int) {
	eachRow := func(end Label, row string, do func(a *Asm, row, v int, masked bool)) {
		for r := range t.Heights[0] {
			if r > 0 {
				a.JumpIf(rRows, "JLE", r, end)
				a.Op("ADDQ", rLDC, row)
			}
			for v := range vectors {
				do(a, r, v, v >= whole)
			}
		}
	}
	stores, done := a.NewLabel("store"), a.NewLabel("stored")
	a.JumpIf(rAcc, "JEQ", 0, stores)
	a.Op("MOVQ", rC, rRow)
	eachRow(stores, rRow, t.addVector)
	a.Place(stores)
	eachRow(done, rC, t.storeVector)
	a.Place(done)
	if t.stored != nil {
		t.stored()
	}
	a.Return()
}

// addVector adds to a vector of sums what the row of c that rRow points to holds.
func (t Tile) addVector(a *Asm, row, v int, masked bool) {
	from, sum := at(rRow, v*t.bytes()), t.acc(row, v)
	switch {
	case !masked:
		a.Op(t.Add, from, sum, sum)
	case t.Masks:
		a.Op(t.Add, from, sum, t.mask(v), sum)
	default:
		held := t.free()[t.Vectors]
		if t.last {
			held = t.free()[0]
		}
		a.Op("VMASKMOVPS", from, t.mask(v), held)
		a.Op(t.Add, held, sum, sum)
	}
}

// storeVector writes one to the row of c that rC points to.
func (t Tile) storeVector(a *Asm, row, v int, masked bool) {
	to, sum := at(rC, v*t.bytes()), t.acc(row, v)
	switch {
	case !masked:
		a.Op("VMOVUPS", sum, to)
	case t.Masks:
		a.Op("VMOVUPS", sum, t.mask(v), to)
	default:
		a.Op("VMASKMOVPS", sum, t.mask(v), to)
	}
}

// masks prepares one mask for each vector: lanes left of column cols.
func (t Tile) masks(a *Asm) {
	vectors := t.Vectors
	if t.last {
		a.Op("SUBQ", imm((vectors-1)*t.Lanes), rCols)
		vectors = 1
	}
	if t.Masks {
		a.Op("MOVQ", imm(1), rCount)
		a.Op("SHLQ", rCols, rCount)
		a.Op("DECQ", rCount)
		for v := range vectors {
			a.Op("KMOVW", rCount, t.mask(v))
			a.Op("SHRQ", imm(t.Lanes), rCount)
		}
		return
	}
	free := t.free()
	t.broadcast32(a, rCols, free[0])
	for v := vectors - 1; v >= 0; v-- {
		a.EOL("column < cols")
		a.Op("VPCMPGTD", fmt.Sprintf("columns<>+%d(SB)", v*t.bytes()), free[0], t.mask(v))
	}
}

func (t Tile) mask(v int) string {
	free := t.free()
	switch {
	case t.Masks && t.last:
		return "K1"
	case t.Masks:
		return fmt.Sprintf("K%d", v+1)
	case t.last:
		return free[len(free)-1]
	}
	return free[v]
}
