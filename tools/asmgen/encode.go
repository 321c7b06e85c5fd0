package asmgen

import (
	"fmt"
	"strconv"
	"strings"
)

// An opcode is an instruction that Go's assembler cannot write: the fields of its prefix and
// its opcode byte, of map 0F38 with W0 (Intel SDM 2, under the name of the instruction).
type opcode struct {
	prefix int // 1 for 66, 2 for F3, 3 for F2
	code   int // opcode byte
	length int // 0 for 128 bits, as tiles have, 1 for 256 bits, 2 for 512 bits with EVEX
}

// opcodes are all instructions written as bytes.
var opcodes = map[string]opcode{
	"VDPBF16PS":      {2, 0x52, 2}, // EVEX.512.F3.0F38.W0 52 /r
	"VCVTNE2PS2BF16": {3, 0x72, 2}, // EVEX.512.F2.0F38.W0 72 /r
	"VPDPBUSD.VEX":   {1, 0x50, 1}, // VEX.256.66.0F38.W0 50 /r
	"VPDPWSSD.VEX":   {1, 0x52, 1}, // VEX.256.66.0F38.W0 52 /r

	"LDTILECFG":   {0, 0x49, 0}, // VEX.128.NP.0F38.W0 49 !(11):000:bbb
	"TILERELEASE": {0, 0x49, 0}, // VEX.128.NP.0F38.W0 49 C0
	"TILEZERO":    {3, 0x49, 0}, // VEX.128.F2.0F38.W0 49 11:rrr:000
	"TILELOADD":   {3, 0x4b, 0}, // VEX.128.F2.0F38.W0 4B !(11):rrr:100
	"TILELOADDT1": {1, 0x4b, 0}, // VEX.128.66.0F38.W0 4B !(11):rrr:100
	"TILESTORED":  {2, 0x4b, 0}, // VEX.128.F3.0F38.W0 4B !(11):rrr:100
	"TDPBF16PS":   {2, 0x5c, 0}, // VEX.128.F3.0F38.W0 5C 11:rrr:bbb
	"TDPBSSD":     {3, 0x5e, 0}, // VEX.128.F2.0F38.W0 5E 11:rrr:bbb
}

// registers are the numbers that addresses are encoded with.
var registers = map[string]int{
	"AX": 0, "CX": 1, "DX": 2, "BX": 3, "SP": 4, "BP": 5, "SI": 6, "DI": 7,
	"R8": 8, "R9": 9, "R10": 10, "R11": 11, "R12": 12, "R13": 13, "R14": 14, "R15": 15,
}

// A place is the operand that ModRM and what follows it name.
type place struct {
	index, base int   // numbers, of which the prefix has the upper bits
	bytes       []int // ModRM but for reg, and then what follows
}

// inRegister is a vector or a tile.
func inRegister(number int) place {
	return place{index: number >> 4 << 3, base: number, bytes: []int{3<<6 | number&7}}
}

// memory is off bytes behind what base and index hold, encoded the shortest way; "" is no
// index.
func memory(off int, base, index string) place {
	const none = 4 // as an index, and SP as a base without one
	p, mod, displacement := place{base: registers[base]}, 0, []int(nil)
	switch {
	case off == 0 && p.base&7 != registers["BP"]: // which has no form without a displacement
	case off == int(int8(off)):
		mod, displacement = 1, []int{off & 255}
	default:
		mod, displacement = 2, []int{off & 255, off >> 8 & 255, off >> 16 & 255, off >> 24 & 255}
	}
	if index == "" && p.base&7 == none || index == "SP" {
		panic("asmgen: no address of " + base + " and " + index)
	}
	rm, sib := p.base&7, []int(nil)
	if index != "" {
		p.index = registers[index]
		rm, sib = none, []int{p.index&7<<3 | p.base&7}
	}
	p.bytes = append(append([]int{mod<<6 | rm}, sib...), displacement...)
	return p
}

// encoded writes an instruction of opcodes on the registers reg and vvvv, and on rm, as the
// manual names the fields (Intel SDM 2, 2.3.5 for VEX and 2.7.1 for EVEX), with its text
// behind it. Both prefixes hold the upper bits of numbers inverted.
func (a *Asm) encoded(mnemonic, operands string, rm place, vvvv, reg int) {
	o, ok := opcodes[mnemonic]
	if !ok {
		panic("asmgen: no encoding of " + mnemonic)
	}
	inverted := func(number, bit, to int) int { return (^number >> bit & 1) << to }
	upper := inverted(reg, 3, 7) | inverted(rm.index, 3, 6) | inverted(rm.base, 3, 5) | 2 // map 0F38
	bytes := []int{0xc4, upper, (^vvvv&15)<<3 | o.length<<2 | o.prefix, o.code}
	if o.length == 2 {
		bytes = []int{0x62, upper | inverted(reg, 4, 4), (^vvvv&15)<<3 | 1<<2 | o.prefix, 2<<5 | inverted(vvvv, 4, 3), o.code}
	}
	bytes = append(append(bytes, rm.bytes[0]|reg&7<<3), rm.bytes[1:]...)
	s := make([]string, len(bytes))
	for i, b := range bytes {
		s[i] = fmt.Sprintf("BYTE $0x%02x", b)
	}
	a.EOL("%s", strings.TrimSpace(strings.TrimSuffix(mnemonic, ".VEX")+" "+operands))
	a.Op(strings.Join(s, "; "))
}

// Encoded writes an instruction on vectors, operands in Go's order.
func (a *Asm) Encoded(mnemonic, src2, src1, dst string) {
	a.encoded(mnemonic, src2+", "+src1+", "+dst, inRegister(number(src2)), number(src1), number(dst))
}

// ConfigureTiles loads the shapes of all tiles from 64 bytes.
func (a *Asm) ConfigureTiles(base string) {
	a.encoded("LDTILECFG", at(base, 0), memory(0, base, ""), 0, 0)
}

// ReleaseTiles forgets shapes and contents of all tiles.
func (a *Asm) ReleaseTiles() { a.encoded("TILERELEASE", "", inRegister(0), 0, 0) }

// ZeroTile clears a tile.
func (a *Asm) ZeroTile(t string) { a.encoded("TILEZERO", t, inRegister(0), 0, number(t)) }

// MoveTile loads or stores a tile whose rows start at off+base and lie as many
// bytes apart as stride holds.
func (a *Asm) MoveTile(mnemonic string, off int, base, stride, t string) {
	operands := []string{indexed(at(base, off), stride, 1), t}
	if mnemonic == "TILESTORED" {
		operands = []string{t, operands[0]}
	}
	a.encoded(mnemonic, strings.Join(operands, ", "), memory(off, base, stride), 0, number(t))
}

// MultiplyTiles adds the products of a's rows and b's columns to c, operands
// in Go's order.
func (a *Asm) MultiplyTiles(mnemonic, wordsB, wordsA, c string) {
	if wordsA == wordsB || wordsA == c || wordsB == c {
		panic("asmgen: " + mnemonic + " of one tile twice")
	}
	a.encoded(mnemonic, wordsB+", "+wordsA+", "+c, inRegister(number(wordsA)), number(wordsB), number(c))
}

// number is that of a vector or a tile.
func number(reg string) int {
	n, err := strconv.Atoi(reg[1:])
	if err != nil {
		panic(err)
	}
	return n
}
