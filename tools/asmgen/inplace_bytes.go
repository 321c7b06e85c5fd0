package asmgen

// inPlaceBytesInt4 is a micro-kernel like those of InPlace, for products of int8 and
// int4, that multiplies bytes: two rows of b a step, whose nibbles it takes for
// numbers of 0 … 15, offset by 8. A word of a is two bytes, twice; after the
// last step are the words that sums of int16 begin with, which undo the
// offset. Sums are true as long as they fit, whatever they were between.
//
// Of 64 columns by two rows that is 10 instructions, and 8 for each row of a.
func inPlaceBytesInt4(a *Asm) {
	a.inPlace("BytesInt4", pairs)
	few := a.NewLabel("few")
	a.JumpIf(rRows, "JLE", 2, few)
	bytesInt4Tiles(a, 6, 1)
	a.Place(few)
	bytesInt4Tiles(a, 2, 2)
}

// bytesInt4Tiles goes along the rows of b by tiles of parts times 32 columns, each of
// two vectors of sums: of even columns and of odd ones.
func bytesInt4Tiles(a *Asm, rows, parts int) {
	sum := func(r, part, odd int) string { return avx2.reg((r*parts+part)*2 + odd) }
	free := avx2.regs(rows*parts*2, avx2.Registers)
	even, odd, word, temp := free[0], free[1], free[2], free[3]
	first, second := even, odd // the two rows of b
	offsets, lowNibbles := "offsets<>(SB)", "lowNibbles<>(SB)"
	if parts > 1 {
		first, second = free[4], free[5]
		a.Op("VMOVDQU", offsets, free[6])
		a.Op("VMOVDQU", lowNibbles, free[7])
		offsets, lowNibbles = free[6], free[7]
	}
	tile, next := a.NewLabel("tile"), a.NewLabel("next")
	a.Place(tile)
	a.Op("MOVQ", a.arg("a"), rA)
	a.Op("MOVQ", rB, rRow0)
	a.threefold(rSteps, rRow)
	a.Op("SHLQ", imm(log2(inPlaceHeight*4/3)), rRow)
	for r := range rows {
		a.Op("VPBROADCASTD", indexed(at(rA, 4*r), rRow, 1), sum(r, 0, 0))
		for i := 1; i < 2*parts; i++ {
			a.Op("VMOVDQA", sum(r, 0, 0), sum(r, i/2, i%2))
		}
	}
	a.Op("MOVQ", rSteps, rCount)
	a.CountDown(rCount, func() {
		a.Op("LEAQ", indexed(at(rRow0, 0), rLDB, 1), rRow1)
		for _, row := range []string{rRow0, rRow1} {
			a.Op("PREFETCHT0", indexed(at(row, 0), rNear, 1))
		}
		if parts > 1 {
			a.Op("VMOVDQU", at(rRow0, 0), first)
			a.Op("VMOVDQU", at(rRow1, 0), second)
			a.Op("VPXOR", offsets, first, first)
			a.Op("VPXOR", offsets, second, second)
		}
		for part := range parts {
			if parts > 1 {
				a.Op([]string{"VPUNPCKLBW", "VPUNPCKHBW"}[part], second, first, even)
			} else {
				a.Op("VPMOVZXBW", at(rRow0, 0), first)
				a.Op("VPMOVZXBW", at(rRow1, 0), second)
				a.Op("VPSLLW", imm(8), second, second)
				a.Op("VPOR", second, first, even)
				a.Op("VPXOR", offsets, even, even)
			}
			a.Op("VPSRLW", imm(4), even, odd)
			a.Op("VPAND", lowNibbles, even, even)
			a.Op("VPAND", lowNibbles, odd, odd)
			for r := range rows {
				a.Op("VPBROADCASTD", at(rA, 4*r), word)
				for i, b := range []string{even, odd} {
					a.Op("VPMADDUBSW", word, b, temp)
					a.Op("VPADDW", temp, sum(r, part, i), sum(r, part, i))
				}
			}
		}
		a.Op("LEAQ", indexed(at(rRow0, 0), rLDB, 2), rRow0)
		a.Op("ADDQ", imm(4*inPlaceHeight), rA)
	})
	bytesInt4Store(a, rows, parts, sum, [3]string{even, odd, temp}, next)
	a.Place(next)
	endOfTile(a, 32*parts, 4, tile, a.NewLabel("end"))
}

// bytesInt4Store widens the sums, in the order of columns, and writes them to c or adds
// them to it. The halves of a vector have columns that lie apart: 32 of two
// parts, 16 of one.
func bytesInt4Store(a *Asm, rows, parts int, sum func(r, part, odd int) string, free [3]string, next Label) {
	const columns = 8 // of a half
	a.Op("MOVQ", rC, rRow)
	for r := range rows {
		if r > 0 {
			a.JumpIf(rRows, "JLE", r, next)
			a.Op("ADDQ", rLDC, rRow)
		}
		for part := range parts {
			even, odd := sum(r, part, 0), sum(r, part, 1)
			for i, unpack := range []string{"VPUNPCKLWD", "VPUNPCKHWD"} {
				a.Op(unpack, odd, even, free[2])
				a.Op("VPUNPCKLWD", free[2], free[2], free[0])
				a.Op("VPUNPCKHWD", free[2], free[2], free[1])
				a.Op("VPSRAD", imm(16), free[0], free[0])
				a.Op("VPSRAD", imm(16), free[1], free[1])
				a.Op("VPERM2I128", imm(0x20), free[1], free[0], free[2])
				a.Op("VPERM2I128", imm(0x31), free[1], free[0], free[1])
				plain := a.NewLabel("store")
				from := (2*part + i) * columns * 4
				far := from + 2*parts*columns*4
				a.JumpIf(rAcc, "JEQ", 0, plain)
				a.Op("VPADDD", at(rRow, from), free[2], free[2])
				a.Op("VPADDD", at(rRow, far), free[1], free[1])
				a.Place(plain)
				a.Op("VMOVDQU", free[2], at(rRow, from))
				a.Op("VMOVDQU", free[1], at(rRow, far))
			}
		}
	}
}
