package asmgen

import (
	"fmt"
	"strings"
)

// An operand is one of an instruction that is written for several registers, by their number.
type operand func(i int) string

// from are registers one after another.
func (v Vector) from(first int) operand { return func(i int) string { return v.reg(first + i) } }

// in are whole vectors of memory one after another.
func (v Vector) in(base string) operand { return every(v.bytes(), base) }

// every is memory in pieces of so many bytes.
func every(bytes int, base string) operand {
	return func(i int) string { return at(base, i*bytes) }
}

// same is one operand of all.
func same(what string) operand { return func(int) string { return what } }

// times writes an instruction for each of n numbers.
func (a *Asm) times(n int, mnemonic string, operands ...operand) {
	for i := range n {
		var list []string
		for _, o := range operands {
			list = append(list, o(i))
		}
		a.Op(mnemonic, list...)
	}
}

// do writes instructions, each a line.
func (a *Asm) do(lines string) {
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		a.Op(strings.TrimSpace(line))
	}
}

// over repeats body, which does step of the elements that are left in counter, until there are
// none.
func (a *Asm) over(step int, counter string, body func()) {
	top := a.NewLabel("loop")
	a.Place(top)
	body()
	a.Op("SUBQ", imm(step), counter)
	a.Op("JNZ", string(top))
}

// eachRow repeats body for rows of memory, as many as rRows holds; next moves on to the next one.
func (a *Asm) eachRow(rRows string, body, next func()) {
	row := a.NewLabel("row")
	a.Place(row)
	body()
	next()
	a.Op("DECQ", rRows)
	a.Op("JNZ", string(row))
}

// A constant is words in read-only memory.
type constant struct {
	name  string
	words []uint32
}

// constants writes some.
func constants(list ...constant) func(*Asm) {
	return func(a *Asm) {
		for _, c := range list {
			a.raw("\n")
			for i, w := range c.words {
				a.raw("DATA %s<>+%d(SB)/4, $%#x\n", c.name, 4*i, w)
			}
			a.raw("GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", c.name, 4*len(c.words))
		}
	}
}

// constantAt is where word i of a constant lies.
func constantAt(name string, i int) string { return fmt.Sprintf("%s<>+%d(SB)", name, 4*i) }

// broadcast brings word i of a constant to all lanes of a register.
func (a *Asm) broadcast(mnemonic, name string, i int, reg string) {
	a.Op(mnemonic, constantAt(name, i), reg)
}

// across leaves in the first lane of a register what an instruction makes of all its lanes, with
// the half of it that each step cuts off in temp.
func (v Vector) across(a *Asm, mnemonic, reg, temp, extract string) {
	if v.Lanes == 16 {
		a.Op("VEXTRACTF64X4", "$1", reg, ymm(temp))
		a.Op(mnemonic, ymm(temp), ymm(reg), ymm(reg))
	}
	a.Op(extract, "$1", ymm(reg), xmm(temp))
	a.Op(mnemonic, xmm(temp), xmm(reg), xmm(reg))
	for _, order := range []string{"$0x4e", "$0xb1"} {
		a.Op("VPSHUFD", order, xmm(reg), xmm(temp))
		a.Op(mnemonic, xmm(temp), xmm(reg), xmm(reg))
	}
}
