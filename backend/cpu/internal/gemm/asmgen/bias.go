package asmgen

// offsetBias writes what sums must start from where a is stored as a+128:
// -128 times the sums of the columns of b.
func (t Tile) offsetBias(a *Asm) {
	const rDst, rB, rSteps = "DI", "SI", "CX"
	sum := func(v int) string { return t.reg(v) }
	offset, none, words := t.reg(t.Vectors), t.reg(t.Vectors+1), t.reg(t.Vectors+2)

	a.Func("offsetBias"+t.Suffix, "(dst, b *uint32, steps int)", rDst, rB, rSteps)
	t.zero(a, t.regs(0, t.Vectors)...)
	t.zero(a, none)
	a.EOL("128 in each byte")
	a.Op("MOVL", imm(-0x7f7f7f80), "AX")
	t.broadcast32(a, "AX", offset)
	a.CountDown(rSteps, func() {
		for v := range t.Vectors {
			a.Op("VMOVUPS", at(rB, v*t.bytes()), words)
			t.multiplyAdd(a, offset, words, sum(v), nil)
		}
		a.Op("ADDQ", imm(t.Vectors*t.bytes()), rB)
	})
	for v := range t.Vectors {
		a.Op("VPSUBD", sum(v), none, sum(v))
		a.Op("VMOVUPS", sum(v), at(rDst, v*t.bytes()))
	}
	a.Return()
}
