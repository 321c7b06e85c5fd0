package asmgen

import "fmt"

// An InPlace is a micro-kernel for few rows of a that reads b where it lies, as
// narrow as it is stored, and goes along its rows tile by tile. Numbers are
// widened in registers, anew for each tile of rows: that takes fewer cycles than
// the multiplications and is done beside them.
type InPlace struct {
	Product
	Name  string // of routine names
	Bits  int    // of an element of b
	KU    int    // rows of b in a step
	widen func(a *Asm, s source)
	// constants that widen needs, the most used first.
	constants []string
	// scaled tells that the sums are to be multiplied by the constant scale.
	scaled bool
}

// A source is what widen needs: it loads sixteen columns of a step as words to two
// registers.
type source struct {
	at       func(row, off int) string // memory off bytes along a row of the step
	constant func(name string) string  // an operand
	to       [2]string
	temp     string
}

// inPlaceShapes are the tiles: up to so many rows, so many vectors of columns. The
// fewer the rows, the wider, so that no addition waits for the one before it.
var inPlaceShapes = []struct{ rows, vectors int }{{6, 2}, {4, 2}, {2, 4}, {1, 8}}

// inPlaceHeight is that of panels of a.
const inPlaceHeight = 6

var inPlaceConstants = []struct {
	name  string
	words []uint32
}{
	{"toTop", []uint32{28, 24, 20, 16, 12, 8, 4, 0}}, // shifts of eight nibbles
	{"code", []uint32{0xbf80bf80}},                   // sign, exponent and mantissa of e4m3 in a half
	{"sign", []uint32{0x80008000}},
	{"scale", []uint32{0x43800000}}, // 2^8: what the biases of a half and of e4m3 differ by
}

func constantsInPlace(a *Asm) {
	a.raw("\n")
	for _, c := range inPlaceConstants {
		for i := range avx2.Lanes {
			a.raw("DATA %s<>+%d(SB)/4, $%#x\n", c.name, 4*i, c.words[i%len(c.words)])
		}
		a.raw("GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", c.name, avx2.bytes())
	}
}

func xmm(reg string) string { return "X" + reg[1:] }

var inPlaces = []InPlace{
	{Product: float32s, Name: "Int8", Bits: 8, KU: 1, widen: func(a *Asm, s source) {
		for i, to := range s.to {
			a.Op("VPMOVSXBD", s.at(0, 8*i), to)
			a.Op("VCVTDQ2PS", to, to)
		}
	}},
	{Product: float32s, Name: "Int4", Bits: 4, KU: 1, constants: []string{"toTop"}, widen: func(a *Asm, s source) {
		for i, to := range s.to {
			a.nibbles(s, 0, 4*i, to)
			a.Op("VPSRAD", imm(28), to, to)
			a.Op("VCVTDQ2PS", to, to)
		}
	}},
	// A half has 5 bits of exponent and 10 of mantissa, and no NaN where e4m3fn has
	// its only one.
	{Product: float32s, Name: "Float8E4M3", Bits: 8, KU: 1, constants: []string{"code", "sign"}, scaled: true, widen: func(a *Asm, s source) {
		low, high := s.to[0], s.to[1]
		a.Op("VPMOVSXBW", s.at(0, 0), low)
		a.Op("VPSLLW", imm(7), low, low)
		a.Op("VPAND", s.constant("code"), low, low)
		a.Op("VPOR", s.constant("sign"), low, high)
		a.EOL("all bits of a NaN")
		a.Op("VPCMPEQW", s.constant("code"), high, high)
		a.Op("VPOR", high, low, low)
		a.fromHalves(low, high)
	}},
	// Of a half, e5m2 is the upper byte.
	{Product: float32s, Name: "Float8E5M2", Bits: 8, KU: 1, widen: func(a *Asm, s source) {
		low, high := s.to[0], s.to[1]
		a.Op("VPMOVZXBW", s.at(0, 0), low)
		a.Op("VPSLLW", imm(8), low, low)
		a.fromHalves(low, high)
	}},
	{Product: pairs, Name: "PairsInt4", Bits: 4, KU: 2, constants: []string{"toTop"}, widen: func(a *Asm, s source) {
		for i, to := range s.to {
			a.nibbles(s, 0, 4*i, to)
			a.nibbles(s, 1, 4*i, s.temp)
			a.Op("VPSRAD", imm(28), to, to)
			a.Op("VPSRAD", imm(12), s.temp, s.temp)
			a.EOL("the upper halves")
			a.Op("VPBLENDW", imm(0xaa), s.temp, to, to)
		}
	}},
}

// nibbles loads eight nibbles of a row to the tops of words.
func (a *Asm) nibbles(s source, row, off int, to string) {
	a.Op("VPBROADCASTD", s.at(row, off), to)
	a.Op("VPSLLVD", s.constant("toTop"), to, to)
}

// fromHalves widens the sixteen halves in low to both registers.
func (a *Asm) fromHalves(low, high string) {
	a.Op("VEXTRACTI128", imm(1), low, xmm(high))
	a.Op("VCVTPH2PS", xmm(low), low)
	a.Op("VCVTPH2PS", xmm(high), high)
}

// Registers of an InPlace beside those of a Tile.
const (
	rNear  = rNext
	rTiles = rCols
	rRow0  = "R15" // of b, in this step
	rRow1  = rRow
)

