package asmgen

var inPlaceConstants = []struct {
	name  string
	words []uint32
}{
	{"toTop", []uint32{28, 24, 20, 16, 12, 8, 4, 0}}, // shifts of eight nibbles
	{"code", []uint32{0xbf80bf80}},                   // sign, exponent and mantissa of e4m3 in a half
	{"sign", []uint32{0x80008000}},
	{"scale", []uint32{0x43800000}}, // 2^8: what the biases of a half and of e4m3 differ by

	{"nibbles", []uint32{0xf0f0f0f0}},
	{"unscale", []uint32{0x31800000}}, // 2^-28
	// Four bytes of each half to the tops of words.
	{"tops0", []uint32{0x00808080, 0x01808080, 0x02808080, 0x03808080}},
	{"tops1", []uint32{0x04808080, 0x05808080, 0x06808080, 0x07808080}},
	{"tops2", []uint32{0x08808080, 0x09808080, 0x0a808080, 0x0b808080}},
	{"tops3", []uint32{0x0c808080, 0x0d808080, 0x0e808080, 0x0f808080}},
	// Those bytes of eight whose nibbles are neighbours once they are in order.
	{"near0", []uint32{0x00808080, 0x01808080, 0x04808080, 0x05808080, 0x02808080, 0x03808080, 0x06808080, 0x07808080}},
	{"near1", []uint32{0x08808080, 0x09808080, 0x0c808080, 0x0d808080, 0x0a808080, 0x0b808080, 0x0e808080, 0x0f808080}},
	// Bytes of columns 0 … 7 to the tops of words, of columns 8 … 15 to the tops of
	// their lower halves.
	{"halves", []uint32{0x00800880, 0x01800980, 0x02800a80, 0x03800b80, 0x04800c80, 0x05800d80, 0x06800e80, 0x07800f80}},
	{"e4m3", []uint32{0x87f00000}}, // sign, exponent and mantissa in a float32
	{"e5m2", []uint32{0x8fe00000}},
	{"mostE4M3", []uint32{0xfcfcfcfc}}, // doubled; beyond are NaNs
	{"mostE5M2", []uint32{0xf6f6f6f6}}, // beyond are infinities and NaNs

	{"offsets", []uint32{0x88888888}}, // of nibbles
	{"lowNibbles", []uint32{0x0f0f0f0f}},
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

var inPlaces = []InPlace{
	{Product: float32s, Name: "Int8", Bits: 8, KU: 1, shapes: inPlaceShapes, widen: sixteen(8, func(a *Asm, s source) {
		for i, to := range s.to {
			a.Op("VPMOVSXBD", s.at(0, 8*i), to)
			a.Op("VCVTDQ2PS", to, to)
		}
	})},
	{Product: float32s, Name: "Int4", Bits: 4, KU: 1, shapes: inPlaceShapes, widen: sixteen(4, func(a *Asm, s source) {
		for i, to := range s.to {
			a.nibbles(s, 0, 4*i, to)
			a.Op("VPSRAD", imm(28), to, to)
			a.Op("VCVTDQ2PS", to, to)
		}
	})},
	// A half has 5 bits of exponent and 10 of mantissa, and no NaN where e4m3fn has
	// its only one.
	{Product: float32s, Name: "Float8E4M3", Bits: 8, KU: 1, shapes: inPlaceShapes, scale: "scale", widen: sixteen(8, func(a *Asm, s source) {
		low, high := s.to[0], s.to[1]
		a.Op("VPMOVSXBW", s.at(0, 0), low)
		a.Op("VPSLLW", imm(7), low, low)
		a.Op("VPAND", s.constant("code"), low, low)
		a.Op("VPOR", s.constant("sign"), low, high)
		a.EOL("all bits of a NaN")
		a.Op("VPCMPEQW", s.constant("code"), high, high)
		a.Op("VPOR", high, low, low)
		a.fromHalves(low, high)
	})},
	// Of a half, e5m2 is the upper byte.
	{Product: float32s, Name: "Float8E5M2", Bits: 8, KU: 1, shapes: inPlaceShapes, widen: sixteen(8, func(a *Asm, s source) {
		low, high := s.to[0], s.to[1]
		a.Op("VPMOVZXBW", s.at(0, 0), low)
		a.Op("VPSLLW", imm(8), low, low)
		a.fromHalves(low, high)
	})},
	// Those below are for words of a that a quick makes.
	{Product: float32s, Name: "QuickInt4", Bits: 4, KU: 1, shapes: inPlaceShapes[2:], scale: "unscale", widen: widenNibbles, order: orderNibbles},
	{Product: float32s, Name: "QuickFloat8E4M3", Bits: 8, KU: 1, shapes: inPlaceShapes, scale: "scale",
		most: "mostE4M3", widen: float8Words(4, "e4m3")},
	{Product: float32s, Name: "QuickFloat8E5M2", Bits: 8, KU: 1, shapes: inPlaceShapes,
		most: "mostE5M2", widen: float8Words(3, "e5m2")},
}

// sixteen makes a widen of what loads sixteen columns to both registers.
func sixteen(bits int, load func(a *Asm, s source)) func(*Asm, source, int, func(int, ...string)) {
	return func(a *Asm, s source, vectors int, use func(first int, words ...string)) {
		for v := 0; v < vectors; v += 2 {
			along := s
			along.at = func(row, off int) string { return s.at(row, v*avx2.Lanes*bits/8+off) }
			load(a, along)
			use(v, s.to[:]...)
		}
	}
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

// widenNibbles converts nibbles at the tops of words, which multiplies them by 2^28:
// the low ones of four bytes of each half of a vector, and the high ones. Of 32
// columns both halves have all, so that orderNibbles need not cross them.
func widenNibbles(a *Asm, s source, vectors int, use func(first int, words ...string)) {
	load, tops := "VMOVDQU", []string{"tops0", "tops1", "tops2", "tops3"}
	if vectors == 4 {
		load, tops = "VBROADCASTI128", []string{"near0", "near1"}
	}
	low, high := s.to[0], s.to[1]
	a.Op(load, s.at(0, 0), high)
	a.Op("VPSLLW", imm(4), high, low)
	a.Op("VPAND", s.constant("nibbles"), low, low)
	a.Op("VPAND", s.constant("nibbles"), high, high)
	for g, to := range tops {
		for i, from := range s.to {
			a.Op("VPSHUFB", s.constant(to), from, s.temp)
			a.Op("VCVTDQ2PS", s.temp, s.temp)
			use(2*g+i, s.temp)
		}
	}
}

func orderNibbles(a *Asm, sums []string, temp string) []string {
	var first, second []string
	for i := 0; i < len(sums); i += 2 {
		even, odd := sums[i], sums[i+1]
		a.Op("VUNPCKLPS", odd, even, temp)
		a.Op("VUNPCKHPS", odd, even, odd)
		if len(sums) == 4 {
			a.Op("VMOVAPS", temp, even)
			first = append(first, even, odd)
			continue
		}
		a.Op("VPERM2F128", imm(0x20), odd, temp, even)
		a.Op("VPERM2F128", imm(0x31), odd, temp, odd)
		first, second = append(first, even), append(second, odd)
	}
	return append(first, second...)
}

// float8Words is the widen of float8 that takes their bits for those of float32: that
// divides numbers by two to the difference of the biases, also denormal ones.
func float8Words(shift int, mask string) func(*Asm, source, int, func(int, ...string)) {
	return func(a *Asm, s source, vectors int, use func(first int, words ...string)) {
		high, low := s.to[0], s.to[1]
		double := func(codes string) {
			a.Op("VPADDB", codes, codes, high)
			a.Op("VPMAXUB", high, s.temp, s.temp)
		}
		for v := 0; v < vectors; v += 2 {
			if v%4 == 0 && vectors > 2 {
				a.Op("VMOVDQU", s.at(0, v*avx2.Lanes), low)
				double(low)
			}
			a.Op("VBROADCASTI128", s.at(0, v*avx2.Lanes), low)
			if vectors == 2 {
				double(low)
			}
			a.Op("VPSHUFB", s.constant("halves"), low, low)
			a.Op("VPSRAW", imm(shift), low, low)
			a.Op("VPAND", s.constant(mask), low, high)
			a.Op("VPSLLD", imm(16), low, low)
			a.Op("VPAND", s.constant(mask), low, low)
			use(v, high, low)
		}
	}
}
