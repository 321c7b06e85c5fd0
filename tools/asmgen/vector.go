package asmgen

import (
	"fmt"
	"strings"
)

// A Vector is what the generators need to know of an instruction set. A lane
// is 32 bits wide.
type Vector struct {
	Suffix    string // of routine names
	Register  string // prefix of register names
	Lanes     int
	Registers int
	Masks     bool // has mask registers
}

var (
	avx2   = Vector{Suffix: "AVX2", Register: "Y", Lanes: 8, Registers: 16}
	avx512 = Vector{Suffix: "AVX512", Register: "Z", Lanes: 16, Registers: 32, Masks: true}
)

func (v Vector) reg(i int) string { return fmt.Sprintf("%s%d", v.Register, i) }

func (v Vector) bytes() int { return 4 * v.Lanes }

// regs are the registers from one number to before another.
func (v Vector) regs(from, to int) []string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, v.reg(i))
	}
	return list
}

// xmm is the first 128 bits of a vector, ymm the first 256.
func xmm(reg string) string { return "X" + reg[1:] }
func ymm(reg string) string { return "Y" + reg[1:] }

func (v Vector) zero(a *Asm, regs ...string) {
	for _, reg := range regs {
		a.Op(v.bitwise("VPXOR"), reg, reg, reg)
	}
}

// columnNumbers writes the table that masks without mask registers are
// compared with, for as many vectors as a tile has.
func (v Vector) columnNumbers(a *Asm) {
	const vectors = 2
	a.raw("\n")
	for i := range vectors * v.Lanes {
		a.raw("DATA columns<>+%d(SB)/4, $%d\n", 4*i, i)
	}
	a.raw("GLOBL columns<>(SB), RODATA|NOPTR, $%d\n", vectors*v.bytes())
}

// A Product is one way to multiply words and add to sums.
type Product struct {
	Name      string // of routine names
	Broadcast string // a word of a to all lanes
	Add       string // sums to sums
	offset    bool   // b is offset, so that sums start from a bias
	// multiplyAdd adds the products of the words in a and b to acc; temp
	// gives a register that holds nothing any more.
	multiplyAdd func(a *Asm, wordsA, wordsB, acc string, temp func() string)
}

// summing is the signature of a routine that stores sums to c, or adds them: of what is
// between c and that, where C is their type.
func (p Product) summing(args string) string {
	if p.Add == "VADDPS" {
		return summing("float32", args)
	}
	return summing("int32", args)
}

func summing(sum, args string) string {
	return strings.ReplaceAll("(c *C, "+args+", accumulate bool)", "*C", "*"+sum)
}

var (
	// One float32 a word.
	float32s = Product{Name: "Float32", Broadcast: "VBROADCASTSS", Add: "VADDPS", multiplyAdd: fused("VFMADD231PS")}
	// The same of bfloat16 that are widened.
	wideBFloat16s = Product{Name: "WideBFloat16", Broadcast: "VBROADCASTSS", Add: "VADDPS", multiplyAdd: fused("VFMADD231PS")}
	// Two bfloat16 a word, summed as float32.
	bfloat16s = Product{Name: "BFloat16", Broadcast: "VBROADCASTSS", Add: "VADDPS", multiplyAdd: encoded("VDPBF16PS")}
	// Four bytes a word, those of a signed, those of b unsigned.
	quads    = Product{Name: "Quads", Broadcast: "VPBROADCASTD", Add: "VPADDD", offset: true, multiplyAdd: swapped(fused("VPDPBUSD"))}
	quadsVEX = Product{Name: "Quads", Broadcast: "VPBROADCASTD", Add: "VPADDD", offset: true, multiplyAdd: swapped(encoded("VPDPBUSD.VEX"))}
	// Two int16 a word, in one instruction or in two.
	pairsFused = Product{Name: "PairsVNNI", Broadcast: "VPBROADCASTD", Add: "VPADDD", multiplyAdd: fused("VPDPWSSD")}
	pairsVEX   = Product{Name: "PairsVNNI", Broadcast: "VPBROADCASTD", Add: "VPADDD", multiplyAdd: encoded("VPDPWSSD.VEX")}
	pairs      = Product{Name: "Pairs", Broadcast: "VPBROADCASTD", Add: "VPADDD",
		multiplyAdd: func(a *Asm, wordsA, wordsB, acc string, temp func() string) {
			t := temp()
			a.Op("VPMADDWD", wordsB, wordsA, t)
			a.Op("VPADDD", t, acc, acc)
		}}
)

func fused(mnemonic string) func(*Asm, string, string, string, func() string) {
	return func(a *Asm, wordsA, wordsB, acc string, _ func() string) {
		a.Op(mnemonic, wordsB, wordsA, acc)
	}
}

// swapped multiplies words of b by words of a, for instructions that tell them apart.
func swapped(f func(*Asm, string, string, string, func() string)) func(*Asm, string, string, string, func() string) {
	return func(a *Asm, wordsA, wordsB, acc string, temp func() string) { f(a, wordsB, wordsA, acc, temp) }
}

func encoded(mnemonic string) func(*Asm, string, string, string, func() string) {
	return func(a *Asm, wordsA, wordsB, acc string, _ func() string) {
		a.Encoded(mnemonic, wordsB, wordsA, acc)
	}
}
