package asmgen

import (
	"fmt"
	"strconv"
	"strings"
)

// An opcode is an instruction on three registers that Go's assembler cannot
// write: the fields of its prefix and its opcode byte (Intel SDM 2, under the
// name of the instruction).
type opcode struct {
	space  int  // 2 for 0F38
	prefix int  // 1 for 66, 2 for F3, 3 for F2
	code   int  // opcode byte
	evex   bool // 512 bits with EVEX, or else 256 bits with VEX
}

// opcodes are all instructions written as bytes.
var opcodes = map[string]opcode{
	"VDPBF16PS":      {space: 2, prefix: 2, code: 0x52, evex: true}, // EVEX.512.F3.0F38.W0 52 /r
	"VCVTNE2PS2BF16": {space: 2, prefix: 3, code: 0x72, evex: true}, // EVEX.512.F2.0F38.W0 72 /r
	"VPDPBUSD.VEX":   {space: 2, prefix: 1, code: 0x50},             // VEX.256.66.0F38.W0 50 /r
	"VPDPWSSD.VEX":   {space: 2, prefix: 1, code: 0x52},             // VEX.256.66.0F38.W0 52 /r
}

// Encoded writes an instruction of opcodes, operands in Go's order, with its
// mnemonic behind it.
func (a *Asm) Encoded(mnemonic, src2, src1, dst string) {
	o, ok := opcodes[mnemonic]
	if !ok {
		panic("asmgen: no encoding of " + mnemonic)
	}
	a.EOL("%s %s, %s, %s", strings.TrimSuffix(mnemonic, ".VEX"), src2, src1, dst)
	a.Op(o.bytes(number(src2), number(src1), number(dst)))
}

// bytes encodes the instruction on registers rm, vvvv and reg, as the manual
// names the fields (Intel SDM 2, 2.3.5 for VEX and 2.7.1 for EVEX). Both
// prefixes hold the upper bits of register numbers inverted.
func (o opcode) bytes(rm, vvvv, reg int) string {
	inverted := func(number, bit, to int) int { return (^number >> bit & 1) << to }
	modRM := 3<<6 | reg&7<<3 | rm&7
	if o.evex {
		return literal(
			0x62,
			inverted(reg, 3, 7)|inverted(rm, 4, 6)|inverted(rm, 3, 5)|inverted(reg, 4, 4)|o.space,
			(^vvvv&15)<<3|1<<2|o.prefix,
			2<<5|inverted(vvvv, 4, 3), // 2: 512 bits
			o.code, modRM)
	}
	return literal(
		0xc4,
		inverted(reg, 3, 7)|1<<6|inverted(rm, 3, 5)|o.space,
		(^vvvv&15)<<3|1<<2|o.prefix, // 1<<2: 256 bits
		o.code, modRM)
}

// literal writes bytes into the instruction stream.
func literal(bytes ...int) string {
	s := make([]string, len(bytes))
	for i, b := range bytes {
		s[i] = fmt.Sprintf("BYTE $0x%02x", b)
	}
	return strings.Join(s, "; ")
}

func number(reg string) int {
	n, err := strconv.Atoi(reg[1:])
	if err != nil {
		panic(err)
	}
	return n
}
