package asmgen

// The routines of package widen: loops over 64 elements of src a turn, which ask for the memory
// ahead bytes behind what they read.

// widening is one of them; it reads and writes so many bytes a turn.
func widening(v Vector, name, kind string, bytes, bytesOut int, begin, body func(a *Asm)) func(*Asm) {
	return func(a *Asm) {
		a.Func(name+v.Suffix, "(dst *"+kind+", src *byte, n, ahead int)", "DI", "SI", "CX", "R8")
		begin(a)
		a.over(64, "CX", func() {
			a.do(`PREFETCHT0 (SI)(R8*1)`)
			body(a)
			a.advance(bytes, "SI")
			a.advance(bytesOut, "DI")
		})
		a.Return()
	}
}

func widenAVX2() []func(*Asm) {
	return []func(*Asm){
		wordsOfInt4, constants(codesE4M3.constants()...), constants(codesE5M2.constants()...), constants(codesOfBoth...),
		widening(avx2, "int4ToInt8", "int8", 32, 64, func(a *Asm) {
			a.broadcast("VPBROADCASTD", "nibble", 0, "Y15")
			a.broadcast("VPBROADCASTD", "eight", 0, "Y14")
		}, func(a *Asm) {
			nibbles(a)
			for _, x := range []string{"Y0", "Y2"} { // (x ^ 8) - 8
				a.Op("VPXOR", "Y14", x, x)
				a.Op("VPSUBB", "Y14", x, x)
			}
			a.do(`VMOVDQU Y0, (DI)
				VMOVDQU Y2, 32(DI)`)
		}),
		widening(avx2, "float4ToInt8", "int8", 32, 64, func(a *Asm) {
			a.broadcast("VPBROADCASTD", "nibble", 0, "Y15")
			a.broadcast("VBROADCASTI128", "twice4", 0, "Y14")
		}, func(a *Asm) {
			nibbles(a)
			a.do(`VPSHUFB Y0, Y14, Y0
				VPSHUFB Y2, Y14, Y2
				VMOVDQU Y0, (DI)
				VMOVDQU Y2, 32(DI)`)
		}),
		halvesAVX2("int4", ""), halvesAVX2("float4", "4"),
		widening(avx2, "float16", "float32", 128, 256, func(*Asm) {}, func(a *Asm) {
			for i := range 8 {
				a.Op("VCVTPH2PS", at("SI", 16*i), "Y0")
				a.Op("VMOVUPS", "Y0", at("DI", 32*i))
			}
		}),
		// The upper halves of float32s.
		widening(avx2, "int8", "uint16", 64, 128, func(*Asm) {}, func(a *Asm) {
			for i := range 4 {
				a.Op("VPMOVSXBD", at("SI", 16*i), "Y0")
				a.Op("VPMOVSXBD", at("SI", 16*i+8), "Y1")
				a.do(`VCVTDQ2PS Y0, Y0
					VCVTDQ2PS Y1, Y1
					VPSRLD $16, Y0, Y0
					VPSRLD $16, Y1, Y1
					VPACKUSDW Y1, Y0, Y0
					VPERMQ $0xd8, Y0, Y0`)
				a.Op("VMOVDQU", "Y0", at("DI", 32*i))
			}
		}),
		codesE4M3.widen(avx2), codesE5M2.widen(avx2),
		widening(avx2, "float8E8M0", "uint16", 64, 128, powers(avx2), func(a *Asm) {
			for i := range 4 {
				a.Op("VPMOVZXBW", at("SI", 16*i), "Y0")
				a.do(`VPCMPEQW Y0, Y15, Y1
					VPCMPEQW Y0, Y13, Y2
					VPOR Y1, Y2, Y1
					VPAND Y14, Y1, Y1
					VPSLLW $7, Y0, Y0
					VPOR Y1, Y0, Y0`)
				a.Op("VMOVDQU", "Y0", at("DI", 32*i))
			}
		}),
	}
}

