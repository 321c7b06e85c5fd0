package asmgen

import "math"

// The routines of package vexp: exponentials, sums and the largest of rows.

// vexpNumbers are those of vexp.go: the bounds of both arguments, log₂e in two parts, the
// coefficients, the constant first, and the bias of an exponent.
var vexpNumbers = constants(constant{"numbers", append(bitsOf(200, -200, 150, -150, 1.44269502, 1.92596303e-8,
	1, 0.693147206, 0.240226469, 0.0555032878, 0.00961848896, 0.00133999312, 0.00015345812), 127)})

func bitsOf(list ...float32) (words []uint32) {
	for _, v := range list {
		words = append(words, math.Float32bits(v))
	}
	return words
}

func vexp(v Vector) []func(*Asm) {
	list := []func(*Asm){vexpNumbers}
	if v.Masks {
		list = append(list, power512("exp2"), power512("exp"), sumsOfRows, largestOfRows)
	} else {
		list = append(list, power256("exp2"), power256("exp"), largestOf)
	}
	return append(list, halves(v), sum(v))
}

// bounds and parts bring numbers to registers.
func numbersTo(a *Asm, first int, regs ...string) {
	for i, reg := range regs {
		a.broadcast("VBROADCASTSS", "numbers", first+i, reg)
	}
}

// power512 is 2^x or e^x of x - less for rows that are ldd and ldx elements apart, less being a
// number for each. Z16 … Z22 are the coefficients, Z24 … Z27 the bounds and the parts of log₂e.
func power512(name string) func(*Asm) {
	return func(a *Asm) {
		a.Func(name+"AVX512", "(dst *float32, ldd int, x *float32, ldx int, less *float32, rows, n int)", "R8", "R10", "R9", "R11", "BX", "R12")
		a.do(`SHLQ $2, R10
			SHLQ $2, R11`)
		if name == "exp" {
			numbersTo(a, 2, avx512.regs(24, 28)...)
		} else {
			numbersTo(a, 0, avx512.regs(24, 26)...)
		}
		numbersTo(a, 6, avx512.regs(16, 23)...)
		a.eachRow("R12", func() {
			a.do(`MOVQ R8, DI
				MOVQ R9, SI
				VBROADCASTSS (BX), Z15`)
			a.load("n", "CX")
			a.over(16, "CX", func() {
				a.do(`VMOVUPS (SI), Z0
					VSUBPS Z15, Z0, Z0
					VMAXPS Z0, Z25, Z0 // a NaN stays: it is the second operand
					VMINPS Z0, Z24, Z0`)
				if name == "exp" {
					a.do(`VMULPS Z26, Z0, Z1
						VRNDSCALEPS $8, Z1, Z1
						VMOVAPS Z0, Z2
						VFMSUB213PS Z1, Z26, Z2 // x·log₂e − n, rounded once
						VFMADD231PS Z27, Z0, Z2`)
				} else {
					a.do(`VRNDSCALEPS $8, Z0, Z1
						VSUBPS Z1, Z0, Z2`)
				}
				polynomial(a, avx512.regs(16, 23), "Z2", "Z3")
				a.do(`VSCALEFPS Z1, Z3, Z3
					VMOVUPS Z3, (DI)`)
				a.advance(64, "SI", "DI")
			})
		}, func() {
			a.do(`ADDQ R10, R8
				ADDQ R11, R9
				ADDQ $4, BX`)
		})
		a.Return()
	}
}

// polynomial is that of coefficients, the constant first, of x.
func polynomial(a *Asm, coefficients []string, x, to string) {
	last := len(coefficients) - 1
	a.Op("VMOVAPS", coefficients[last], to)
	for i := last - 1; i >= 0; i-- {
		a.Op("VFMADD213PS", coefficients[i], x, to)
	}
}

// power256 is power512 of one row: the power of two is two that float32 holds, of which the first
// product is exact. Y8 … Y14 are the coefficients, Y5, Y6 and Y4 bounds and a part of log₂e.
func power256(name string) func(*Asm) {
	return func(a *Asm) {
		a.Func(name+"AVX2", "(dst, x *float32, less float32, n int)", "DI", "SI", "Y15", "CX")
		if name == "exp" {
			numbersTo(a, 2, "Y5", "Y6", "Y4")
		} else {
			numbersTo(a, 0, "Y5", "Y6")
		}
		a.broadcast("VPBROADCASTD", "numbers", 13, "Y7")
		numbersTo(a, 6, avx2.regs(8, 15)...)
		a.over(8, "CX", func() {
			a.do(`VMOVUPS (SI), Y0
				VSUBPS Y15, Y0, Y0
				VMAXPS Y0, Y6, Y0
				VMINPS Y0, Y5, Y0`)
			if name == "exp" {
				a.do(`VMULPS Y4, Y0, Y1
					VROUNDPS $8, Y1, Y1
					VMOVAPS Y0, Y2
					VFMSUB213PS Y1, Y4, Y2`)
				numbersTo(a, 5, "Y3")
				a.do(`VFMADD231PS Y3, Y0, Y2`)
			} else {
				a.do(`VROUNDPS $8, Y0, Y1
					VSUBPS Y1, Y0, Y2`)
			}
			polynomial(a, avx2.regs(8, 15), "Y2", "Y3")
			a.do(`VCVTPS2DQ Y1, Y1
				VPSRAD $1, Y1, Y2
				VPSUBD Y2, Y1, Y1
				VPADDD Y7, Y2, Y2
				VPADDD Y7, Y1, Y1
				VPSLLD $23, Y2, Y2
				VPSLLD $23, Y1, Y1
				VMULPS Y2, Y3, Y3
				VMULPS Y1, Y3, Y3
				VMOVUPS Y3, (DI)`)
			a.advance(32, "SI", "DI")
		})
		a.Return()
	}
}