// kernel writes the micro-kernel: for each shape a loop over tiles of columns, in
// it one over steps.
func (t InPlace) kernel(a *Asm) {
	a.Func("inPlace"+t.Name+avx2.Suffix,
		[]Arg{{Name: "c"}, {Name: "ldc"}, {Name: "steps"}, {Name: "a"}, {Name: "b"}, {Name: "ldb"}, {Name: "ahead"},
			{Name: "rows"}, {Name: "tiles"}, {Name: "accumulate", Bool: true}},
		[]string{rC, rLDC, rSteps, rA, rB, rLDB, rNear, rRows, rTiles, rAcc})
	a.Op("SHLQ", imm(2), rLDC)
	var labels []Label
	for _, s := range inPlaceShapes {
		labels = append(labels, a.NewLabel(fmt.Sprintf("rows%d_", s.rows)))
	}
	for i := len(labels) - 1; i > 0; i-- {
		a.JumpIf(rRows, "JLE", inPlaceShapes[i].rows, labels[i])
	}
	for i, s := range inPlaceShapes {
		a.Place(labels[i])
		t.tiles(a, s.rows, s.vectors)
	}
}

// tiles goes along the rows of b by tiles of one shape.
func (t InPlace) tiles(a *Asm, rows, vectors int) {
	sum := func(r, v int) string { return avx2.reg(r*vectors + v) }
	free := avx2.Registers - rows*vectors
	spare := func(i int) string { return avx2.reg(rows*vectors + i) }
	s := source{
		to: [2]string{spare(0), spare(1)}, temp: spare(2),
		at: func(row, off int) string { return at([]string{rRow0, rRow1}[row], off) },
	}
	word, taken := func(r int) string { return spare(3) }, 4
	groups := vectors / 2
	if groups > 1 { // all need the same words of a
		word, taken = func(r int) string { return spare(3 + r) }, 3+rows
	}
	held := map[string]string{}
	for _, name := range t.constants {
		if taken < free {
			held[name] = spare(taken)
			a.Op("VMOVDQU", name+"<>(SB)", held[name])
			taken++
		}
	}
	s.constant = func(name string) string {
		if reg, ok := held[name]; ok {
			return reg
		}
		return name + "<>(SB)"
	}

	tile, next := a.NewLabel("tile"), a.NewLabel("next")
	a.Place(tile)
	for r := range rows {
		for v := range vectors {
			avx2.zero(a, sum(r, v))
		}
	}
	a.Op("MOVQ", "a+24(FP)", rA)
	a.Op("MOVQ", rB, rRow0)
	const unroll = 2
	a.Unrolled(rSteps, rCount, unroll, func(steps int) {
		for step := range steps {
			t.step(a, s, vectors, rows, step, word, sum)
		}
		a.Op("ADDQ", imm(4*inPlaceHeight*steps), rA)
	})

	if t.scaled {
		for r := range rows {
			for v := range vectors {
				a.Op("VMULPS", s.constant("scale"), sum(r, v), sum(r, v))
			}
		}
	}
	plain := a.NewLabel("store")
	a.Op("MOVQ", rC, rRow)
	a.JumpIf(rAcc, "JEQ", 0, plain)
	for _, add := range []bool{true, false} {
		if !add {
			a.Place(plain)
		}
		for r := range rows {
			if r > 0 {
				a.JumpIf(rRows, "JLE", r, next)
				a.Op("ADDQ", rLDC, rRow)
			}
			for v := range vectors {
				off := v * avx2.bytes()
				if add {
					a.Op(t.Add, at(rRow, off), sum(r, v), sum(r, v))
				}
				a.Op("VMOVUPS", sum(r, v), at(rRow, off))
			}
		}
		if add {
			a.Op("JMP", string(next))
		}
	}
	a.Place(next)
	columns := vectors * avx2.Lanes
	a.Op("ADDQ", imm(columns*t.Bits/8), rB)
	a.Op("ADDQ", imm(columns*4), rC)
	a.Op("DECQ", rTiles)
	a.Op("JNZ", string(tile))
	a.Return()
}

// step advances the sums by step number n of a turn.
func (t InPlace) step(a *Asm, s source, vectors, rows, n int, word func(int) string, sum func(r, v int) string) {
	const line = 64
	if t.KU > 1 {
		a.Op("LEAQ", "("+rRow0+")("+rLDB+"*1)", rRow1)
	}
	for u := range t.KU {
		for off := 0; off < vectors*avx2.Lanes*t.Bits/8; off += line {
			a.Op("PREFETCHT0", s.at(u, off)+"("+rNear+"*1)")
		}
	}
	load := func(r int) { a.Op(t.Broadcast, at(rA, (n*inPlaceHeight+r)*4), word(r)) }
	groups := vectors / 2
	if groups > 1 {
		for r := range rows {
			load(r)
		}
	}
	for g := range groups {
		along := s
		along.at = func(row, off int) string { return s.at(row, 2*g*avx2.Lanes*t.Bits/8+off) }
		t.widen(a, along)
		for r := range rows {
			if groups == 1 {
				load(r)
			}
			for v, b := range s.to {
				t.multiplyAdd(a, word(r), b, sum(r, 2*g+v), func() string { return s.temp })
			}
		}
	}
	a.Op("LEAQ", fmt.Sprintf("(%s)(%s*%d)", rRow0, rLDB, t.KU), rRow0)
}
