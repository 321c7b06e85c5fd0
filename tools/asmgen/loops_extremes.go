package asmgen

var extremes = []func(*Asm){
	constants(constant{"magnitude", []uint32{0x7fffffff}}, constant{"magnitudes", []uint32{0x7fff7fff}}),
	absMax, absMaxBFloat16, extremesOf,
}

// magnitudes is a loop over two vectors of x a turn, which leaves in Y2 the largest of the bits
// without signs, as unsigned numbers.
func magnitudes(a *Asm, mask, largest string, step int) {
	a.broadcast("VPBROADCASTD", mask, 0, "Y15")
	avx2.zero(a, avx2.regs(2, 4)...)
	a.over(step, "CX", func() {
		a.times(2, "VPAND", avx2.in("SI"), same("Y15"), avx2.from(0))
		a.times(2, largest, avx2.from(0), avx2.from(2), avx2.from(2))
		a.advance(64, "SI")
	})
	a.Op(largest, "Y3", "Y2", "Y2")
}

func absMax(a *Asm) {
	a.Func("absMaxAVX2", "(x *float32, n int) float32", "SI", "CX")
	magnitudes(a, "magnitude", "VPMAXUD", 16)
	a.leave("VPMAXUD", "Y2", "ret")
	a.Return()
}

// leave makes the result of what an instruction makes of all lanes of a register.
func (a *Asm) leave(mnemonic, reg, result string) {
	avx2.across(a, mnemonic, reg, "Y1", "VEXTRACTI128")
	a.Op("VMOVD", xmm(reg), "AX")
	a.Op("MOVL", "AX", a.arg(result))
}

// Across a register there is an instruction for the least of words: of what the largest lacks
// to all bits.
func absMaxBFloat16(a *Asm) {
	a.Func("absMaxBFloat16AVX2", "(x *uint16, n int) uint16", "SI", "CX")
	magnitudes(a, "magnitudes", "VPMAXUW", 32)
	a.do(`VEXTRACTI128 $1, Y2, X1
		VPMAXUW X1, X2, X2
		VPXOR X15, X2, X2
		VPHMINPOSUW X2, X2
		VMOVD X2, AX
		XORL $0x7fff, AX`)
	a.Op("MOVW", "AX", a.arg("ret"))
	a.Return()
}

// extremesOf turns bits of negative numbers over, but for the sign: then all are in the order of
// integers, -0 below +0. Y4 begins as the least of them, Y3 as the largest.
func extremesOf(a *Asm) {
	a.Func("extremesAVX2", "(x *float32, n int) (lo, hi int32, size uint32)", "SI", "CX")
	a.broadcast("VPBROADCASTD", "magnitude", 0, "Y15")
	a.do(`VPXOR Y2, Y2, Y2
		VPCMPEQD Y4, Y4, Y4
		VPSLLD $31, Y4, Y4
		VMOVDQA Y15, Y3`)
	a.over(8, "CX", func() {
		a.do(`VMOVDQU (SI), Y0
			VPAND Y0, Y15, Y1
			VPMAXUD Y1, Y2, Y2
			VPSRAD $31, Y0, Y1
			VPAND Y1, Y15, Y1
			VPXOR Y1, Y0, Y0
			VPMINSD Y0, Y3, Y3
			VPMAXSD Y0, Y4, Y4
			ADDQ $32, SI`)
	})
	a.leave("VPMAXUD", "Y2", "size")
	a.leave("VPMINSD", "Y3", "lo")
	a.leave("VPMAXSD", "Y4", "hi")
	a.Return()
}
