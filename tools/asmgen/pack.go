package asmgen

import "fmt"

// Registers of packing.
const (
	rTo   = "DI" // packed words
	rFrom = "SI" // matrix
	rLD   = "DX" // bytes from row to row
	rAt   = "R11"
	rFlip = "AX"

	rUnder = "R15" // bytes from a row to what is asked for
)

// packFunc starts a routine that packs, with more arguments than all have; flips adds the
// one that is xored to every word.
func packFunc(a *Asm, name string, flips bool, more string, regs ...string) {
	args, regs := "dst *uint32, src unsafe.Pointer, ld, "+more+" int", append([]string{rTo, rFrom, rLD}, regs...)
	if flips {
		args, regs = args+", flip uint64", append(regs, rFlip)
	}
	a.Func(name, "("+args+")", regs...)
}

// An Element is how elements of rows that run along the panel become words:
// KU of them, one from each of as many rows, side by side in a lane.
type Element struct {
	Name  string // of routine names
	Bytes int    // of an element
	KU    int
	load  string // of elements to the low bits of lanes
	shift int    // to their place in a word
	dirty bool   // the bits above the loaded element may be anything
	flips bool

	widen string // of two interleaved rows to words; "" if rows are not interleaved first
}

var elements = []Element{
	{Name: "Float32", Bytes: 4, KU: 1, load: "VMOVUPS"},
	{Name: "BFloat16", Bytes: 2, KU: 1, load: "VPMOVZXWD", shift: 16},
	{Name: "PairsBFloat16", Bytes: 2, KU: 2, load: "VPMOVZXWD"},
	{Name: "PairsInt8", Bytes: 1, KU: 2, load: "VPMOVSXBD", dirty: true, widen: "VPMOVSXBW"},
	{Name: "PairsUint8", Bytes: 1, KU: 2, load: "VPMOVZXBD", widen: "VPMOVZXBW"},
	{Name: "Quads", Bytes: 1, KU: 4, load: "VPMOVZXBD", flips: true},
}

// columns writes the packing of a matrix whose rows run along panels of width
// lanes: of some rows, one panel after another. Lanes beyond those of the matrix
// and rows beyond the last are zero. Without masks it reads whole vectors from
// every row.
func (e Element) columns(v Vector, width int) func(*Asm) {
	return func(a *Asm) {
		const rRows, rLanes, rPanels, rPanel = "R8", "R9", "CX", "BX"
		const rPanelTo, rPanelFrom, rPanelRows = "R12", "R13", "R10"
		vectors := (width + v.Lanes - 1) / v.Lanes
		flip := v.reg(v.Registers - 3)

		packFunc(a, fmt.Sprintf("pack%sColumns%d%s", e.Name, width, v.Suffix), e.flips, "rows, lanes, panels, panel, below", rPanelRows, rLanes, rPanels, rPanel, rUnder)
		a.Op("SHLQ", imm(2), rPanel)
		v.laneMasks(a, rLanes, vectors)
		v.storedLanes(a, width)
		interleaved, joined := e.widen != "" && !v.Masks, e.KU == 4 && v.Masks
		switch {
		case interleaved:
			v.byteMask(a, vectors)
		case e.dirty:
			a.EOL("the low field of a word")
			a.Op("MOVL", imm(1<<(32/e.KU)-1), rAt)
			v.broadcast32(a, rAt, v.low())
		}
		if e.flips {
			v.broadcast32(a, rFlip, flip)
		}
		if joined {
			loadQuadsOrder(a, v.quadsOrder()...)
		}
		a.Op("MOVQ", rTo, rPanelTo)
		a.Op("MOVQ", rFrom, rPanelFrom)
		top, loop := a.NewLabel("panel"), a.NewLabel("loop")
		a.Place(top)
		a.Op("MOVQ", rPanelRows, rRows)
		a.Place(loop)
		switch {
		case interleaved:
			e.interleave(a, v, vectors, rRows)
		case joined:
			e.join(a, v, vectors, rRows)
		default:
			e.gather(a, v, vectors, rRows)
		}
		for i := range vectors {
			if e.flips {
				a.Op(v.bitwise("VPXOR"), flip, v.reg(i), v.reg(i))
			}
			v.storeLanes(a, v.reg(i), rTo, i*v.bytes(), min(v.Lanes, width-i*v.Lanes))
		}
		a.Op("ADDQ", imm(4*width), rTo)
		a.Op("SUBQ", imm(e.KU), rRows)
		a.Op("JG", string(loop))

		a.Op("ADDQ", rPanel, rPanelTo)
		a.Op("ADDQ", imm(width*e.Bytes), rPanelFrom)
		a.Op("MOVQ", rPanelTo, rTo)
		a.Op("MOVQ", rPanelFrom, rFrom)
		a.Op("DECQ", rPanels)
		a.Op("JNE", string(top))
		a.Return()
	}
}