// sumLanes is how many sums there are; sumVectors how many registers hold them.
const sumLanes = 32

func (v Vector) sumVectors() int { return sumLanes / v.Lanes }

// halve adds all sums to the first lane of the first register.
func (v Vector) halve(a *Asm) {
	a.Op("VADDPS", v.reg(1), v.reg(0), v.reg(0))
	v.across(a, "VADDPS", v.reg(0), v.reg(1), "VEXTRACTF128")
}

func halves(v Vector) func(*Asm) {
	return func(a *Asm) {
		a.Func("halves"+v.Suffix, "(sums *float32) float32", "SI")
		a.times(2, "VMOVUPS", v.in("SI"), v.from(0))
		if v.sumVectors() > 2 {
			for i := range 2 {
				a.Op("VADDPS", at("SI", (2+i)*v.bytes()), v.reg(i), v.reg(i))
			}
		}
		v.halve(a)
		a.Op("VMOVSS", "X0", a.arg("ret"))
		a.Return()
	}
}

func sum(v Vector) func(*Asm) {
	return func(a *Asm) {
		a.Func("sum"+v.Suffix, "(sums, x *float32, n int)", "DI", "SI", "CX")
		n := v.sumVectors()
		a.times(n, "VMOVUPS", v.in("DI"), v.from(0))
		a.over(sumLanes, "CX", func() {
			a.times(n, "VADDPS", v.in("SI"), v.from(0), v.from(0))
			a.advance(4*sumLanes, "SI")
		})
		a.times(n, "VMOVUPS", v.from(0), v.in("DI"))
		a.Return()
	}
}

// ofEachRow writes what body leaves in X0 to dst, one number for each of rows that are ldx
// elements apart.
func ofEachRow(a *Asm, body func()) {
	a.eachRow("R12", func() {
		a.do(`MOVQ R9, SI`)
		a.load("n", "CX")
		body()
		a.do(`VMOVSS X0, (DI)`)
	}, func() {
		a.do(`ADDQ $4, DI
			ADDQ R11, R9`)
	})
}

func sumsOfRows(a *Asm) {
	a.Func("sumsAVX512", "(dst, x *float32, ldx, rows, n int)", "DI", "R9", "R11", "R12")
	a.do(`SHLQ $2, R11`)
	ofEachRow(a, func() {
		a.times(2, "VXORPS", avx512.from(0), avx512.from(0), avx512.from(0))
		a.over(sumLanes, "CX", func() {
			a.times(2, "VADDPS", avx512.in("SI"), avx512.from(0), avx512.from(0))
			a.advance(128, "SI")
		})
		avx512.halve(a)
	})
	a.Return()
}

// largestOfRows has in K1 where one of two numbers is a NaN.
func largestOfRows(a *Asm) {
	a.Func("largestAVX512", "(dst, x *float32, ldx, rows, n int) (unordered uint32)", "DI", "R9", "R11", "R12")
	a.do(`SHLQ $2, R11
		KXORW K1, K1, K1`)
	ofEachRow(a, func() {
		a.do(`VMOVUPS (SI), Z0
			VMOVAPS Z0, Z1`)
		a.over(sumLanes, "CX", func() {
			a.times(2, "VMOVUPS", avx512.in("SI"), avx512.from(2))
			a.do(`VCMPPS $3, Z3, Z2, K2
				VMAXPS Z2, Z0, Z0
				VMAXPS Z3, Z1, Z1
				KORW K2, K1, K1
				ADDQ $128, SI`)
		})
		a.do(`VMAXPS Z1, Z0, Z0`)
		avx512.across(a, "VMAXPS", "Z0", "Z1", "VEXTRACTF128")
	})
	a.do(`KMOVW K1, AX`)
	a.Op("MOVL", "AX", a.arg("unordered"))
	a.Return()
}

func largestOf(a *Asm) {
	a.Func("largestAVX2", "(x *float32, n int) (top float32, unordered uint32)", "SI", "CX")
	a.do(`VMOVUPS (SI), Y0
		VMOVAPS Y0, Y1
		VXORPS Y7, Y7, Y7`)
	a.over(sumLanes, "CX", func() {
		a.times(4, "VMOVUPS", avx2.in("SI"), avx2.from(2))
		a.do(`VCMPPS $3, Y3, Y2, Y6
			VORPS Y6, Y7, Y7
			VCMPPS $3, Y5, Y4, Y6
			VORPS Y6, Y7, Y7
			VMAXPS Y2, Y0, Y0
			VMAXPS Y3, Y1, Y1
			VMAXPS Y4, Y0, Y0
			VMAXPS Y5, Y1, Y1
			ADDQ $128, SI`)
	})
	a.do(`VMAXPS Y1, Y0, Y0`)
	avx2.across(a, "VMAXPS", "Y0", "Y1", "VEXTRACTF128")
	a.Op("VMOVSS", "X0", a.arg("top"))
	a.do(`VMOVMSKPS Y7, AX`)
	a.Op("MOVL", "AX", a.arg("unordered"))
	a.Return()
}