func widenAVX512() []func(*Asm) {
	return []func(*Asm){
		wordsOfInt4, constants(codesE4M3.constants()...), constants(codesE5M2.constants()...), constants(codesOfBoth...),
		constants(constant{"odd", oddWords}, constant{"spread", []uint32{0, 0, 4, 0, 1, 0, 5, 0, 2, 0, 6, 0, 3, 0, 7, 0}}), // four quarters in two
		widening(avx512, "int4ToInt8", "int8", 32, 64, func(a *Asm) {
			a.broadcast("VPBROADCASTD", "nibble", 0, "Z15")
			a.broadcast("VPBROADCASTD", "eight", 0, "Z14")
		}, func(a *Asm) {
			a.do(`VPMOVZXBW (SI), Z0
				VPSLLW $4, Z0, Z1
				VPORD Z1, Z0, Z0
				VPANDD Z15, Z0, Z0
				VPXORD Z14, Z0, Z0
				VPSUBB Z14, Z0, Z0
				VMOVDQU32 Z0, (DI)`)
		}),
		widening(avx512, "float4ToInt8", "int8", 32, 64, func(a *Asm) {
			a.broadcast("VPBROADCASTD", "nibble", 0, "Z15")
			a.broadcast("VBROADCASTI32X4", "twice4", 0, "Z14")
		}, func(a *Asm) {
			a.do(`VPMOVZXBW (SI), Z0
				VPSLLW $4, Z0, Z1
				VPORD Z1, Z0, Z0
				VPANDD Z15, Z0, Z0
				VPSHUFB Z0, Z14, Z0
				VMOVDQU32 Z0, (DI)`)
		}),
		halvesAVX512("int4", ""), halvesAVX512("float4", "4"),
		widening(avx512, "float16", "float32", 128, 256, func(*Asm) {}, func(a *Asm) {
			for i := range 4 {
				a.Op("VCVTPH2PS", at("SI", 32*i), "Z0")
				a.Op("VMOVUPS", "Z0", at("DI", 64*i))
			}
		}),
		widening(avx512, "int8", "uint16", 64, 128, func(a *Asm) {
			a.broadcast("VMOVDQU32", "odd", 0, "Z15")
		}, func(a *Asm) {
			a.times(4, "VPMOVSXBD", every(16, "SI"), avx512.from(0))
			a.times(4, "VCVTDQ2PS", avx512.from(0), avx512.from(0))
			a.do(`VPERMT2W Z1, Z15, Z0
				VPERMT2W Z3, Z15, Z2
				VMOVDQU32 Z0, (DI)
				VMOVDQU32 Z2, 64(DI)`)
		}),
		codesE4M3.widen(avx512), codesE5M2.widen(avx512),
		widening(avx512, "float8E8M0", "uint16", 64, 128, powers(avx512), func(a *Asm) {
			for i := range 2 {
				a.Op("VPMOVZXBW", at("SI", 32*i), "Z0")
				a.do(`VPCMPEQW Z0, Z15, K1
					VPCMPEQW Z0, Z13, K2
					VPSLLW $7, Z0, Z0
					VPADDW Z14, Z0, K1, Z0
					VPADDW Z14, Z0, K2, Z0`)
				a.Op("VMOVDQU64", "Z0", at("DI", 64*i))
			}
		}),
	}
}

// powers has the codes of NaN and of 2^-127 at hand, and the bit that these have as bfloat16, beside the
// exponent that all codes are.
func powers(v Vector) func(a *Asm) {
	return func(a *Asm) {
		a.broadcast("VPBROADCASTD", "powers", 0, v.reg(15))
		a.broadcast("VPBROADCASTD", "powers", 1, v.reg(14))
		v.zero(a, v.reg(13))
	}
}

// halvesAVX2 looks up both bytes of each nibble's number in tables.
func halvesAVX2(name, tables string) func(*Asm) {
	return widening(avx2, name, "uint16", 32, 128, func(a *Asm) {
		a.broadcast("VPBROADCASTD", "nibble", 0, "Y15")
		a.broadcast("VBROADCASTI128", "low"+tables, 0, "Y14")
		a.broadcast("VBROADCASTI128", "high"+tables, 0, "Y13")
	}, func(a *Asm) {
		nibbles(a)
		for i, x := range []string{"Y0", "Y2"} {
			a.Op("VPERMQ", "$0xd8", x, x)
			a.Op("VPSHUFB", x, "Y14", "Y4")
			a.Op("VPSHUFB", x, "Y13", "Y5")
			a.do(`VPUNPCKLBW Y5, Y4, Y6
				VPUNPCKHBW Y5, Y4, Y7`)
			a.Op("VMOVDQU", "Y6", at("DI", 64*i))
			a.Op("VMOVDQU", "Y7", at("DI", 64*i+32))
		}
	})
}