// gather loads KU rows into words, each to its place there. Of the last ones there may
// be fewer. With masks it asks for what lies below: of so many rows as are packed together
// there, no prefetcher of a processor follows each.
func (e Element) gather(a *Asm, v Vector, vectors int, rRows string) {
	gathered := a.NewLabel("packed")
	for u := range e.KU {
		if u > 0 {
			a.JumpIf(rRows, "JLE", u, gathered)
		}
		if v.Masks {
			a.Op("PREFETCHT0", "("+rFrom+")("+rUnder+"*1)")
		}
		for i := range vectors {
			to := v.reg(i)
			if u > 0 {
				to = v.part()
			}
			v.loadLanes(a, e.load, at(rFrom, i*v.Lanes*e.Bytes), i, to)
			if e.dirty && u < e.KU-1 {
				a.Op(v.bitwise("VPAND"), v.low(), to, to)
			}
			if shift := e.shift + u*32/e.KU; shift > 0 {
				a.Op("VPSLLD", imm(shift), to, to)
			}
			if u > 0 {
				a.Op(v.bitwise("VPOR"), to, v.reg(i), v.reg(i))
			}
		}
		a.Op("ADDQ", rLD, rFrom)
	}
	a.Place(gathered)
}

// join loads four rows of bytes, with zeros for those that are missing, and makes words of
// them: half the instructions of gather.
func (e Element) join(a *Asm, v Vector, vectors int, rRows string) {
	joined, to := a.NewLabel("packed"), v.regs(0, vectors)
	rows := v.regs(vectors, vectors+e.KU)
	v.zero(a, rows[1:]...)
	for u, row := range rows {
		if u > 0 {
			a.JumpIf(rRows, "JLE", u, joined)
		}
		a.Op("PREFETCHT0", "("+rFrom+")("+rUnder+"*1)")
		a.Op("VMOVDQU8.Z", at(rFrom, 0), words, ymm(row))
		a.Op("ADDQ", rLD, rFrom)
	}
	a.Place(joined)
	for i := range 2 {
		a.Op("VINSERTI64X4", imm(1), ymm(rows[i+2]), rows[i], rows[i])
	}
	joinQuads(a, rows[0], rows[1], v.quadsOrder(), to)
}

// quadsOrder holds the order of joinQuads.
func (v Vector) quadsOrder() []string { return v.regs(v.Registers-2, v.Registers) }

// interleave loads two rows of bytes, or the last one and zeros, and widens them to
// words once they are side by side: half the instructions of gather.
func (e Element) interleave(a *Asm, v Vector, vectors int, rRows string) {
	one := a.NewLabel("one")
	rows, mask := [2]string{xmm(v.reg(vectors)), xmm(v.reg(vectors + 1))}, xmm(v.laneMask(0))
	a.Op("VPXOR", rows[1], rows[1], rows[1])
	for u, row := range rows {
		if u > 0 {
			a.JumpIf(rRows, "JLE", u, one)
		}
		if vectors == 1 { // eight bytes, no more
			a.Op("VMOVQ", at(rFrom, 0), row)
			a.Op("VPAND", mask, row, row)
		} else {
			a.Op("VPAND", at(rFrom, 0), mask, row)
		}
		a.Op("ADDQ", rLD, rFrom)
	}
	a.Place(one)
	for i, op := range []string{"VPUNPCKLBW", "VPUNPCKHBW"}[:vectors] {
		a.Op(op, rows[1], rows[0], xmm(v.reg(i)))
		a.Op(e.widen, xmm(v.reg(i)), v.reg(i))
	}
}

