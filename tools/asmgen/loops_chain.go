package asmgen

import (
	"fmt"
	"slices"
)

// A chain is operations on some elements of rows, one after another, in registers: package rows
// lists them, and says what each computes. Each is a routine that ends with a jump to the next: one
// for many elements, all of which are there, and one for half as many. With masks there is one for
// a pair of rows, too, where a row is half as many.
//
//	registers 0 … 7    the elements in hand
//	          8 … 11   operands on their way
//	          12 … 15  sums
//	R8 the chain and R9 that plus 8 times the operation in hand; lists of numbers, of operands, of
//	bytes from row to row of those, of where they are in the row in hand, and of the addresses of
//	the routines; R10 bytes of a list that are in use, SI the operand, DI that of the next row, R12 the routines by number, AX the first element, CX elements of
//	a row, DX those that are left of it, R13 rows that are left
//
// With masks K1 … K4 say which elements of half there are.
type chain struct {
	Vector
	vectors  int         // in hand
	pair     bool        // of two rows
	routines [3][]string // by number: of many, of half and of pairs
}

const (
	chained = 8  // vectors
	links   = 24 // the most operations of a chain

	loadsAhead = 2048 // bytes: L1 is asked for them, from memory rows then come a fifth faster
)

// Lists of a chain.
const (
	chainDo = 8 * links * iota
	chainAt
	chainStep
	chainPlace
	chainRoutine
	chainHalf
	chainPair
)

func (c *chain) half() bool { return c.vectors < chained }

func (c *chain) elements() int { return c.vectors * c.Lanes }

// list is the number of that of the routines.
func (c *chain) list() int {
	switch {
	case c.pair:
		return 2
	case c.half():
		return 1
	}
	return 0
}

// masked is a mask behind the operands before the last, for vector i.
func (c *chain) masked(a *Asm, mnemonic string, i int, operands ...string) {
	if c.Masks && c.half() {
		last := len(operands) - 1
		operands = append(append(append([]string(nil), operands[:last]...), fmt.Sprintf("K%d", i+1)), operands[last])
	}
	a.Op(mnemonic, operands...)
}

// zeroing loads nothing where a mask has nothing.
func (c *chain) zeroing(mnemonic string) string {
	if c.Masks && c.half() {
		return mnemonic + ".Z"
	}
	return mnemonic
}

// name is that of a routine.
func (c *chain) name(of string) string {
	return of + []string{"", "Half", "Pair"}[c.list()] + c.Suffix
}

func (c *chain) routine(a *Asm, name string, body func()) {
	name = c.name(name)
	a.labels = 0
	a.raw("\nTEXT %s<>(SB), NOSPLIT, $0-0\n", name)
	a.Op("MOVQ", at("R9", chainPlace), "SI")
	if c.pair {
		a.Op("MOVQ", at("R9", chainStep), "DI")
		a.Op("ADDQ", "SI", "DI")
	}
	body()
	c.routines[c.list()] = append(c.routines[c.list()], name)
}

// jump goes to the routine of the operation in hand.
func (c *chain) jump(a *Asm) {
	a.Op("JMP", at("R9", []int{chainRoutine, chainHalf, chainPair}[c.list()]))
}

func (c *chain) next(a *Asm) {
	a.Op("ADDQ", imm(8), "R9")
	c.jump(a)
}

func (c *chain) step(a *Asm, name string, body func()) {
	c.routine(a, name, func() {
		body()
		c.next(a)
	})
}

// each writes instructions for all vectors in hand.
func (c *chain) each(do func(i int)) {
	for i := range c.vectors {
		do(i)
	}
}

// of is vector i of elements of so many bytes, ahead is what lies some bytes behind it.
func (c *chain) of(i, bytes int) string { return c.ahead(0, i, bytes) }

func (c *chain) ahead(by, i, bytes int) string {
	if first := chained / 2; c.pair && i >= first {
		return at("DI", by+(i-first)*c.Lanes*bytes)
	}
	return indexed(at("SI", by+i*c.Lanes*bytes), "AX", bytes)
}

