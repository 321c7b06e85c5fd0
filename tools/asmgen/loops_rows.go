package asmgen

// rowsAVX2 and rowsAVX512 are the routines of package rows: loops over elements of rows.
func rowsAVX2() []func(*Asm) {
	return []func(*Asm){
		binary("add", "float32", "VADDPS"), binary("sub", "float32", "VSUBPS"), binary("mul", "float32", "VMULPS"),
		binary("addInt32", "int32", "VPADDD"), binary("subInt32", "int32", "VPSUBD"), binary("mulInt32", "int32", "VPMULLD"),
		extreme("max", "VMAXPS", "VANDPS"), extreme("min", "VMINPS", "VORPS"),
		selectElements,
		convert("fromInt32", "(dst *float32, x *int32, n int)", 64, 64, func(a *Asm) {
			a.times(2, "VCVTDQ2PS", avx2.in("SI"), avx2.from(0))
			a.times(2, "VMOVUPS", avx2.from(0), avx2.in("DI"))
		}),
		convert("fromBFloat16", "(dst *float32, x *uint16, n int)", 32, 64, func(a *Asm) {
			avx2.floats(a, 2, "SI", 0)
			a.times(2, "VMOVUPS", avx2.from(0), avx2.in("DI"))
		}),
		mulBFloat16(avx2),
	}
}

func rowsAVX512() []func(*Asm) {
	return []func(*Asm){
		constants(constant{"rounding", []uint32{0x8000, 0x10000, 0xffff, 1 << 22}}, constant{"highs", oddWords}),
		mulBFloat16(avx512),
	}
}

// oddWords orders the odd words of two registers one after another.
var oddWords = func() (words []uint32) {
	for i := range uint32(16) {
		words = append(words, (4*i+1)|(4*i+3)<<16)
	}
	return words
}()

// ofThree is a loop over two vectors of each of dst, x and y a turn, and of what more arguments
// there are.
func ofThree(name, signature string, regs []string, body func(a *Asm)) func(*Asm) {
	return func(a *Asm) {
		a.Func(name+"AVX2", signature, regs...)
		a.over(16, "CX", func() {
			body(a)
			a.advance(64, "SI", "DX", "DI")
		})
		a.Return()
	}
}

var threeRegisters = []string{"DI", "SI", "DX", "CX"}

func ofThreeFloats(name string, body func(a *Asm)) func(*Asm) {
	return ofThree(name, "(dst, x, y *float32, n int)", threeRegisters, body)
}

// binary is an operation on x and y.
func binary(name, kind, mnemonic string) func(*Asm) {
	return ofThree(name, "(dst, x, y *"+kind+", n int)", threeRegisters, func(a *Asm) {
		loadFloats(a)
		a.times(2, mnemonic, avx2.in("DX"), avx2.from(0), avx2.from(0))
		a.times(2, "VMOVUPS", avx2.from(0), avx2.in("DI"))
	})
}

func loadFloats(a *Asm) { a.times(2, "VMOVUPS", avx2.in("SI"), avx2.from(0)) }

// extreme is the larger or the smaller of x and y: the instruction returns its second operand
// for zeros of two signs and for NaN, so both orders are asked and meet in the sign of zero; NaN
// gets all bits.
func extreme(name, which, meet string) func(*Asm) {
	return ofThreeFloats(name, func(a *Asm) {
		loadFloats(a)
		a.times(2, "VMOVUPS", avx2.in("DX"), avx2.from(2))
		for i := range 2 {
			x, y, t, nan := avx2.reg(i), avx2.reg(2+i), avx2.reg(4+i), avx2.reg(7)
			a.Op(which, x, y, t)
			a.Op("VCMPPS", "$3", x, y, nan)
			a.Op(which, y, x, x)
			a.Op(meet, t, x, x)
			a.Op("VORPS", nan, x, x)
		}
		a.times(2, "VMOVUPS", avx2.from(0), avx2.in("DI"))
	})
}

var (
	// A blend looks at the sign.
	selectElements = ofThree("select", "(dst, x, y *float32, cond *bool, n int)", []string{"DI", "SI", "DX", "BX", "CX"}, func(a *Asm) {
		a.times(2, "VPMOVZXBD", every(8, "BX"), avx2.from(0))
		a.times(2, "VPSLLD", same("$31"), avx2.from(0), avx2.from(0))
		a.times(2, "VMOVUPS", avx2.in("DX"), avx2.from(2))
		a.times(2, "VBLENDVPS", avx2.from(0), avx2.in("SI"), avx2.from(2), avx2.from(2))
		a.times(2, "VMOVUPS", avx2.from(2), avx2.in("DI"))
		a.advance(16, "BX")
	})
)

// convert is a loop over sixteen elements of x, so many bytes, and of dst.
func convert(name, signature string, bytes, bytesOut int, body func(a *Asm)) func(*Asm) {
	return func(a *Asm) {
		a.Func(name+"AVX2", signature, "DI", "SI", "CX")
		a.over(16, "CX", func() {
			body(a)
			a.advance(bytes, "SI")
			a.advance(bytesOut, "DI")
		})
		a.Return()
	}
}

// floats are vectors of bfloat16 as float32, in registers from one number on.
func (v Vector) floats(a *Asm, n int, base string, first int) {
	a.times(n, "VPMOVZXWD", every(v.bytes()/2, base), v.from(first))
	a.times(n, "VPSLLD", same("$16"), v.from(first), v.from(first))
}

// mulBFloat16 multiplies bfloat16 by float32 where products are bfloat16 again: their upper halves.
func mulBFloat16(v Vector) func(*Asm) {
	return func(a *Asm) {
		a.Func("mulBFloat16"+v.Suffix, "(dst *uint16, by *float32, n int)", "DI", "SI", "CX")
		if v.Masks {
			a.Op("VMOVDQU64", constantAt("highs", 0), "Z9")
		}
		a.over(2*v.Lanes, "CX", func() {
			v.floats(a, 2, "DI", 0)
			a.times(2, "VMULPS", v.in("SI"), v.from(0), v.from(0))
			if v.Masks {
				a.do(`VPERMT2W Z1, Z9, Z0
					VMOVDQU64 Z0, (DI)`)
			} else {
				a.do(`VPSRLD $16, Y0, Y0
					VPSRLD $16, Y1, Y1
					VPACKUSDW Y1, Y0, Y0
					VPERMQ $0xd8, Y0, Y0
					VMOVDQU Y0, (DI)`)
			}
			a.advance(2*v.bytes(), "SI")
			a.advance(v.bytes(), "DI")
		})
		a.Return()
	}
}
