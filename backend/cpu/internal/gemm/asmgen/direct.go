package asmgen

import "fmt"

// A Direct is a tile that reads b where it is, from rows of a matrix, instead
// of from a panel.
type Direct struct {
	Tile
	Name  string // of routine names
	Bytes int    // of an element of b
	KU    int    // rows of b in a step
	// words loads one step of b: a word for each column.
	words func(t Direct, a *Asm, b, scratch []string)
	// halved tells that words leaves four columns of each quarter of a vector
	// in the first vector and the next four in the second.
	halved bool
}

const (
	rLDB  = rBias // bytes
	words = "K3"  // mask of elements of 16 bits
)

// lookAhead is how far along its row each step asks for b, in bytes: a row
// comes 128 bytes at a time, which no prefetcher of the processor follows for
// a hundred rows.
const lookAhead = 512

var (
	directFloat32 = Direct{Name: "Float32", Bytes: 4, KU: 1,
		words: func(t Direct, a *Asm, b, _ []string) {
			for v := range b {
				a.Op("VMOVUPS.Z", t.row(0, v), t.mask(v), b[v])
			}
		}}
	directWideBFloat16 = Direct{Name: "WideBFloat16", Bytes: 2, KU: 1,
		words: func(t Direct, a *Asm, b, _ []string) {
			for v := range b {
				a.Op("VPMOVZXWD.Z", t.row(0, v), t.mask(v), b[v])
				a.Op("VPSLLD", imm(16), b[v], b[v])
			}
		}}
	directBFloat16 = Direct{Name: "BFloat16", Bytes: 2, KU: 2, halved: true,
		words: func(t Direct, a *Asm, b, scratch []string) {
			a.Op("VMOVDQU16.Z", t.row(0, 0), words, scratch[0])
			a.Op("VMOVDQU16.Z", t.row(1, 0), words, scratch[1])
			a.Op("VPUNPCKLWD", scratch[1], scratch[0], b[0])
			a.Op("VPUNPCKHWD", scratch[1], scratch[0], b[1])
		}}
)

// row is vector v of row u of the step.
func (t Direct) row(u, v int) string {
	mem := at(rB, v*t.Lanes*t.Bytes)
	if u == 1 {
		mem += "(" + rLDB + "*1)"
	}
	return mem
}

// tile writes the micro-kernel. It is that of Tile, but for where b comes from;
// columns beyond the edge are loaded as zero.
func (t Direct) tile(a *Asm) {
	a.Func("direct"+t.Name+t.Suffix,
		[]Arg{{Name: "c"}, {Name: "ldc"}, {Name: "steps"}, {Name: "a"}, {Name: "b"}, {Name: "ldb"},
			{Name: "rows"}, {Name: "cols"}, {Name: "accumulate", Bool: true}},
		[]string{rC, rLDC, rSteps, rA, rB, rLDB, rRows, rCols, rAcc})
	a.Op("SHLQ", imm(2), rLDC)
	t.masks(a)
	if t.halved {
		a.Op("MOVQ", imm(1), rCount)
		a.Op("SHLQ", rCols, rCount)
		a.Op("DECQ", rCount)
		a.Op("KMOVD", rCount, words)
	}
	for i := range t.MR * t.Vectors {
		t.zero(a, t.reg(i))
	}

	add := a.NewLabel("add")
	loops := map[int]Label{}
	for _, rows := range t.Heights {
		loops[rows] = a.NewLabel(fmt.Sprintf("direct%d_", rows))
	}
	for i := len(t.Heights) - 1; i > 0; i-- {
		a.JumpIf(rRows, "JLE", t.Heights[i], loops[t.Heights[i]])
	}
	for _, rows := range t.Heights {
		a.Place(loops[rows])
		a.Unrolled(rSteps, rCount, unroll, func(steps int) {
			for s := range steps {
				t.step(a, rows, s)
			}
			a.Op("ADDQ", imm(steps*t.MR*4), rA)
		})
		if rows != t.Heights[len(t.Heights)-1] {
			a.Op("JMP", string(add))
		}
	}
	a.Place(add)
	t.storeOrAdd(a, func(a *Asm, row int, add bool) {
		if t.halved {
			t.unite(a, row)
		}
		t.storeMasked(a, row, add)
	})
}

// step advances the sums of some rows by step s of the turn.
func (t Direct) step(a *Asm, rows, s int) {
	const line = 64
	free := t.free()
	b, scratch := free[:t.Vectors], free[t.Vectors:]
	for u := range t.KU {
		for off := 0; off < t.Vectors*t.Lanes*t.Bytes; off += line {
			mem := at(rB, lookAhead+off)
			if u == 1 {
				mem += "(" + rLDB + "*1)"
			}
			a.Op("PREFETCHT0", mem)
		}
	}
	t.words(t, a, b, scratch)
	a.Op("LEAQ", fmt.Sprintf("(%s)(%s*%d)", rB, rLDB, t.KU), rB)
	for r := range rows {
		word := scratch[r%len(scratch)]
		a.Op(t.Broadcast, at(rA, (s*t.MR+r)*4), word)
		for v := range t.Vectors {
			t.multiplyAdd(a, word, b[v], t.acc(r, v), nil)
		}
	}
}

// unite puts the columns of halved sums in order.
func (t Direct) unite(a *Asm, row int) {
	low, high, lower := t.acc(row, 0), t.acc(row, 1), t.free()[0]
	a.Op("VSHUFF32X4", imm(0x44), high, low, lower) // quarters 0 and 1 of both
	a.Op("VSHUFF32X4", imm(0xee), high, low, high)
	a.Op("VSHUFF32X4", imm(0xd8), lower, lower, low) // one of the first, one of the second
	a.Op("VSHUFF32X4", imm(0xd8), high, high, high)
}
