package asmgen

// packTileRows writes the packing of rows of bytes as rows of tiles: each row
// is cut into lines, which lie as far apart as two tiles are large.
func packTileRows(a *Asm) {
	const (
		rows, bytes = "R8", "R9"
		whole, left = "BX", "CX" // lines
		from, to    = "R11", "R12"
		mask, row   = "R10", "R10"
		rest        = "K1"
		zero        = "Z4"
		apart       = 2 * tileRows * tileLine
	)
	store := func(reg string, line int) { a.Op("VMOVUPS", reg, at(to, line*apart)) }
	a.Func("packTileRowsAVX512", "(dst *uint32, src unsafe.Pointer, ld, rows, bytes int)", rTo, rFrom, rLD, rows, bytes)
	a.Op("MOVQ", bytes, whole)
	a.Op("SHRQ", imm(log2(tileLine)), whole)
	a.Op("ANDQ", imm(tileLine-1), bytes)
	a.EOL("the bytes of the last line")
	a.first("KMOVQ", bytes, mask, rest)
	avx512.zero(a, zero)
	a.Op("MOVQ", imm(2*tileRows), row)
	a.CountDown(row, func() {
		next, none := a.NewLabel("next"), a.NewLabel("none")
		a.Op("MOVQ", rFrom, from)
		a.Op("MOVQ", rTo, to)
		a.Op("ADDQ", imm(tileLine), rTo)
		a.JumpIf(rows, "JLE", 0, none)
		a.Unrolled(whole, left, 4, func(lines int) {
			for i := range lines {
				a.Op("VMOVUPS", at(from, i*tileLine), avx512.reg(i))
			}
			for i := range lines {
				store(avx512.reg(i), i)
			}
			a.Op("ADDQ", imm(lines*tileLine), from)
			a.Op("ADDQ", imm(lines*apart), to)
		})
		a.JumpIf(bytes, "JEQ", 0, next)
		a.Op("VMOVDQU8.Z", at(from, 0), rest, "Z0")
		store("Z0", 0)
		a.Op("JMP", string(next))
		a.Place(none)
		part := a.NewLabel("part")
		a.JumpIf(whole, "JEQ", 0, part)
		a.Op("MOVQ", whole, left)
		a.CountDown(left, func() {
			store(zero, 0)
			a.Op("ADDQ", imm(apart), to)
		})
		a.Place(part)
		a.JumpIf(bytes, "JEQ", 0, next)
		store(zero, 0)
		a.Place(next)
		a.Op("ADDQ", rLD, rFrom)
		a.Op("DECQ", rows)
	})
	a.Return()
}
