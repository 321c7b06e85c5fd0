package asmgen

// Where b is stored as b+128, sums start from a bias: -128 times the sum of the bytes in their
// row of a.

// offsets loads 128 into every byte of reg, by which bytes of a are multiplied for it.
func (t Tile) offsets(a *Asm, temp, reg string) {
	a.EOL("128 in each byte")
	a.Op("MOVL", imm(-0x7f7f7f80), temp)
	t.broadcast32(a, temp, reg)
}

// addBytes multiplies a vector of a, or its lanes that are in the mask, and adds to sum.
func (t Tile) addBytes(a *Asm, from, offsets, temp, sum string, masked bool) {
	switch {
	case !masked:
		a.Op("VMOVUPS", from, temp)
	case t.Masks:
		a.Op("VMOVUPS.Z", from, "K1", temp)
	default:
		a.Op("VMASKMOVPS", from, t.laneMask(0), temp)
	}
	t.multiplyAdd(a, temp, offsets, sum, nil)
}

// panelBias writes the bias of each row of a panel.
func (t Tile) panelBias(a *Asm) {
	const rDst, rA, rSteps, rCount, parts = "DI", "SI", "CX", "DX", 4
	offsets, none := t.reg(parts), t.reg(parts+1)
	a.Func("panelBias"+t.Suffix, "(dst, a *uint32, steps int)", rDst, rA, rSteps)
	t.zero(a, t.regs(0, parts)...)
	t.zero(a, none)
	t.offsets(a, rCount, offsets)
	a.Op("MOVQ", imm(t.MR), rCount)
	t.laneMasks(a, rCount, 1)
	a.Unrolled(rSteps, rCount, parts, func(steps int) {
		for s := range steps {
			t.addBytes(a, at(rA, s*t.MR*4), offsets, t.reg(parts+2+s), t.reg(s), true)
		}
		a.Op("ADDQ", imm(steps*t.MR*4), rA)
	})
	for n := parts; n > 1; n-- {
		a.Op("VPADDD", t.reg(n-1), t.reg(0), t.reg(0))
	}
	a.Op("VPSUBD", t.reg(0), none, t.reg(0))
	if t.Masks {
		a.Op("VMOVUPS", t.reg(0), "K1", at(rDst, 0))
	} else {
		a.Op("VMASKMOVPS", t.reg(0), t.laneMask(0), at(rDst, 0))
	}
	a.Return()
}

// rowsBias writes the bias of rows of an a that is not packed, four at a time: it writes that
// many for the last ones too.
func (t Tile) rowsBias(a *Asm) {
	const rDst, rA, rLDA, rSteps, rRows, rRest, rAt, rCount = "DI", "SI", "DX", "CX", "R9", "R14", "R15", "BX"
	rows := []string{rA, "R10", "R11", "R12"}
	offsets, none := t.reg(len(rows)), t.reg(len(rows)+1)
	half := func(i int) string { return ymm(t.reg(i)) }
	a.Func("rowsBias"+t.Suffix, "(dst, a *uint32, lda, steps, rows int)", rDst, rA, rLDA, rSteps, rRows)
	t.zero(a, none)
	t.offsets(a, rCount, offsets)
	a.Op("MOVQ", rSteps, rRest)
	a.Op("ANDQ", imm(t.Lanes-1), rRest)
	t.laneMasks(a, rRest, 1)
	a.Op("SHRQ", imm(log2(t.Lanes)), rSteps)
	group, rest, summed := a.NewLabel("group"), a.NewLabel("rest"), a.NewLabel("summed")
	a.Place(group)
	for i := 1; i < len(rows); i++ {
		a.Op("LEAQ", indexed(at(rows[i-1], 0), rLDA, 1), rows[i])
		a.Op("CMPQ", rRows, imm(i))
		a.Op("CMOVQLE", rows[i-1], rows[i])
	}
	add := func(masked bool) {
		for i, row := range rows {
			t.addBytes(a, indexed(at(row, 0), rAt, 1), offsets, t.reg(len(rows)+2+i), t.reg(i), masked)
		}
	}
	t.zero(a, t.regs(0, len(rows))...)
	a.Op("XORQ", rAt, rAt)
	a.Op("MOVQ", rSteps, rCount)
	a.JumpIf(rCount, "JEQ", 0, rest)
	a.CountDown(rCount, func() {
		add(false)
		a.Op("ADDQ", imm(t.bytes()), rAt)
	})
	a.Place(rest)
	a.JumpIf(rRest, "JEQ", 0, summed)
	add(true)
	a.Place(summed)
	for _, x := range []struct {
		unpack string
		to, by int
	}{{"DQ", 0, 1}, {"DQ", 2, 3}, {"QDQ", 0, 2}} { // rows side by side
		a.Op("VPUNPCKL"+x.unpack, t.reg(x.by), t.reg(x.to), t.reg(len(rows)+2))
		a.Op("VPUNPCKH"+x.unpack, t.reg(x.by), t.reg(x.to), t.reg(x.to))
		a.Op("VPADDD", t.reg(len(rows)+2), t.reg(x.to), t.reg(x.to))
	}
	if t.Masks {
		a.Op("VEXTRACTI64X4", imm(1), t.reg(0), half(1))
		a.Op("VPADDD", half(1), half(0), half(0))
	}
	a.Op("VEXTRACTI128", imm(1), half(0), xmm(half(1)))
	a.Op("VPADDD", xmm(half(1)), xmm(half(0)), xmm(half(0)))
	a.Op("VPSUBD", xmm(half(0)), xmm(none), xmm(half(0)))
	a.Op("VMOVUPS", xmm(half(0)), at(rDst, 0))
	a.Op("ADDQ", imm(4*len(rows)), rDst)
	a.Op("LEAQ", indexed(at(rows[len(rows)-1], 0), rLDA, 1), rA)
	a.Op("SUBQ", imm(len(rows)), rRows)
	a.Op("JG", string(group))
	a.Return()
}