// operate writes an operation on the elements in hand and an operand of each kind.
func (c *chain) operate(a *Asm, name string, do func(i int, operand string, memory bool)) {
	for kind := range 6 {
		c.step(a, fmt.Sprintf("%s%d", name, kind), func() {
			if name == "load" && kind < 3 && c.Masks {
				bytes := []int{4, 2, 4}[kind]
				for i := 0; i < c.vectors; i += 4 / bytes {
					a.Op("PREFETCHT0", c.ahead(loadsAhead, i, bytes))
				}
			}
			number := func(int) string { return c.reg(8) }
			if kind == 3 {
				a.Op("VBROADCASTSS", "(SI)", c.reg(8))
				if c.pair {
					a.Op("VBROADCASTSS", "(DI)", c.reg(9))
					number = func(i int) string { return c.reg(8 + i/(chained/2)) }
				}
			}
			c.each(func(i int) {
				operand := []string{c.of(i, 4), c.reg(8 + i%4), c.reg(8 + i%4), number(i), at("SI", i*c.bytes()), c.reg(i)}[kind]
				switch {
				case kind == 1 && c.Masks && !c.half(): // permutations take one operation, and one load for two
					if i%2 == 0 {
						a.Op("VMOVDQU64", c.of(i, 2), "Z25")
					}
					a.Op("VPERMW.Z", "Z25", c.reg(23+i%2), "K7", operand)
				case kind == 1:
					c.masked(a, c.zeroing("VPMOVZXWD"), i, c.of(i, 2), operand)
					a.Op("VPSLLD", "$16", operand, operand)
				case kind == 2:
					c.masked(a, c.zeroing("VCVTDQ2PS"), i, c.of(i, 4), operand)
				}
				do(i, operand, kind == 0 || kind == 4)
			})
		})
	}
}

// arithmetic is an instruction, or that with its operands the other way round.
func (c *chain) arithmetic(a *Asm, mnemonic string, turned bool) func(i int, operand string, memory bool) {
	return func(i int, operand string, memory bool) {
		x := c.reg(i)
		switch {
		case memory && turned:
			c.masked(a, c.zeroing("VMOVUPS"), i, operand, c.reg(8+i%4))
			a.Op(mnemonic, x, c.reg(8+i%4), x)
		case memory:
			c.masked(a, mnemonic, i, operand, x, x)
		case turned:
			a.Op(mnemonic, x, operand, x)
		default:
			a.Op(mnemonic, operand, x, x)
		}
	}
}

// round leaves vector i rounded to bfloat16 in the upper halves of register to: x + 0x7fff + bit 16
// of x, or x | quiet for a NaN; with masks x + 0x8000, of a tie without the last bit.
func (c *chain) round(a *Asm, i, to int) {
	x, t := c.reg(i), c.reg(to)
	if c.Masks {
		a.Op("VPADDD", "Z16", x, t)
		a.Op("VPTESTNMD", "Z18", t, "K5")
		a.Op("VCMPPS", "$3", x, x, "K6")
		a.Op("VPANDND", t, "Z17", "K5", t)
		a.Op("VPORD", "Z19", x, "K6", t)
		return
	}
	word := func(i int) string { return constantAt("chainWords", 8*i) }
	a.Op("VPSRLD", "$16", x, t)
	a.Op("VPAND", word(0), t, t)
	a.Op("VPADDD", word(1), t, t)
	a.Op("VPADDD", x, t, t)
	a.Op("VCMPPS", "$3", x, x, "Y11")
	a.Op("VPOR", word(2), x, x)
	a.Op("VBLENDVPS", "Y11", x, t, t)
}

// bfloat16 stores rounded elements; with native instructions, which count denormals as zero, where
// there are none.
func (c *chain) bfloat16(a *Asm, name, store string, native bool) {
	c.step(a, name, func() {
		if store == "VMOVNTDQ" {
			c.unlessAll(a, "storeBFloat16")
		}
		if native {
			c.native(a)
		}
		for i := 0; i < c.vectors; i += 2 {
			x, y := c.reg(8+i%4), c.reg(9+i%4)
			switch {
			case native:
				x = c.reg(8 + i/2)
			case c.Masks:
				c.round(a, i, 8+i%4)
				c.round(a, i+1, 9+i%4)
				a.Op("VPERMT2W", y, "Z20", x)
			default:
				x, y = "Y8", "Y9"
				c.round(a, i, 8)
				c.round(a, i+1, 9)
				a.Op("VPSRLD", "$16", x, x)
				a.Op("VPSRLD", "$16", y, y)
				a.Op("VPACKUSDW", y, x, x)
				a.Op("VPERMQ", "$0xd8", x, x)
			}
			if c.Masks && c.half() && store != "VMOVNTDQ" {
				a.Op("KUNPCKWD", fmt.Sprintf("K%d", i+1), fmt.Sprintf("K%d", i+2), "K5")
				a.Op("VMOVDQU16", x, "K5", c.of(i, 2))
			} else {
				a.Op(store, x, c.of(i, 2))
			}
		}
	})
}

