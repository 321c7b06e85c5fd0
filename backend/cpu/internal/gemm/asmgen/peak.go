package asmgen

import "fmt"

// peak writes a loop of nothing but products between registers, enough of
// them independent to hide their latency: the rate no kernel exceeds.
func peak(v Vector, p Product) func(*Asm) {
	return func(a *Asm) {
		wordsA, wordsB := v.reg(v.Registers-1), v.reg(v.Registers-2)
		scratch := []string{v.reg(v.Registers - 3), v.reg(v.Registers - 4)}
		turn := 0
		temp := func() string {
			turn++
			return scratch[turn%len(scratch)]
		}
		a.Func("peak"+p.Name+v.Suffix, []Arg{{Name: "turns"}}, []string{rCount})
		a.EOL("about 0.5 as float32 and twice as bfloat16")
		a.Op("MOVL", imm(0x3f013f02), "AX")
		a.Op("VMOVD", "AX", "X0")
		a.Op("VPBROADCASTD", "X0", wordsA)
		a.Op("VPBROADCASTD", "X0", wordsB)
		for i := range peakSums(v) {
			v.zero(a, v.reg(i))
		}
		a.CountDown(rCount, func() {
			for i := range peakSums(v) {
				p.multiplyAdd(a, wordsA, wordsB, v.reg(i), temp)
			}
		})
		a.Return()
	}
}

// peakSums is the number of independent sums; package probe counts with it.
func peakSums(v Vector) int { return v.Registers - v.Registers/4 }

// bfloat16s multiplies two bfloat16 a word. Go's assembler lacks VDPBF16PS,
// so it is written as bytes.
var bfloat16s = Product{Name: "BFloat16",
	multiplyAdd: func(a *Asm, wordsA, wordsB, acc string, _ func() string) {
		a.EOL("VDPBF16PS %s, %s, %s", wordsB, wordsA, acc)
		a.Op(evex(2, 2, 0x52, number(wordsB), number(wordsA), number(acc)))
	}}

func number(reg string) int {
	var n int
	if _, err := fmt.Sscanf(reg[1:], "%d", &n); err != nil {
		panic(err)
	}
	return n
}

// evex encodes a 512-bit instruction on three registers without mask: opcode
// map mm and prefix pp are the fields of the EVEX prefix (Intel SDM 2.7.1).
func evex(mm, pp, opcode, rm, vvvv, reg int) string {
	inverted := func(number, bit, to int) int { return (^number >> bit & 1) << to }
	bytes := []int{
		0x62,
		inverted(reg, 3, 7) | inverted(rm, 4, 6) | inverted(rm, 3, 5) | inverted(reg, 4, 4) | mm,
		(^vvvv&15)<<3 | 1<<2 | pp,
		2<<5 | inverted(vvvv, 4, 3), // 2: 512 bits
		opcode,
		3<<6 | reg&7<<3 | rm&7,
	}
	s := ""
	for i, b := range bytes {
		if i > 0 {
			s += "; "
		}
		s += fmt.Sprintf("BYTE $0x%02x", b)
	}
	return s
}