// part holds a row on its way into words, low the mask of the first row's place.
func (v Vector) part() string { return v.reg(v.Registers - 1) }
func (v Vector) low() string  { return v.reg(v.Registers - 2) }

// byteMask narrows the masks of laneMasks to bytes, in the first of them.
func (v Vector) byteMask(a *Asm, vectors int) {
	first, last := v.laneMask(0), v.laneMask(vectors-1)
	a.Op("VPACKSSDW", last, first, first)
	a.EOL("lanes in order")
	a.Op("VPERMQ", imm(0xd8), first, first)
	a.Op("VEXTRACTI128", imm(1), first, xmm(v.part()))
	a.Op("VPACKSSWB", xmm(v.part()), xmm(first), xmm(first))
}

// laneMasks prepares loadLanes: lanes from the count in reg on are not loaded.
func (v Vector) laneMasks(a *Asm, reg string, vectors int) {
	if v.Masks {
		const mask = "R8"
		a.first("KMOVD", reg, mask, words)
		for i := range vectors {
			a.Op("KMOVW", mask, fmt.Sprintf("K%d", i+1))
			a.Op("SHRQ", imm(v.Lanes), mask)
		}
		return
	}
	count := v.reg(v.Registers - 1)
	v.broadcast32(a, reg, count)
	for i := range vectors {
		a.EOL("lane < lanes")
		a.Op("VPCMPGTD", fmt.Sprintf("columns<>+%d(SB)", i*v.bytes()), count, v.laneMask(i))
	}
}

// laneMask is the register that laneMasks fills where there are no masks.
func (v Vector) laneMask(vector int) string { return v.reg(v.Registers - 4 - vector) }

// loadLanes loads one vector of a row and zeroes the lanes that are not its.
func (v Vector) loadLanes(a *Asm, load, mem string, vector int, reg string) {
	if v.Masks {
		a.Op(load+".Z", mem, fmt.Sprintf("K%d", vector+1), reg)
		return
	}
	a.Op(load, mem, reg)
	a.Op("VPAND", v.laneMask(vector), reg, reg)
}

// storedLanes prepares storeLanes for the last vector of width lanes.
func (v Vector) storedLanes(a *Asm, width int) {
	if rest := width % v.Lanes; v.Masks && rest > 0 {
		firstLanes(a, rest, rAt, storeMask)
	}
}

// firstLanes sets mask to the first lanes, by way of temp.
func firstLanes(a *Asm, lanes int, temp, mask string) {
	a.Op("MOVL", imm(1<<lanes-1), temp)
	a.Op("KMOVW", temp, mask)
}

const storeMask = "K7"

// storeLanes writes the first lanes of reg, which it may change.
func (v Vector) storeLanes(a *Asm, reg, address string, off, lanes int) {
	switch {
	case lanes == v.Lanes:
		a.Op("VMOVUPS", reg, at(address, off))
	case v.Masks:
		a.Op("VMOVUPS", reg, storeMask, at(address, off))
	case lanes == 6:
		x := xmm(reg)
		a.Op("VMOVUPS", x, at(address, off))
		a.Op("VEXTRACTF128", imm(1), reg, x)
		a.Op("VMOVSD", x, at(address, off+16))
	default:
		panic(fmt.Sprintf("asmgen: no store of %d lanes of %s", lanes, reg))
	}
}

// bitwise names a bitwise operation on vectors.
func (v Vector) bitwise(op string) string {
	if v.Masks {
		return op + "D"
	}
	return op
}

// broadcast32 fills reg with the low 32 bits of an integer register.
func (v Vector) broadcast32(a *Asm, from, reg string) {
	if v.Masks { // the registers above 15 have no VEX form
		a.Op("VPBROADCASTD", from, reg)
		return
	}
	x := xmm(reg)
	a.Op("VMOVD", from, x)
	a.Op("VPBROADCASTD", x, reg)
}
