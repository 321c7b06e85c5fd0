package asmgen

import "fmt"

// neonTile is the micro-kernel of NEON: 12 rows by two vectors of four sums in registers
// V0 to V23, row after row. Each step loads three vectors of a panel of A and two of a
// panel of B, and meets those with each word of these. Vectors have no masks: the edges
// of C are left to Go.
type neonTile struct {
	Name     string
	sum      string      // its type in Go
	multiply elementwise // the word of A that is an index of a vector
	add      uint32      // of two vectors of sums
}

// elementwise is an instruction on a vector, and one word of another, that Go's
// assembler lacks.
type elementwise struct {
	mnemonic string
	code     uint32
}

var neonTiles = []neonTile{
	{"Float32", "float32", elementwise{"FMLA", 0x4f801000}, 0x4e20d400},
	{"Quads", "int32", elementwise{"SDOT", 0x4f80e000}, 0x4ea08400}, // four signed bytes by four
}

const (
	neonRows    = 12
	neonVectors = 2
	neonSums    = neonRows * neonVectors
)

// by encodes acc += vector · word index of words (Arm ARM, C7.2: FMLA and SDOT by
// element).
func (e elementwise) by(a *Asm, acc, vector, words, index int) {
	a.EOL("%s V%d.S4, V%d, V%d.S[%d]", e.mnemonic, acc, vector, words, index)
	a.word(e.code | uint32(index&1<<21|words<<16|index>>1<<11|vector<<5|acc))
}

func (a *Asm) word(code uint32) { a.Op("WORD", fmt.Sprintf("$0x%08x", code)) }

func pairOf(v int) string { return fmt.Sprintf("[V%d.S4, V%d.S4]", v, v+1) }

func (t neonTile) tile(a *Asm) {
	const rC, rLDC, rSteps, rA, rB, rAcc, rRow = "R0", "R1", "R2", "R3", "R4", "R5", "R6"
	const wordsA, vectorsB = neonSums, neonSums + 3
	a.Func("tile"+t.Name+"NEON", summing(t.sum, "ldc, steps int, a, b *uint32"), rC, rLDC, rSteps, rA, rB, rAcc)
	a.Op("LSL", imm(2), rLDC)
	neonZeros(a)
	loop := a.NewLabel("loop")
	a.Place(loop)
	a.Op("VLD1.P", "48("+rA+")", fmt.Sprintf("[V%d.S4, V%d.S4, V%d.S4]", wordsA, wordsA+1, wordsA+2))
	a.Op("VLD1.P", "32("+rB+")", pairOf(vectorsB))
	for r := range neonRows {
		for v := range neonVectors {
			t.multiply.by(a, r*neonVectors+v, vectorsB+v, wordsA+r/4, r%4)
		}
	}
	a.Op("SUBS", imm(1), rSteps)
	a.Op("BNE", string(loop))
	t.storeOrAdd(a, neonRows, rC, rLDC, rAcc, rRow)
}

// storeOrAdd writes the sums of some rows to c, after adding what it holds if asked.
func (t neonTile) storeOrAdd(a *Asm, rows int, rC, rLDC, rAcc, rRow string) {
	const held = neonSums
	store := a.NewLabel("store")
	a.Op("CBZ", rAcc, string(store))
	a.Op("MOVD", rC, rRow)
	for r := range rows {
		a.Op("VLD1", at(rRow, 0), pairOf(held))
		for v := range neonVectors {
			sum := r*neonVectors + v
			a.EOL("add V%d to V%d", held+v, sum)
			a.word(t.add | uint32((held+v)<<16|sum<<5|sum))
		}
		a.Op("ADD", rLDC, rRow)
	}
	a.Place(store)
	for r := range rows {
		a.Op("VST1", pairOf(r*neonVectors), at(rC, 0))
		a.Op("ADD", rLDC, rC)
	}
	a.Op("RET")
}

// peak writes a loop of nothing but products between registers.
func (t neonTile) peak(a *Asm) {
	const rTurns = "R2"
	a.Func("peak"+t.Name+"NEON", "(turns int)", rTurns)
	neonZeros(a)
	a.Op("VMOVI", imm(0x3f), fmt.Sprintf("V%d.B16", neonSums)) // about 0.75 as float32
	loop := a.NewLabel("loop")
	a.Place(loop)
	for i := range neonSums {
		t.multiply.by(a, i, neonSums, neonSums, i%4)
	}
	a.Op("SUBS", imm(1), rTurns)
	a.Op("BNE", string(loop))
	a.Op("RET")
}

func neonZeros(a *Asm) {
	for i := range neonSums {
		v := fmt.Sprintf("V%d.B16", i)
		a.Op("VEOR", v, v, v)
	}
}
