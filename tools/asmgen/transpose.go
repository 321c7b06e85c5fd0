package asmgen

import (
	"fmt"
	"slices"
)

// A Line is how elements that follow each other in memory become words.
type Line struct {
	Name      string    // of routine names
	UnitBytes int       // a unit is what the mask of a load counts: a byte, or an element
	PerWord   int       // units in a word
	load      [2]string // of a vector of words, without and with a mask
	shift     int       // to the place in a word
	flips     bool
}

var lines = []Line{
	// Words that are in memory as they shall be, but for the flip: float32,
	// pairs of bfloat16, quads of bytes.
	{Name: "Words", UnitBytes: 1, PerWord: 4, load: [2]string{"VMOVUPS", "VMOVDQU8.Z"}, flips: true},
	{Name: "BFloat16", UnitBytes: 2, PerWord: 1, load: [2]string{"VPMOVZXWD", "VPMOVZXWD.Z"}, shift: 16},
	{Name: "PairsInt8", UnitBytes: 1, PerWord: 2, load: [2]string{"VPMOVSXBW", "VPMOVSXBW.Z"}},
	{Name: "PairsUint8", UnitBytes: 1, PerWord: 2, load: [2]string{"VPMOVZXBW", "VPMOVZXBW.Z"}},
}

// rows writes the packing of a matrix whose rows are the lanes of a panel:
// squares of v.Lanes words are transposed in registers, and stored lanes of
// each step written. Lanes beyond those in the matrix are zero. With masks
// the last square may be narrower, its last word incomplete; without them
// there are whole squares only.
func (l Line) rows(v Vector, stored int) func(*Asm) {
	return func(a *Asm) {
		const rStride, rLanes, rUnits, rMask, rSteps = "R8", "R9", "R10", "R12", "BX"
		n := v.Lanes
		square := n * l.PerWord // units

		packFunc(a, fmt.Sprintf("pack%sRows%d%s", l.Name, stored, v.Suffix), l.flips,
			"stride, lanes, units", rStride, rLanes, rUnits)
		a.Op("SHLQ", imm(2), rStride)
		v.storedLanes(a, stored)
		if v.Masks {
			a.Op("LEAQ", at(rUnits, l.PerWord-1), rSteps)
			a.Op("SHRQ", imm(log2(l.PerWord)), rSteps)
		}

		loop, loaded, done := a.NewLabel("loop"), a.NewLabel("loaded"), a.NewLabel("done")
		a.Place(loop)
		if v.Masks {
			a.EOL("BZHI looks at eight bits of the count")
			a.Op("MOVQ", imm(square), rAt)
			a.Op("CMPQ", rUnits, rAt)
			a.Op("CMOVQLT", rUnits, rAt)
			a.first("KMOVQ", rAt, rMask, "K1")
		}
		v.zero(a, v.regs(0, n)...)
		a.Op("MOVQ", rFrom, rAt)
		for r := range stored {
			a.JumpIf(rLanes, "JLE", r, loaded)
			if v.Masks {
				a.Op(l.load[1], at(rAt, 0), "K1", v.reg(r))
			} else {
				a.Op(l.load[0], at(rAt, 0), v.reg(r))
			}
			if l.shift > 0 {
				a.Op("VPSLLD", imm(l.shift), v.reg(r), v.reg(r))
			}
			if r < stored-1 {
				a.Op("ADDQ", rLD, rAt)
			}
		}
		a.Place(loaded)
		a.Op("ADDQ", imm(square*l.UnitBytes), rFrom)
		steps := v.transpose(a)
		flip := ""
		if l.flips {
			flip = v.unused(steps)
			v.broadcast32(a, rFlip, flip)
		}
		for _, step := range steps {
			if l.flips {
				a.Op(v.bitwise("VPXOR"), flip, step, step)
			}
			v.storeLanes(a, step, rTo, 0, stored)
			a.Op("ADDQ", rStride, rTo)
			if v.Masks {
				a.Op("DECQ", rSteps)
				a.Op("JZ", string(done))
			}
		}
		a.Op("SUBQ", imm(square), rUnits)
		a.Op("JG", string(loop))
		a.Place(done)
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
	free := slices.DeleteFunc(v.regs(0, v.Registers), func(reg string) bool { return slices.Contains(regs, reg) })
	return free[0]
}
