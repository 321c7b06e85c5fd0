package asmgen

import "fmt"

// inPlaceNibbles is a micro-kernel for few rows of a, pairs of bfloat16, and a b of four bits, of which
// some rows that share scales are read along themselves. Each byte's numbers are looked up in a table,
// 64 columns by two rows at a time; sums are scaled once they are those of all these rows.
func inPlaceNibbles(a *Asm) {
	const height, most = 12, 6 // rows of a panel, and of a tile
	a.Func("inPlaceNibbles"+avx512.Suffix, "(c *float32, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, tiles int, scales *float32, table *uint16, accumulate bool)",
		rC, rLDC, rSteps, rA, rB, rLDB, rNear, rRows, rTiles, "", "", rAcc)
	a.Op("SHLQ", imm(2), rLDC)
	var labels []Label
	for rows := most; rows > 0; rows-- {
		labels = append(labels, a.NewLabel(fmt.Sprintf("rows%d_", rows)))
		a.JumpIf(rRows, "JEQ", rows, labels[len(labels)-1])
	}
	a.Return()
	for i, label := range labels {
		a.Place(label)
		nibblesOf(a, most-i, height)
	}
}

func nibblesOf(a *Asm, rows, height int) {
	const vectors, rWords, table = 4, "R14", "Z31"
	sums := func(r int) []string { return avx512.regs(r*vectors, (r+1)*vectors) }
	free := avx512.regs(6*vectors, 31)
	words, codes := free[4:6], []string{free[0], free[1], free[2], free[3]} // even columns, odd ones, and so the next
	tile := a.NewLabel("tile")
	a.Place(tile)
	avx512.zero(a, avx512.regs(0, rows*vectors)...)
	a.Op("MOVQ", a.arg("table"), rWords)
	a.Op("VBROADCASTI64X4", at(rWords, 0), table)
	a.Op("MOVQ", rA, rWords)
	a.Op("MOVQ", rB, rRow0)
	a.Op("MOVQ", rSteps, rCount)
	a.CountDown(rCount, func() {
		a.Op("LEAQ", indexed(at(rRow0, 0), rLDB, 1), rRow1)
		for _, row := range []string{rRow0, rRow1} {
			a.Op("PREFETCHT0", indexed(at(row, 0), rNear, 1))
		}
		// Bytes of both rows side by side: of columns 0 … 15 and 32 … 47, and of the others.
		a.Op("VMOVDQU8", at(rRow0, 0), ymm(codes[1]))
		a.Op("VMOVDQU8", at(rRow1, 0), ymm(codes[3]))
		for i, unpack := range []string{"VPUNPCKLBW", "VPUNPCKHBW"} {
			a.Op(unpack, ymm(codes[3]), ymm(codes[1]), ymm(codes[2*i]))
		}
		for i := range vectors / 2 {
			even, odd := codes[2*i], codes[2*i+1]
			a.Op("VPMOVZXBW", ymm(even), even)
			a.Op("VPSRLW", imm(4), even, odd)
			a.Op("VPERMW", table, even, even)
			a.Op("VPERMW", table, odd, odd)
		}
		temp := inTurn(words)
		for r := range rows {
			word := temp()
			a.Op("VBROADCASTSS", at(rWords, 4*r), word)
			for v, sum := range sums(r) {
				bfloat16s.multiplyAdd(a, word, codes[v], sum, nil)
			}
		}
		a.Op("ADDQ", imm(4*height), rWords)
		a.Op("LEAQ", indexed(at(rRow0, 0), rLDB, 2), rRow0)
	})
	a.Op("MOVQ", a.arg("scales"), rWords)
	for v, scale := range codes {
		a.Op("VMOVUPS", at(rWords, v*avx512.bytes()), scale)
	}
	a.Op("ADDQ", imm(vectors*avx512.bytes()), rWords)
	a.Op("MOVQ", rWords, a.arg("scales"))
	a.Op("VMOVUPS", "firstOfBoth<>(SB)", words[0])
	a.Op("VMOVUPS", "lastOfBoth<>(SB)", words[1])
	a.addOrNot(rAcc, func(add bool) {
		a.Op("MOVQ", rC, rRow)
		for r := range rows {
			s := sums(r)
			for v := 0; v < vectors; v += 2 {
				a.Op("VMOVAPS", s[v], table)
				for i, both := range []string{table, s[v]} { // the first half, and then the last
					a.Op("VPERMT2PS", s[v+1], words[i], both)
					of := v/2 + 2*i
					to := at(rRow, of*avx512.bytes())
					if add {
						a.Op("VFMADD213PS", to, codes[of], both)
					} else {
						a.Op("VMULPS", codes[of], both, both)
					}
					a.Op("VMOVUPS", both, to)
				}
			}
			if r < rows-1 {
				a.Op("ADDQ", rLDC, rRow)
			}
		}
	})
	a.advance(vectors*avx512.Lanes/2, rB)
	a.advance(vectors*avx512.bytes(), rC)
	a.Op("DECQ", rTiles)
	a.Op("JNZ", string(tile))
	a.Return()
}

// firstOfBoth takes the first eight words of two registers in turns, lastOfBoth the last.
var turnsOfBoth = constants(constant{"firstOfBoth", turnsFrom(0)}, constant{"lastOfBoth", turnsFrom(8)})

func turnsFrom(first uint32) (words []uint32) {
	for i := range uint32(8) {
		words = append(words, first+i, 16+first+i)
	}
	return words
}
