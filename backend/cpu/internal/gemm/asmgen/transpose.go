package asmgen

import "fmt"

// rows writes the packing of a matrix whose rows are the lanes of a panel:
// squares of v.Lanes words are transposed in registers, and stored lanes of
// each step written. Lanes beyond those in the matrix are zero.
func (e Element) rows(v Vector, stored int) func(*Asm) {
	return func(a *Asm) {
		const rDst, rSrc, rLD, rStride, rLanes, rBlocks = "DI", "SI", "DX", "R8", "R9", "R10"
		const rRow, rOut = "R11", "R12"
		n := v.Lanes

		args, regs := e.args("stride", "lanes", "blocks")
		a.Func(fmt.Sprintf("pack%sRows%d%s", e.Name, stored, v.Suffix), args, regs)
		a.Op("SHLQ", imm(2), rStride)
		if v.Masks && stored < n {
			a.Op("MOVL", imm(1<<stored-1), rOut)
			a.Op("KMOVW", rOut, "K1")
		}
		a.CountDown(rBlocks, func() {
			loaded := a.NewLabel("loaded")
			for r := range n {
				v.zero(a, v.reg(r))
			}
			a.Op("MOVQ", rSrc, rRow)
			for r := range stored {
				a.JumpIf(rLanes, "JLE", r, loaded)
				e.words(a, v, at(rRow, 0), v.reg(r))
				if r < stored-1 {
					a.Op("ADDQ", rLD, rRow)
				}
			}
			a.Place(loaded)
			a.Op("ADDQ", imm(n*e.KU*e.Bytes), rSrc)
			steps := v.transpose(a)
			flip := ""
			if e.flips {
				flip = v.unused(steps)
				a.broadcastAX(v, flip)
			}
			for _, step := range steps {
				if e.flips {
					a.Op(v.bitwise("VPXOR"), flip, step, step)
				}
				v.storeLanes(a, step, rDst, stored)
				a.Op("ADDQ", rStride, rDst)
			}
		})
		a.Return()
	}
}

// transpose swaps rows and columns of the square in the first v.Lanes
// registers and returns the registers that hold the columns in order. Lanes
// move within quarters of 128 bits by two rounds of interleaving, then
// quarters move between registers.
func (v Vector) transpose(a *Asm) []string {
	n := v.Lanes
	row := func(i int) string { return v.reg(i) }
	half := func(i int) string { return v.reg(n + i) }
	for i := 0; i < n; i += 2 { // rows i and i+1, word by word
		a.Op("VUNPCKLPS", row(i+1), row(i), half(i))
		a.Op("VUNPCKHPS", row(i+1), row(i), half(i+1))
	}
	for i := 0; i < n; i += 4 { // four rows: register i+j holds column j of each quarter
		a.Op("VUNPCKLPD", half(i+2), half(i), row(i))
		a.Op("VUNPCKHPD", half(i+2), half(i), row(i+1))
		a.Op("VUNPCKLPD", half(i+3), half(i+1), row(i+2))
		a.Op("VUNPCKHPD", half(i+3), half(i+1), row(i+3))
	}
	columns := make([]string, n)
	for j := range 4 {
		if n == 8 {
			columns[j], columns[4+j] = half(j), half(4+j)
			a.Op("VPERM2F128", imm(0x20), row(4+j), row(j), columns[j])
			a.Op("VPERM2F128", imm(0x31), row(4+j), row(j), columns[4+j])
			continue
		}
		// Even and odd quarters of the upper and of the lower eight rows.
		even0, odd0, even1, odd1 := half(0), half(1), half(2), half(3)
		a.Op("VSHUFF32X4", imm(0x88), row(4+j), row(j), even0)
		a.Op("VSHUFF32X4", imm(0xdd), row(4+j), row(j), odd0)
		a.Op("VSHUFF32X4", imm(0x88), row(12+j), row(8+j), even1)
		a.Op("VSHUFF32X4", imm(0xdd), row(12+j), row(8+j), odd1)
		for q := range 4 {
			columns[4*q+j] = row(4*q + j)
		}
		a.Op("VSHUFF32X4", imm(0x88), even1, even0, columns[j])
		a.Op("VSHUFF32X4", imm(0x88), odd1, odd0, columns[4+j])
		a.Op("VSHUFF32X4", imm(0xdd), even1, even0, columns[8+j])
		a.Op("VSHUFF32X4", imm(0xdd), odd1, odd0, columns[12+j])
	}
	return columns
}

// unused is a register not among regs.
func (v Vector) unused(regs []string) string {
	taken := map[string]bool{}
	for _, r := range regs {
		taken[r] = true
	}
	for i := range v.Registers {
		if !taken[v.reg(i)] {
			return v.reg(i)
		}
	}
	panic("asmgen: no register left")
}

// storeLanes writes the first lanes of reg.
func (v Vector) storeLanes(a *Asm, reg, address string, lanes int) {
	switch {
	case lanes == v.Lanes:
		a.Op("VMOVUPS", reg, at(address, 0))
	case v.Masks:
		a.Op("VMOVUPS", reg, "K1", at(address, 0))
	case lanes == 6:
		x := "X" + reg[1:]
		a.Op("VMOVUPS", x, at(address, 0))
		a.Op("VEXTRACTF128", imm(1), reg, x)
		a.Op("VMOVSD", x, at(address, 16))
	default:
		panic(fmt.Sprintf("asmgen: no store of %d lanes of %s", lanes, reg))
	}
}