// native leaves rounded elements in registers from 8 on. The instruction makes denormals zero: where
// it has made zeros, it is asked whether of those.
func (c *chain) native(a *Asm) {
	for i := 0; i < c.vectors; i += 2 {
		a.Encoded("VCVTNE2PS2BF16", c.reg(i), c.reg(i+1), c.reg(8+i/2))
	}
	a.Op("VPTESTMW", "Z22", "Z8", "K5")
	for i := 2; i < c.vectors; i += 2 { // of those that are not zero so far
		a.Op("VPTESTMW", "Z22", c.reg(8+i/2), "K5", "K5")
	}
	a.Op("KORTESTD", "K5", "K5")
	none := a.NewLabel("none")
	a.Op("JCS", string(none))
	a.Op("VFPCLASSPSZ", "$0x20", c.reg(0), "K5")
	for i := 1; i < c.vectors; i++ {
		a.Op("VFPCLASSPSZ", "$0x20", c.reg(i), "K6")
		a.Op("KORW", "K5", "K6", "K5")
	}
	a.Op("KORTESTW", "K5", "K5")
	c.unless(a, "JEQ", "storeBFloat16")
	a.Place(none)
}

// unlessAll goes on to another routine where a row ends within what is in hand.
func (c *chain) unlessAll(a *Asm, to string) {
	if c.Masks && c.half() {
		a.Op("CMPQ", "DX", imm(c.elements()))
		c.unless(a, "JGE", to)
	}
}

// unless goes on to another routine but where a condition holds.
func (c *chain) unless(a *Asm, condition, to string) {
	here := a.NewLabel("here")
	a.Op(condition, string(here))
	a.Op("JMP", c.name(to)+"<>(SB)")
	a.Place(here)
}

// turn begins with the next elements, of the next row after the last of one.
func (c *chain) turn(a *Asm, name string, sums bool) {
	many, half := chain{Vector: c.Vector, vectors: chained}, chain{Vector: c.Vector, vectors: chained / 2}
	if c.pair {
		c.routine(a, name, func() {
			last, over := a.NewLabel("last"), a.NewLabel("over")
			c.places(a, chainPlace)
			a.do(`MOVQ R8, R9
				SUBQ $2, R13`)
			a.Op("JEQ", string(over))
			a.Op("CMPQ", "R13", imm(1))
			a.Op("JEQ", string(last))
			c.jump(a)
			a.Place(last)
			half.jump(a)
			a.Place(over)
			a.Return()
		})
		return
	}
	c.routine(a, name, func() {
		again, over, fewer, all := a.NewLabel("again"), a.NewLabel("over"), a.NewLabel("fewer"), a.NewLabel("all")
		a.Op("ADDQ", imm(c.elements()), "AX")
		a.Place(again)
		a.Op("MOVQ", "CX", "DX")
		a.Op("SUBQ", "AX", "DX")
		a.Op("JLE", string(over))
		a.Op("MOVQ", "R8", "R9")
		a.Op("CMPQ", "DX", imm(many.elements()))
		a.Op("JLT", string(fewer))
		many.jump(a)
		a.Place(fewer)
		if c.Masks {
			a.Op("CMPQ", "DX", imm(half.elements()))
			a.Op("JGE", string(all))
			a.do(`MOVQ $-1, BX
				BZHIQ DX, BX, BX`)
			half.masks(a, func(i int, k string) {
				if i > 0 {
					a.Op("SHRQ", imm(c.Lanes), "BX")
				}
				a.Op("KMOVW", "BX", k)
			})
			a.Place(all)
		}
		half.jump(a)
		a.Place(over)
		if sums {
			if c.Masks { // added up
				a.Op("VADDPS", "Z13", "Z12", "Z12")
				c.across(a, "VADDPS", "Z12", "Z13", "VEXTRACTF128")
				a.Op("VMOVSS", "X12", "(SI)")
			} else {
				a.times(4, "VMOVUPS", c.from(12), c.in("SI"))
			}
			c.zero(a, c.sums()...)
		}
		if c.Masks {
			whole := a.NewLabel("whole")
			a.Op("TESTQ", imm(half.elements()-1), "CX")
			a.Op("JEQ", string(whole))
			half.masks(a, func(_ int, k string) { a.Op("KXNORW", k, k, k) })
			a.Place(whole)
		}
		c.places(a, chainPlace)
		a.Op("MOVQ", at("R9", chainPlace), "SI")
		a.do(`XORQ AX, AX
			DECQ R13`)
		a.Op("JNZ", string(again))
		a.Return()
	})
}

