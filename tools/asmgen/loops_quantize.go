package asmgen

// Conversion to integers makes the most negative one of what none is near: of numbers below all,
// which is right as packing saturates, but also of those above all and of NaN. The loops scaled
// and shifted leave it at that, Y9 has the least of all codes so far, as words or bytes, and if
// that is the most negative one, all is done again by the loop careful.
//
// Y12 is the factor, Y11 the zero point, Y14 and Y15 the largest and the least code.

var quantize = []func(*Asm){
	constants(constant{"most", []uint32{0x42fe0000}}, constant{"least", []uint32{0xc3000000}}, // 127 and -128
		constant{"leastWord", repeated(0x80008000)}, constant{"leastByte", repeated(0x80808080)},
		// Where packing leaves what belongs at each place: of quarters of a register, and of
		// bytes of a half of it.
		constant{"quarters", []uint32{0, 4, 1, 5, 2, 6, 3, 7}}, constant{"bytes", []uint32{0x05010400, 0x07030602, 0x0d090c08, 0x0f0b0e0a}}),
	quantizing{"toInt8AVX2", "(dst *int8, x *float32, by, zero float32, n int)", func(*Asm) {}, "VMOVDQU", "quarters", func(a *Asm) {
		a.times(4, "VMOVUPS", avx2.in("SI"), avx2.from(0))
	}, `VPERMD Y0, Y10, Y0
		SUBQ $-128, SI`}.routine,
	// Those at odd places are floats with what is at even ones in the bits beyond theirs. The
	// halves of registers are loaded so that packing, which does each half alone, has codes in
	// order but for eight next to each other.
	quantizing{"bfloat16ToInt8AVX2", "(dst *int8, x *uint16, by, zero float32, n, ahead int)", func(a *Asm) {
		a.load("ahead", "DX")
		a.do(`SHLQ $1, DX
			VPCMPEQD Y13, Y13, Y13
			VPSLLD $16, Y13, Y13`)
	}, "VBROADCASTI128", "bytes", func(a *Asm) {
		a.do(`VMOVDQU 16(SI), Y3
			VPBLENDD $0x0f, (SI), Y3, Y0
			VPBLENDD $0xf0, 32(SI), Y3, Y2
			PREFETCHT0 (SI)(DX*1)
			VPAND Y0, Y13, Y1
			VPAND Y2, Y13, Y3
			VPSLLD $16, Y0, Y0
			VPSLLD $16, Y2, Y2`)
	}, `VPSHUFB Y10, Y0, Y0
		ADDQ $64, SI`}.routine,
}

func repeated(word uint32) []uint32 { return []uint32{word, word, word, word, word, word, word, word} }

// A quantizing is a loop over 32 elements of x a turn.
type quantizing struct {
	name, signature string
	begin           func(*Asm)
	load, order     string     // of Y10, by which packed bytes come to their places
	four            func(*Asm) // loads four vectors
	ordered         string
}

func (q quantizing) routine(a *Asm) {
	a.Func(q.name, q.signature)
	q.begin(a)
	a.load("dst", "DI")
	a.load("x", "SI")
	a.load("n", "CX")
	a.load("by", "Y12")
	a.load("zero", "Y11")
	a.do(`VPXOR Y9, Y9, Y9`)
	a.Op("MOVL", a.arg("zero"), "AX")
	a.EOL("0 if zero is, whatever its sign")
	a.Op("ADDL", "AX", "AX")
	a.broadcast(q.load, q.order, 0, "Y10")
	shifted, again := a.NewLabel("shifted"), a.NewLabel("again")
	a.Op("JNZ", string(shifted))

	loop := func(code func(x string), pack string) {
		a.over(32, "CX", func() {
			q.four(a)
			for _, x := range avx2.regs(0, 4) {
				code(x)
			}
			a.do(pack)
			a.do(q.ordered)
			a.do(`VMOVDQU Y0, (DI)
				ADDQ $32, DI`)
		})
	}
	check := func(equal, least string) {
		a.Op(equal, constantAt(least, 0), "Y9", "Y9")
		a.do(`VPTEST Y9, Y9`)
		a.Op("JNZ", string(again))
		a.Return()
	}
	const (
		// Where no code but a wrong one is likely to be the least of int8.
		packed = `VPACKSSDW Y1, Y0, Y0
			VPACKSSDW Y3, Y2, Y2
			VPACKSSWB Y2, Y0, Y0
			VPMINSB Y0, Y9, Y9`
		// Where many may be.
		spared = `VPACKSSDW Y1, Y0, Y0
			VPACKSSDW Y3, Y2, Y2
			VPMINSW Y0, Y9, Y9
			VPMINSW Y2, Y9, Y9
			VPACKSSWB Y2, Y0, Y0`
	)
	loop(func(x string) {
		a.Op("VMULPS", "Y12", x, x)
		a.Op("VCVTPS2DQ", x, x)
	}, packed)
	check("VPCMPEQB", "leastByte")
	shift := func(x string) {
		a.Op("VMULPS", "Y12", x, x)
		a.Op("VROUNDPS", "$8", x, x)
		a.Op("VADDPS", "Y11", x, x)
	}
	a.Place(shifted)
	loop(func(x string) {
		shift(x)
		a.Op("VCVTPS2DQ", x, x)
	}, spared)
	check("VPCMPEQW", "leastWord")

	a.Place(again)
	a.load("dst", "DI")
	a.load("x", "SI")
	a.load("n", "CX")
	a.broadcast("VBROADCASTSS", "most", 0, "Y14")
	a.broadcast("VBROADCASTSS", "least", 0, "Y15")
	loop(func(x string) {
		shift(x)
		a.Op("VCMPPS", "$7", x, x, "Y4")
		a.Op("VANDPS", "Y4", x, x)
		a.Op("VMINPS", "Y14", x, x)
		a.Op("VMAXPS", "Y15", x, x)
		a.Op("VCVTPS2DQ", x, x)
	}, packed)
	a.Return()
}
