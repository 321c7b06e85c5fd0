package asmgen

import "fmt"

// A tileOpcode is an AMX instruction, none of which Go's assembler can write:
// the fields of its VEX.128 prefix, its opcode byte and what its ModRM byte
// says (Intel SDM 2, under the name of the instruction).
type tileOpcode struct {
	prefix int // 1 for 66, 2 for F3, 3 for F2
	code   int // opcode byte, of map 0F38
	form   tileForm
}

type tileForm uint8

const (
	tileNone   tileForm = iota // no operand
	tileOne                    // one tile
	tileThree                  // three tiles
	tileConfig                 // 64 bytes of memory
	tileMemory                 // one tile and rows of memory
)

// tileOpcodes are all AMX instructions that are written as bytes.
var tileOpcodes = map[string]tileOpcode{
	"LDTILECFG":   {prefix: 0, code: 0x49, form: tileConfig}, // VEX.128.NP.0F38.W0 49 !(11):000:bbb
	"TILERELEASE": {prefix: 0, code: 0x49, form: tileNone},   // VEX.128.NP.0F38.W0 49 C0
	"TILEZERO":    {prefix: 3, code: 0x49, form: tileOne},    // VEX.128.F2.0F38.W0 49 11:rrr:000
	"TILELOADD":   {prefix: 3, code: 0x4b, form: tileMemory}, // VEX.128.F2.0F38.W0 4B !(11):rrr:100
	"TILELOADDT1": {prefix: 1, code: 0x4b, form: tileMemory}, // VEX.128.66.0F38.W0 4B !(11):rrr:100
	"TILESTORED":  {prefix: 2, code: 0x4b, form: tileMemory}, // VEX.128.F3.0F38.W0 4B !(11):rrr:100
	"TDPBF16PS":   {prefix: 2, code: 0x5c, form: tileThree},  // VEX.128.F3.0F38.W0 5C 11:rrr:bbb
	"TDPBSSD":     {prefix: 3, code: 0x5e, form: tileThree},  // VEX.128.F2.0F38.W0 5E 11:rrr:bbb
}

// registers are the numbers that addresses are encoded with.
var registers = map[string]int{
	"AX": 0, "CX": 1, "DX": 2, "BX": 3, "SP": 4, "BP": 5, "SI": 6, "DI": 7,
	"R8": 8, "R9": 9, "R10": 10, "R11": 11, "R12": 12, "R13": 13, "R14": 14, "R15": 15,
}

// lookUp returns the opcode of a mnemonic that must have the form.
func (f tileForm) lookUp(mnemonic string) tileOpcode {
	o, ok := tileOpcodes[mnemonic]
	if !ok || o.form != f {
		panic("asmgen: no encoding of " + mnemonic)
	}
	return o
}

// ConfigureTiles loads the shapes of all tiles from 64 bytes.
func (a *Asm) ConfigureTiles(base string) {
	o, b := tileConfig.lookUp("LDTILECFG"), registers[base]
	if b&7 == registers["SP"] || b&7 == registers["BP"] {
		panic("asmgen: LDTILECFG through " + base)
	}
	a.EOL("LDTILECFG (%s)", base)
	a.Op(literal(o.vex(0, b, 0, memory(0, b, 0)...)...))
}

// ReleaseTiles forgets shapes and contents of all tiles.
func (a *Asm) ReleaseTiles() {
	o := tileNone.lookUp("TILERELEASE")
	a.EOL("TILERELEASE")
	a.Op(literal(o.vex(0, 0, 0, 3<<6)...))
}

// ZeroTile clears a tile.
func (a *Asm) ZeroTile(t string) {
	o := tileOne.lookUp("TILEZERO")
	a.EOL("TILEZERO %s", t)
	a.Op(literal(o.vex(0, 0, 0, 3<<6|tile(t)<<3)...))
}

// MoveTile loads or stores a tile whose rows start at off+base and lie as many
// bytes apart as stride holds.
func (a *Asm) MoveTile(mnemonic string, off int, base, stride, t string) {
	o := tileMemory.lookUp(mnemonic)
	mem := fmt.Sprintf("%s(%s*1)", at(base, off), stride)
	if mnemonic == "TILESTORED" {
		a.EOL("%s %s, %s", mnemonic, t, mem)
	} else {
		a.EOL("%s %s, %s", mnemonic, mem, t)
	}
	b, s := registers[base], registers[stride]
	if s == registers["SP"] {
		panic("asmgen: SP is no index")
	}
	rest := memory(off, 4, tile(t))
	rest = append(rest[:1], append([]int{s&7<<3 | b&7}, rest[1:]...)...)
	if off == 0 && b&7 == registers["BP"] { // has no form without a displacement
		rest = []int{1<<6 | tile(t)<<3 | 4, s&7<<3 | b&7, 0}
	}
	a.Op(literal(o.vex(s, b, 0, rest...)...))
}

// MultiplyTiles adds the products of a's rows and b's columns to c, operands
// in Go's order.
func (a *Asm) MultiplyTiles(mnemonic, wordsB, wordsA, c string) {
	o := tileThree.lookUp(mnemonic)
	if wordsA == wordsB || wordsA == c || wordsB == c {
		panic("asmgen: " + mnemonic + " of one tile twice")
	}
	a.EOL("%s %s, %s, %s", mnemonic, wordsB, wordsA, c)
	a.Op(literal(o.vex(0, 0, tile(wordsB), 3<<6|tile(c)<<3|tile(wordsA))...))
}

// vex encodes the three-byte prefix with the registers' upper bits, which it
// holds inverted, then the opcode and the bytes that follow it (Intel SDM 2,
// 2.3.5). No tile has a number with upper bits.
func (o tileOpcode) vex(index, base, vvvv int, rest ...int) []int {
	inverted := func(number, to int) int { return (^number >> 3 & 1) << to }
	return append([]int{
		0xc4,
		1<<7 | inverted(index, 6) | inverted(base, 5) | 2, // 2: map 0F38
		(^vvvv&15)<<3 | o.prefix,                          // W and L are 0
		o.code,
	}, rest...)
}

// memory encodes ModRM and displacement of an address, the shortest way.
func memory(off, rm, reg int) []int {
	switch {
	case off == 0:
		return []int{reg<<3 | rm&7}
	case off == int(int8(off)):
		return []int{1<<6 | reg<<3 | rm&7, off & 255}
	}
	return []int{2<<6 | reg<<3 | rm&7, off & 255, off >> 8 & 255, off >> 16 & 255, off >> 24 & 255}
}

// tile is the number of a tile register, T0 … T7.
func tile(t string) int {
	n := number(t)
	if t[0] != 'T' || n < 0 || n > 7 {
		panic("asmgen: " + t + " is no tile")
	}
	return n
}