// halvesAVX512 makes of a byte's nibbles the numbers of two words of a table; of each word VPERMW
// looks at 5 bits, so that the table is there twice.
func halvesAVX512(name, table string) func(*Asm) {
	return widening(avx512, name, "uint16", 32, 128, func(a *Asm) {
		a.broadcast("VBROADCASTI64X4", "words"+table, 0, "Z15")
	}, func(a *Asm) {
		a.times(2, "VPMOVZXBD", every(16, "SI"), avx512.from(0))
		a.do(`VPSLLD $12, Z0, Z2
			VPSLLD $12, Z1, Z3
			VPORD Z2, Z0, Z0
			VPORD Z3, Z1, Z1
			VPERMW Z15, Z0, Z0
			VPERMW Z15, Z1, Z1`)
		a.times(2, "VMOVDQU32", avx512.from(0), avx512.in("DI"))
	})
}

// wordsOfInt4 has 0 … 7, -8 … -1 as bfloat16: their low bytes, their high bytes, and whole; and so
// the numbers of float4_e2m1fn, behind names with a 4.
var wordsOfInt4 = constants(constant{"nibble", []uint32{0x0f0f0f0f}}, constant{"eight", []uint32{0x08080808}},
	constant{"low", []uint32{0x40008000, 0xe0c0a080, 0xa0c0e000, 0x80004080}},
	constant{"high", []uint32{0x40403f00, 0x40404040, 0xc0c0c0c1, 0xbfc0c0c0}},
	constant{"words", []uint32{0x3f800000, 0x40404000, 0x40a04080, 0x40e040c0, 0xc0e0c100, 0xc0a0c0c0, 0xc040c080, 0xbf80c000}},
	constant{"powers", []uint32{0x00ff00ff, 0x00400040}},
	constant{"twice4", []uint32{0x03020100, 0x0c080604, 0xfdfeff00, 0xf4f8fafc}}, // twice its numbers
	constant{"low4", []uint32{0xc0800000, 0xc0804000, 0xc0800000, 0xc0804000}},
	constant{"high4", []uint32{0x3f3f3f00, 0x40404040, 0xbfbfbf80, 0xc0c0c0c0}},
	constant{"words4", []uint32{0x3f000000, 0x3fc03f80, 0x40404000, 0x40c04080, 0xbf008000, 0xbfc0bf80, 0xc040c000, 0xc0c0c080}})

// nibbles leaves the 32 nibbles of 16 bytes in the bytes of Y0, in order, and those of the next in
// Y2.
func nibbles(a *Asm) {
	for i, x := range []string{"Y0", "Y2"} {
		t := avx2.reg(2*i + 1)
		a.Op("VPMOVZXBW", at("SI", 16*i), x)
		a.Op("VPSLLW", "$4", x, t)
		a.Op("VPOR", t, x, x)
		a.Op("VPAND", "Y15", x, x)
	}
}

// codes are a float8. A bfloat16 has the exponent and mantissa of one, without its sign c, at
// another place and of another bias:
//
//	c << (7 - mantissa) + (127 - bias) << 7
//
// The bias has no bits in the low byte, so that both bytes are made apart. Codes whose exponent is
// 0 are denormal here and normal there: looked up in a table. From top on they are infinity and
// NaN, whose exponent has all bits set.
type codes struct {
	name        string
	left, right string    // shifts to the low and to the high byte
	words       [5]uint32 // masks of the low and the high byte, bias in this, exponent, and the last before top
	low, high   [4]uint32 // bytes of the numbers looked up
}

