//go:build linux && amd64

package emulate

import "golang.org/x/sys/unix"

// An instruction is one of AMX with its operands.
type instruction struct {
	name      string
	length    int // bytes
	c, a, b   int // tiles: the target, or the only one, and the factors
	at        uint64
	rowStride uint64 // bytes, of what starts at at
}

// decode reads an instruction of VEX.128, map 0F38, W0 (Intel SDM 2, 2.3.5);
// false if it is not one of those that execute knows. It shares nothing with
// what wrote the bytes.
func decode(code []byte, r *unix.PtraceRegs) (i instruction, ok bool) {
	const longest, shortest = 11, 5
	if len(code) < shortest || code[0] != 0xc4 || code[1]&31 != 2 || code[2]&0x84 != 0 {
		return i, false
	}
	// The upper bits of registers are held inverted.
	indexHigh, baseHigh := int(^code[1]>>6&1)<<3, int(^code[1]>>5&1)<<3
	vvvv, prefix, opcode := int(^code[2]>>3&15), code[2]&3, code[3]
	mod, reg, rm := code[4]>>6, int(code[4]>>3&7), int(code[4]&7)
	if code[1]&0x80 == 0 { // there are no tiles 8 to 15
		return i, false
	}
	const none, p66, pF3, pF2 = 0, 1, 2, 3
	register, memory := mod == 3, mod != 3
	i.c, i.a, i.b, i.length = reg, rm, vvvv, shortest
	type key struct{ opcode, prefix byte }
	switch k := (key{opcode, prefix}); {
	case k == key{0x49, none} && code[4] == 0xc0 && vvvv == 0:
		i.name = "TILERELEASE"
	case k == key{0x49, none} && memory && reg == 0 && vvvv == 0:
		i.name = "LDTILECFG"
	case k == key{0x49, pF2} && register && rm == 0 && vvvv == 0:
		i.name = "TILEZERO"
	case k == key{0x4b, pF2} && memory && rm == 4 && vvvv == 0:
		i.name = "TILELOADD"
	case k == key{0x4b, p66} && memory && rm == 4 && vvvv == 0:
		i.name = "TILELOADDT1"
	case k == key{0x4b, pF3} && memory && rm == 4 && vvvv == 0:
		i.name = "TILESTORED"
	case k == key{0x5c, pF3} && register && vvvv < 8 && baseHigh == 0:
		i.name = "TDPBF16PS"
	case k == key{0x5e, pF2} && register && vvvv < 8 && baseHigh == 0:
		i.name = "TDPBSSD"
	default:
		return i, false
	}
	if register {
		return i, true
	}
	if len(code) < longest || mod == 0 && rm == 5 { // relative to the instruction
		return i, false
	}
	base := rm | baseHigh
	if rm == 4 {
		sib := code[i.length]
		i.length++
		base = int(sib&7) | baseHigh
		if mod == 0 && sib&7 == 5 { // no base
			return i, false
		}
		if index := int(sib>>3&7) | indexHigh; index != 4 {
			i.rowStride = value(r, index) << (sib >> 6)
		}
	}
	i.at = value(r, base)
	switch mod {
	case 1:
		i.at += uint64(int8(code[i.length]))
		i.length++
	case 2:
		d := code[i.length:]
		i.at += uint64(int32(uint32(d[0]) | uint32(d[1])<<8 | uint32(d[2])<<16 | uint32(d[3])<<24))
		i.length += 4
	}
	return i, true
}

// value is that of the register of a number.
func value(r *unix.PtraceRegs, number int) uint64 {
	return [...]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi,
		r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}[number]
}
