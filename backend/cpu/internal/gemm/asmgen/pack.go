package asmgen

import "fmt"

// An Element is how elements in memory become words.
type Element struct {
	Name  string // of routine names
	Bytes int    // of an element
	KU    int    // elements in a word
	// words loads a vector of words made from consecutive elements.
	words func(a *Asm, v Vector, mem, reg string)
	// field loads a vector of consecutive elements, each in the low bits of
	// its lane; the bits above may be anything if dirty.
	field func(a *Asm, v Vector, mem, reg string)
	dirty bool
	flips bool // takes an argument that is xored to every word

	rowsOf string // element that is packed the same way, as words are in memory
	avx512 bool   // multiplied by AVX-512 only
}

func load(mnemonic string) func(*Asm, Vector, string, string) {
	return func(a *Asm, _ Vector, mem, reg string) { a.Op(mnemonic, mem, reg) }
}

func loadBFloat16(a *Asm, _ Vector, mem, reg string) {
	a.Op("VPMOVZXWD", mem, reg)
	a.Op("VPSLLD", imm(16), reg, reg)
}

var elements = []Element{
	{Name: "Float32", Bytes: 4, KU: 1, words: load("VMOVUPS"), field: load("VMOVUPS")},
	{Name: "BFloat16", Bytes: 2, KU: 1, words: loadBFloat16, field: loadBFloat16},
	{Name: "PairsBFloat16", Bytes: 2, KU: 2, field: load("VPMOVZXWD"), rowsOf: "Float32", avx512: true},
	{Name: "Quads", Bytes: 1, KU: 4, words: load("VMOVUPS"), field: load("VPMOVZXBD"), flips: true, avx512: true},
	{Name: "PairsInt8", Bytes: 1, KU: 2, words: load("VPMOVSXBW"), field: load("VPMOVSXBD"), dirty: true},
	{Name: "PairsUint8", Bytes: 1, KU: 2, words: load("VPMOVZXBW"), field: load("VPMOVZXBD")},
}

// bitwise names a bitwise operation on vectors.
func (v Vector) bitwise(op string) string {
	if v.Masks {
		return op + "D"
	}
	return op
}

var packArgs = []Arg{{Name: "dst"}, {Name: "src"}, {Name: "ld"}}

func (e Element) args(more ...string) ([]Arg, []string) {
	args, regs := packArgs, []string{"DI", "SI", "DX"}
	for i, name := range more {
		args = append(args[:len(args):len(args)], Arg{Name: name})
		regs = append(regs, []string{"R8", "R9", "R10"}[i])
	}
	if e.flips {
		args = append(args[:len(args):len(args)], Arg{Name: "flip"})
		regs = append(regs, "AX")
	}
	return args, regs
}

// columns writes the packing of a matrix whose rows run along the panel: a
// step is KU rows, folded into words, of width lanes.
func (e Element) columns(v Vector, vectors int) func(*Asm) {
	return func(a *Asm) {
		const rDst, rSrc, rLD, rSteps, rRow = "DI", "SI", "DX", "R8", "R11"
		width := vectors * v.Lanes
		word := func(i int) string { return v.reg(i) }
		part, low, flip := v.reg(v.Registers-1), v.reg(v.Registers-2), v.reg(v.Registers-3)

		args, regs := e.args("steps")
		a.Func(fmt.Sprintf("pack%sColumns%s", e.Name, v.Suffix), args, regs)
		if e.dirty {
			a.EOL("the low field of a word")
			a.Op("MOVL", imm(1<<(32/e.KU)-1), "AX")
			a.broadcastAX(v, low)
		}
		if e.flips {
			a.broadcastAX(v, flip)
		}
		a.CountDown(rSteps, func() {
			a.Op("MOVQ", rSrc, rRow)
			for u := range e.KU {
				for i := range vectors {
					mem := at(rRow, i*v.Lanes*e.Bytes)
					if u == 0 {
						e.field(a, v, mem, word(i))
						if e.dirty {
							a.Op(v.bitwise("VPAND"), low, word(i), word(i))
						}
						continue
					}
					e.field(a, v, mem, part)
					a.Op("VPSLLD", imm(u*32/e.KU), part, part)
					a.Op(v.bitwise("VPOR"), part, word(i), word(i))
				}
				a.Op("ADDQ", rLD, rRow)
			}
			a.Op("MOVQ", rRow, rSrc)
			for i := range vectors {
				if e.flips {
					a.Op(v.bitwise("VPXOR"), flip, word(i), word(i))
				}
				a.Op("VMOVUPS", word(i), at(rDst, i*v.bytes()))
			}
			a.Op("ADDQ", imm(4*width), rDst)
		})
		a.Return()
	}
}

// broadcastAX fills reg with the low 32 bits of AX.
func (a *Asm) broadcastAX(v Vector, reg string) {
	x := "X" + reg[1:]
	if v.Masks { // the registers above 15 have no VEX form
		a.Op("VPBROADCASTD", "AX", reg)
		return
	}
	a.Op("VMOVD", "AX", x)
	a.Op("VPBROADCASTD", x, reg)
}