var (
	codesE4M3 = codes{"E4M3", "$4", "$4", [5]uint32{0xf0f0f0f0, 0x07070707, 0x3c3c3c3c, 0x78787878, 0x7e7e7e7e},
		[4]uint32{0xc0800000, 0x60402000}, [4]uint32{0x3b3b3b00, 0x3c3c3c3c}} // 0 … 7 times 2^-9
	codesE5M2 = codes{"E5M2", "$5", "$3", [5]uint32{0xe0e0e0e0, 0x0f0f0f0f, 0x38383838, 0x7c7c7c7c, 0x7b7b7b7b},
		[4]uint32{0x40008000}, [4]uint32{0x38383700}} // 0 … 3 times 2^-16
	codesOfBoth = []constant{{"size", []uint32{0x7f7f7f7f}}, {"sign", []uint32{0x80808080}}}
)

func (c codes) constants() []constant {
	return []constant{{"of" + c.name, c.words[:]}, {"low" + c.name, c.low[:]}, {"high" + c.name, c.high[:]}}
}

func (c codes) widen(v Vector) func(*Asm) {
	table := "VBROADCASTI128"
	if v.Masks {
		table = "VBROADCASTI32X4"
	}
	return widening(v, "float8"+c.name, "uint16", 64, 128, func(a *Asm) {
		a.broadcast("VPBROADCASTD", "size", 0, v.reg(15))
		for i := range c.words {
			a.broadcast("VPBROADCASTD", "of"+c.name, i, v.reg(14-i))
		}
		a.broadcast(table, "low"+c.name, 0, v.reg(9))
		a.broadcast(table, "high"+c.name, 0, v.reg(8))
		if v.Masks {
			a.broadcast("VPBROADCASTD", "sign", 0, "Z7")
			a.broadcast("VMOVDQU64", "spread", 0, "Z6")
		}
	}, func(a *Asm) {
		if v.Masks {
			c.all(a)
			return
		}
		c.half(a, 0)
		c.half(a, 1)
	})
}

// half writes the bfloat16s of 32 codes.
func (c codes) half(a *Asm, i int) {
	a.Op("VPERMQ", "$0xd8", at("SI", 32*i), "Y0")
	a.Op("VPSLLW", c.left, "Y0", "Y1")
	a.do(`VPAND Y14, Y1, Y1`)
	a.Op("VPSRLW", c.right, "Y0", "Y2")
	a.do(`VPAND Y13, Y2, Y2
		VPADDB Y12, Y2, Y2
		VPAND Y15, Y0, Y3
		VPXOR Y4, Y4, Y4
		VPAND Y11, Y0, Y5
		VPCMPEQB Y4, Y5, Y5
		VPSHUFB Y3, Y9, Y4
		VPBLENDVB Y5, Y4, Y1, Y1
		VPSHUFB Y3, Y8, Y4
		VPBLENDVB Y5, Y4, Y2, Y2
		VPCMPGTB Y10, Y3, Y4
		VPAND Y15, Y4, Y4
		VPOR Y4, Y2, Y2
		VPANDN Y0, Y15, Y0
		VPOR Y0, Y2, Y2
		VPUNPCKLBW Y2, Y1, Y3
		VPUNPCKHBW Y2, Y1, Y4`)
	a.Op("VMOVDQU", "Y3", at("DI", 64*i))
	a.Op("VMOVDQU", "Y4", at("DI", 64*i+32))
}

// all writes the bfloat16s of 64 codes.
func (c codes) all(a *Asm) {
	a.do(`VPERMQ (SI), Z6, Z0`)
	a.Op("VPSLLW", c.left, "Z0", "Z1")
	a.do(`VPANDD Z14, Z1, Z1`)
	a.Op("VPSRLW", c.right, "Z0", "Z2")
	a.do(`VPANDD Z13, Z2, Z2
		VPADDB Z12, Z2, Z2
		VPANDD Z15, Z0, Z3
		VPTESTNMB Z11, Z0, K1
		VPSHUFB Z3, Z9, K1, Z1
		VPSHUFB Z3, Z8, K1, Z2
		VPCMPGTB Z10, Z3, K2
		VMOVDQU8 Z15, K2, Z2
		VPTERNLOGD $0xf8, Z7, Z0, Z2
		VPUNPCKLBW Z2, Z1, Z3
		VPUNPCKHBW Z2, Z1, Z4
		VMOVDQU64 Z3, (DI)
		VMOVDQU64 Z4, 64(DI)`)
}