// masks writes what makes each.
func (c *chain) masks(a *Asm, to func(i int, k string)) {
	c.each(func(i int) { to(i, fmt.Sprintf("K%d", i+1)) })
}

// places has operands where they are in a row: a step behind those of a list, or at the first.
func (c *chain) places(a *Asm, list int) {
	done := a.NewLabel("placed")
	defer a.Place(done)
	for i := 0; i < links*8; i += c.bytes() {
		if i > 0 {
			a.Op("CMPQ", "R10", imm(i))
			a.Op("JLE", string(done))
		}
		x := c.reg(8 + i/c.bytes()%4)
		a.Op("VMOVUPS", at("R8", list+i), x)
		if list == chainPlace {
			a.Op("VPADDQ", at("R8", chainStep+i), x, x)
			if c.pair {
				a.Op("VPADDQ", at("R8", chainStep+i), x, x)
			}
		}
		a.Op("VMOVUPS", x, at("R8", chainPlace+i))
	}
}

func (c *chain) sums() []string { return c.regs(12, 12+c.sumVectors()) }

// operations writes the routines for so many vectors.
func (c *chain) operations(a *Asm) {
	store := "VMOVDQU"
	if c.Masks {
		store = "VMOVDQU64"
	}
	c.operate(a, "load", func(i int, operand string, memory bool) {
		switch {
		case memory:
			c.masked(a, c.zeroing("VMOVUPS"), i, operand, c.reg(i))
		case operand != c.reg(i):
			a.Op("VMOVAPS", operand, c.reg(i))
		}
	})
	c.operate(a, "add", c.arithmetic(a, "VADDPS", false))
	c.operate(a, "sub", c.arithmetic(a, "VSUBPS", false))
	c.operate(a, "subFrom", c.arithmetic(a, "VSUBPS", true))
	c.operate(a, "mul", c.arithmetic(a, "VMULPS", false))
	c.operate(a, "div", c.arithmetic(a, "VDIVPS", false))
	c.operate(a, "divInto", c.arithmetic(a, "VDIVPS", true))
	c.step(a, "keep", func() { a.times(c.vectors, "VMOVUPS", c.from(0), c.in("SI")) })
	c.step(a, "shuffle", func() {
		a.Op("VMOVUPS", "(SI)", c.reg(8))
		a.Op("VMOVUPS", "64(SI)", c.reg(9))
		c.each(func(i int) {
			a.Op("VPERMPS", c.reg(i), c.reg(8), c.reg(i))
			a.Op(c.bitwise("VPXOR"), c.reg(9), c.reg(i), c.reg(i))
		})
	})
	c.step(a, "round", func() {
		c.each(func(i int) {
			c.round(a, i, 8+i%3)
			if c.Masks {
				a.Op("VPANDD", "Z21", c.reg(8+i%3), c.reg(i))
			} else {
				a.Op("VPAND", constantAt("chainWords", 24), c.reg(8+i%3), c.reg(i))
			}
		})
	})
	for _, scale := range []int{1, 2, 4} {
		c.step(a, fmt.Sprintf("ask%d", scale), func() {
			rows, bytes := 1, c.elements()*scale
			if c.pair {
				rows, bytes = 2, bytes/2
			}
			for line := 0; line < bytes; line += 64 {
				for _, row := range []string{"SI", "DI"}[:rows] {
					a.Op("PREFETCHT1", indexed(at(row, line), "AX", scale))
				}
			}
		})
	}
	c.step(a, "sum", func() {
		sums := c.sums()
		c.each(func(i int) { c.masked(a, "VADDPS", i, c.reg(i), sums[i%len(sums)], sums[i%len(sums)]) })
	})
	c.step(a, "storeFloat32", func() {
		c.each(func(i int) { c.masked(a, "VMOVUPS", i, c.reg(i), c.of(i, 4)) })
	})
	c.step(a, "storeFloat32Past", func() {
		c.unlessAll(a, "storeFloat32")
		c.each(func(i int) { a.Op("VMOVNTPS", c.reg(i), c.of(i, 4)) })
	})
	c.bfloat16(a, "storeBFloat16", store, false)
	c.bfloat16(a, "storeBFloat16Past", "VMOVNTDQ", false)
	c.turn(a, "turn", false)
	c.turn(a, "turnSum", true)
	if c.Masks {
		c.bfloat16(a, "storeBFloat16Native", store, true)
		c.bfloat16(a, "storeBFloat16PastNative", "VMOVNTDQ", true)
	}
}

