package asmgen

import "fmt"

// strided writes a micro-kernel of so many rows that reads both operands where they lie: a word
// of each row of a, and all columns of one row of b, in a step.
func (t Tile) strided(name string, rows int) func(*Asm) {
	t.MR, t.Heights = rows, []int{rows}
	return func(a *Asm) {
		a.Func(name+t.Name+t.Suffix, t.summing(stridedArgs), rC, rLDC, rSteps, rA, rLDA, rB, rLDB, rAcc)
		a.Op("SHLQ", imm(2), rLDC)
		a.Op("MOVQ", imm(rows), rRows)
		t.rows = t.rowsFrom(rNext)
		t.rows.start(a)
		t.zeros(a)
		b, temp := t.free()[:t.Vectors], inTurn(t.free()[t.Vectors:])
		a.Unrolled(rSteps, rCount, unroll, func(steps int) {
			for s := range steps {
				for v := range b {
					a.Op("VMOVUPS", at(rB, v*t.bytes()), b[v])
				}
				a.Op("ADDQ", rLDB, rB)
				t.multiplyRows(a, s, b, t.corner(rows, t.Vectors), temp)
			}
			t.rows.advance(a, rows, steps)
		})
		t.storeOrAdd(a, t.Vectors, t.Vectors)
	}
}

// stridedArgs: rows of a lie lda bytes apart, those of b ldb.
const stridedArgs = "ldc, steps int, a *float32, lda int, b *float32, ldb int"

// strided is that of Tile, for NEON: a word of a comes to the first lane of a vector.
func (t neonTile) strided(name string, rows int) func(*Asm) {
	const rC, rLDC, rSteps, rA, rLDA, rB, rLDB, rAcc, rRow = "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R3"
	const wordsA, vectorsB = neonSums, neonSums + 3
	return func(a *Asm) {
		a.Func(name+t.Name+"NEON", summing(t.sum, stridedArgs), rC, rLDC, rSteps, rA, rLDA, rB, rLDB, rAcc)
		a.Op("LSL", imm(2), rLDC)
		from := []string{rA}
		for r := 1; r < rows; r++ {
			from = append(from, fmt.Sprintf("R%d", 7+r+r/11)) // R18 is the platform's
			a.Op("ADD", rLDA, from[r-1], from[r])
		}
		neonZeros(a)
		loop := a.NewLabel("loop")
		a.Place(loop)
		a.Op("VLD1", at(rB, 0), pairOf(vectorsB))
		a.Op("ADD", rLDB, rB)
		for r := range rows {
			word := wordsA + r%3
			a.Op("FMOVS.P", "4("+from[r]+")", fmt.Sprintf("F%d", word))
			for v := range neonVectors {
				t.multiply.by(a, r*neonVectors+v, vectorsB+v, word, 0)
			}
		}
		a.Op("SUBS", imm(1), rSteps)
		a.Op("BNE", string(loop))
		t.storeOrAdd(a, rows, rC, rLDC, rAcc, rRow)
	}
}
