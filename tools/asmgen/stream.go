package asmgen

// A Stream multiplies one row of a by eight rows of b where they lie, column after
// column: each row of b is read like a stream, which processors follow, and sums
// of few columns at a time are in registers. Words of a stay there.
type Stream struct {
	Vector
	Product
	Name  string // of routine names
	Bytes int    // of an element of b
	// words loads sixteen columns of the rows of one word, and adds their products
	// to the sums.
	words func(s Stream, a *Asm, word int)
	// order puts the columns of sums in order where words does not keep it.
	order func(a *Asm, first, second, temp string)
	// start prepares what words needs besides.
	start func(s Stream, a *Asm)
}

const (
	streamRows    = 8
	streamColumns = 16 // of a turn
	// streamAhead is how far ahead of its columns a row is asked for, in bytes.
	streamAhead = 512

	rB4     = rNext // row 4
	rL3     = rRows // three rows, in bytes
	rAhead  = rLDC  // row 0 of what is asked for
	rAhead4 = rSteps
	rAfter  = rRow // row 0 of what is asked for at the end of the rows
)

var (
	streamFloat32 = Stream{Vector: avx2, Product: float32s, Name: "Float32", Bytes: 4,
		words: func(s Stream, a *Asm, word int) {
			for v := range 2 {
				a.Op("VFMADD231PS", s.row(word, v*32), s.word(word), s.sum(v))
			}
		}}
	// Of a word of two columns, the odd one is a float32 once the even one is
	// cleared, and the even one once it is shifted into its place.
	streamBFloat16 = Stream{Vector: avx2, Product: float32s, Name: "BFloat16", Bytes: 2, order: orderPairs,
		start: func(s Stream, a *Asm) {
			a.Op("VPCMPEQD", s.odd(), s.odd(), s.odd())
			a.Op("VPSLLD", imm(16), s.odd(), s.odd())
		},
		words: func(s Stream, a *Asm, word int) {
			even, odd := s.temp(word%2*2), s.temp(word%2*2+1)
			a.Op("VMOVUPS", s.row(word, 0), even)
			a.Op("VPAND", even, s.odd(), odd)
			a.Op("VPSLLD", imm(16), even, even)
			a.Op("VFMADD231PS", even, s.word(word), s.sum(0))
			a.Op("VFMADD231PS", odd, s.word(word), s.sum(1))
		}}
	streamPairs = Stream{Vector: avx2, Product: pairs, Name: "Pairs", Bytes: 1, order: orderFours,
		words: func(s Stream, a *Asm, word int) {
			first, second := s.temp(word%2*3), s.temp(word%2*3+1)
			high := s.temp(word%2*3 + 2)
			a.Op("VPMOVSXBW", s.row(2*word, 0), first)
			a.Op("VPMOVSXBW", s.row(2*word+1, 0), second)
			a.Op("VPUNPCKHWD", second, first, high)
			a.Op("VPUNPCKLWD", second, first, first)
			a.Op("VPMADDWD", first, s.word(word), first)
			a.Op("VPMADDWD", high, s.word(word), high)
			a.Op("VPADDD", first, s.sum(0), s.sum(0))
			a.Op("VPADDD", high, s.sum(1), s.sum(1))
		}}
)

// orderPairs is for even columns in the first vector of eight, odd ones in the
// second.
func orderPairs(a *Asm, first, second, temp string) {
	a.Op("VUNPCKLPS", second, first, temp)
	a.Op("VUNPCKHPS", second, first, second)
	a.Op("VMOVAPS", temp, first)
	orderFours(a, first, second, temp)
}

func (s Stream) word(i int) string { return s.reg(i) }
func (s Stream) sum(v int) string  { return s.reg(streamRows + v) }
func (s Stream) temp(i int) string { return s.reg(streamRows + 2 + i) }
func (s Stream) odd() string       { return s.reg(15) }

// row is off bytes behind the current column of row i.
func (s Stream) row(i, off int) string { return rowFrom([2]string{rB, rB4}, i, off) }

// rowFrom is off bytes behind row i, where base has rows 0 and 4.
func rowFrom(base [2]string, i, off int) string {
	return rowOf(base[i/4], rLDB, rL3, i%4, off)
}

// stream writes the micro-kernel. It asks for its rows some way ahead, and towards
// their end for what comes after.
func (s Stream) stream(a *Asm) {
	a.Func("stream"+s.Name+s.Suffix, s.summing("a *uint32, b unsafe.Pointer, ldb, cols int, after uintptr"), rC, rA, rB, rLDB, rCols, rAfter, rAcc)
	words := streamRows
	if s.Bytes == 1 {
		words /= 2
	}
	a.threefold(rLDB, rL3)
	a.Op("LEAQ", indexed(at(rB, 0), rLDB, 4), rB4)
	a.Op("SHRQ", imm(4), rCols)
	step := streamColumns * s.Bytes
	turn, short := streamAhead/step, a.NewLabel("short")
	a.Op("LEAQ", at(rB, streamAhead), rAhead)
	a.JumpIf(rCols, "JGT", turn, short)
	a.EOL("the row ends before")
	a.Op("MOVQ", rAfter, rAhead)
	a.Place(short)
	a.Op("LEAQ", indexed(at(rAhead, 0), rLDB, 4), rAhead4)
	for i := range words {
		a.Op(s.Broadcast, at(rA, 4*i), s.word(i))
	}
	if s.start != nil {
		s.start(s, a)
	}
	a.CountDown(rCols, func() {
		for i := range streamRows {
			a.Op("PREFETCHT0", rowFrom([2]string{rAhead, rAhead4}, i, 0))
		}
		s.zero(a, s.sum(0), s.sum(1))
		for i := range words {
			s.words(s, a, i)
		}
		if s.order != nil {
			s.order(a, s.sum(0), s.sum(1), s.temp(0))
		}
		plain := a.NewLabel("plain")
		a.JumpIf(rAcc, "JEQ", 0, plain)
		for v := range 2 {
			a.Op(s.Add, at(rC, v*32), s.sum(v), s.sum(v))
		}
		a.Place(plain)
		for v := range 2 {
			a.Op("VMOVUPS", s.sum(v), at(rC, v*32))
		}
		a.advance(step, rB, rB4, rAhead, rAhead4)
		a.Op("ADDQ", imm(streamColumns*4), rC)
		along := a.NewLabel("along")
		a.JumpIf(rCols, "JNE", turn+1, along)
		a.Op("MOVQ", rAfter, rAhead)
		a.Op("LEAQ", indexed(at(rAhead, 0), rLDB, 4), rAhead4)
		a.Place(along)
	})
	a.Return()
}