// chains are the routines of an instruction set.
func chains(v Vector) func(*Asm) {
	return func(a *Asm) {
		c := &chain{Vector: v}
		if v.Masks {
			var words []uint32
			for i := range uint32(32) { // of words the first half to upper halves, then the second
				words = append(words, i<<16)
			}
			constants(constant{"widen", words})(a)
		} else {
			var words []uint32
			for _, w := range []uint32{1, 0x7fff, 1 << 22, 0xffff0000} {
				words = append(words, slices.Repeat([]uint32{w}, v.Lanes)...)
			}
			constants(constant{"chainWords", words})(a)
		}
		for _, c.vectors = range []int{chained, chained / 2} {
			c.operations(a)
		}
		if v.Masks {
			pair := &chain{Vector: v, vectors: chained, pair: true}
			pair.operations(a)
			c.routines[2] = pair.routines[2]
		}
		turn := slices.Index(c.routines[0], "turn"+v.Suffix)
		a.raw("\n")
		for i := range c.routines[0] {
			for j, list := range c.routines {
				if list != nil {
					a.raw("DATA chain<>+%d(SB)/8, $%s<>(SB)\n", 32*i+8*j, list[i])
				}
			}
		}
		a.raw("GLOBL chain<>(SB), NOPTR, $%d\n", 32*len(c.routines[0]))

		a.Func("chain"+v.Suffix, "(c *Chain, rows, n int, native bool)", "R8", "R13", "CX")
		a.do(`LEAQ chain<>(SB), R12
			MOVQ R8, R9`)
		find := a.NewLabel("find")
		a.Place(find)
		a.Op("MOVQ", "(R9)", "BX")
		if v.Masks {
			usual := a.NewLabel("usual")
			a.Op("CMPB", a.arg("native"), imm(0))
			a.Op("JEQ", string(usual))
			a.do(fmt.Sprintf("LEAQ -%d(BX), SI\nCMPQ SI, $2", turn-2))
			a.Op("JCC", string(usual))
			a.Op("LEAQ", fmt.Sprintf("%d(SI)", turn+2), "BX")
			a.Place(usual)
		}
		a.Op("SHLQ", "$5", "BX")
		for i, list := range []int{chainRoutine, chainHalf, chainPair} {
			if c.routines[i] != nil {
				a.Op("MOVQ", fmt.Sprintf("%d(R12)(BX*1)", 8*i), "SI")
				a.Op("MOVQ", "SI", at("R9", list))
			}
		}
		a.Op("MOVQ", "(R9)", "BX")
		a.Op("ADDQ", imm(8), "R9")
		a.Op("CMPQ", "BX", imm(turn))
		a.Op("JLT", string(find))
		if v.Masks {
			for i, reg := range []string{"Z16", "Z17", "Z18", "Z19"} {
				a.broadcast("VPBROADCASTD", "rounding", i, reg)
			}
			a.Op("VMOVDQU64", constantAt("highs", 0), "Z20")
			a.do(`MOVL $0xaaaaaaaa, DX
				KMOVD DX, K7
				VMOVDQU64 widen<>(SB), Z23
				VMOVDQU64 widen<>+64(SB), Z24
				VPSLLD $16, Z18, Z21
				VPTERNLOGD $0xff, Z22, Z22, Z22
				VPSRLW $1, Z22, Z22`)
		}
		if v.Masks {
			c.masks(a, func(_ int, k string) { a.Op("KXNORW", k, k, k) })
		}
		c.zero(a, c.sums()...)
		a.do(`MOVQ R9, R10
			SUBQ R8, R10`)
		c.places(a, chainAt)
		if v.Masks { // BX is the operation that ends it
			one := a.NewLabel("one")
			a.Op("CMPQ", "CX", imm(c.elements()))
			a.Op("JNE", string(one))
			a.Op("CMPQ", "R13", imm(2))
			a.Op("JLT", string(one))
			a.Op("CMPQ", "BX", imm(turn))
			a.Op("JNE", string(one))
			a.do(`XORQ AX, AX
				MOVQ R8, R9`)
			a.Op("JMP", at("R9", chainPair))
			a.Place(one)
		}
		a.Op("MOVQ", imm(-c.elements()), "AX")
		a.Op("JMP", c.name("turn")+"<>(SB)")
	}
}
