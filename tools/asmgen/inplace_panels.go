package asmgen

// panels writes the routine that widens some rows of b to packed panels of sixteen
// columns, for what multiplies those.
func (t InPlace) panels(a *Asm) {
	const rTo = rAcc
	a.Func("panels"+t.Name+avx2.Suffix, "(dst *float32, panel, steps int, b unsafe.Pointer, ldb, ahead, tiles int)", rC, rLDC, rSteps, rB, rLDB, rNear, rTiles)
	var more []string
	if t.scale != "" {
		more = append(more, t.scale)
	}
	free := avx2.regs(0, avx2.Registers)
	s := t.source(a, free[:3], free[3:], 2, more...)
	a.CountDown(rTiles, func() {
		a.Op("MOVQ", rB, rRow0)
		a.Op("MOVQ", rC, rTo)
		a.Op("MOVQ", rSteps, rCount)
		a.CountDown(rCount, func() {
			a.Op("PREFETCHT0", indexed(s.at(0, 0), rNear, 1))
			t.widen(a, s, 2, func(first int, words ...string) {
				for i, word := range words {
					if t.scale != "" {
						a.Op("VMULPS", s.constant(t.scale), word, word)
					}
					a.Op("VMOVUPS", word, at(rTo, (first+i)*avx2.bytes()))
				}
			})
			a.Op("ADDQ", imm(2*avx2.bytes()), rTo)
			a.Op("ADDQ", rLDB, rRow0)
		})
		a.Op("ADDQ", imm(2*avx2.Lanes*t.Bits/8), rB)
		a.Op("ADDQ", rLDC, rC)
	})
	a.Return()
}
