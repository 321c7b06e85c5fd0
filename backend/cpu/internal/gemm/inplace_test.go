package gemm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/widen"
)

// An inPlaceTwins is an InPlace; its twin widens b in Go, packs it in Go and runs
// the twin of the tile.
type inPlaceTwins[C Sum] struct {
	*InPlace[C]
	// words makes those of a, which are multiples of unit.
	words func(*rand.Rand) (word func() uint32, unit C)
	fill  func(*rand.Rand, []byte) // b
	// pack widens and packs rows of cols elements, ld of them apart, to panels.
	pack func(panel []uint32, b []byte, ld, cols, k int)
	tile func(nr int) tile[C]
}

const inPlaceMR = 6

// eachInPlace calls the function of the type of each InPlace of this machine. Their
// numbers are such that float32 holds all sums exactly, in whatever order, but for
// those that are infinite or NaN in any order.
func eachInPlace(t testing.TB, floats func(inPlaceTwins[float32]), ints func(inPlaceTwins[int32])) {
	k := For(AVX2)
	if k == nil {
		t.Logf("not tested on this machine, which lacks %q: in place", AVX2.Missing())
		return
	}
	each := func(number func(*rand.Rand) byte) func(*rand.Rand, []byte) {
		return func(r *rand.Rand, b []byte) {
			for i := range b {
				b[i] = number(r)
			}
		}
	}
	all := each(func(r *rand.Rand) byte { return byte(r.Uint32()) })
	// Numbers that quick tiles are for, or not.
	ones := func(r *rand.Rand) (func() uint32, float32) {
		unit := []float32{1, 0x1p-20, 0x1p17, 0x1p91}[r.IntN(4)]
		return func() uint32 { return math.Float32bits(float32(r.IntN(3)-1) * unit) }, unit
	}
	pairs := func(r *rand.Rand) (func() uint32, int32) {
		one := func() uint32 { return uint32(uint16(int8(r.Uint32()))) }
		if r.IntN(4) == 0 { // the greatest sums
			one = func() uint32 { return 0xff80 }
		}
		return func() uint32 { return one() | one()<<16 }, 1
	}
	// Few codes that are no numbers, in every second b.
	sometimes := func(fill func(*rand.Rand, []byte), codes ...byte) func(*rand.Rand, []byte) {
		return func(r *rand.Rand, b []byte) {
			fill(r, b)
			for range r.IntN(2) * (1 + r.IntN(3)) {
				b[r.IntN(len(b))] = codes[r.IntN(len(codes))]
			}
		}
	}
	halves := func(p *InPlace[float32], fill func(*rand.Rand, []byte), loop func(dst []uint16, src []byte, off, ahead int)) {
		floats(inPlaceTwins[float32]{p, ones, fill, func(panel []uint32, b []byte, ld, cols, k int) {
			pack.Go(mostInPlaceCols, pack.AsBFloat16).Columns(panel, len(panel), widened(b, ld, cols, k, loop), cols, cols, k)
		}, func(nr int) tile[float32] { return tileFloat32(inPlaceMR, nr) }})
	}
	halves(k.Float32.InPlace["int4"], all, widen.Generic.Int4)
	halves(k.Float32.InPlace["int8"], all, widen.Generic.Int8)
	if p := k.Float32.InPlace["float8_e4m3fn"]; p != nil {
		halves(p, sometimes(each(func(r *rand.Rand) byte { return byte(r.IntN(2)<<7 | r.IntN(0x7f)) }), 0x7f, 0xff), widen.Generic.Float8E4M3)
		halves(k.Float32.InPlace["float8_e5m2"], sometimes(each(func(r *rand.Rand) byte { return byte(r.IntN(2)<<7 | 12<<2 + r.IntN(30)) }), 0x7c, 0xfc, 0x7e, 0xff), widen.Generic.Float8E5M2)
	}

	bytes := func(p *InPlace[int32], loop func(dst []int8, src []byte, off, ahead int)) {
		ints(inPlaceTwins[int32]{p, pairs, all, func(panel []uint32, b []byte, ld, cols, k int) {
			pack.Go(mostInPlaceCols, pack.AsPairs).Columns(panel, len(panel), widened(b, ld, cols, k, loop), cols, cols, k)
		}, func(nr int) tile[int32] { return tilePairs(inPlaceMR, nr) }})
	}
	bytes(k.WideInt8.InPlace["int4"], widen.Generic.Int4ToInt8)
}

// widened is k rows of cols elements.
func widened[S Source](b []byte, ld, cols, k int, loop func(dst []S, src []byte, off, ahead int)) []S {
	wide := make([]S, k*cols)
	for l := range k {
		loop(wide[l*cols:][:cols], b, l*ld, 0)
	}
	return wide
}

func TestInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	each := func(check func(m, n, k int)) {
		for m := 1; m <= 14; m++ {
			for _, n := range []int{1, 2, 15, 16, 31, 33, 64, 65, 130} {
				check(m, n, 1+r.IntN(40))
			}
		}
		for k := 1; k <= 40; k++ {
			check(1+r.IntN(8), 1+r.IntN(70), k)
		}
		check(13, inPieceColumns+17, inPieceSteps+5) // pieces, the last ones smaller
		check(26, 2*inPieceColumns+16, 2*inPieceSteps)
	}
	eachInPlace(t, func(x inPlaceTwins[float32]) {
		t.Run(x.Name, func(t *testing.T) { each(func(m, n, k int) { checkInPlace(t, r, x, m, n, k) }) })
	}, func(x inPlaceTwins[int32]) {
		t.Run(x.Name+" to int32", func(t *testing.T) { each(func(m, n, k int) { checkInPlace(t, r, x, m, n, k) }) })
	})
}

func FuzzInPlace(f *testing.F) {
	for which := range uint8(5) {
		f.Add(uint64(which), which, uint8(0), uint8(200), uint8(20))
		f.Add(uint64(which), which, uint8(6), uint8(16), uint8(33))
		f.Add(uint64(which), which, uint8(29), uint8(80), uint8(120))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, rows, cols, deep uint8) {
		r := rand.New(rand.NewPCG(seed, 13))
		var checks []func()
		m, n, k := 1+int(rows)%30, 1+int(cols), 1+int(deep)%(inPieceSteps+40) // to pieces of more than one run
		eachInPlace(t, func(x inPlaceTwins[float32]) { checks = append(checks, func() { checkInPlace(t, r, x, m, n, k) }) },
			func(x inPlaceTwins[int32]) { checks = append(checks, func() { checkInPlace(t, r, x, m, n, k) }) })
		if len(checks) > 0 {
			checks[int(which)%len(checks)]()
		}
	})
}

// checkInPlace compares the whole memory of c after Block and its twin, with a b that
// ends where memory does.
func checkInPlace[C Sum](t *testing.T, r *rand.Rand, x inPlaceTwins[C], m, n, k int) {
	t.Helper()
	ldb, ldc := ceil(n, x.Whole)*x.Whole+x.Whole*r.IntN(5), n+r.IntN(5)
	b := fenced[byte](t, ceil(((k-1)*ldb+n)*x.bits, 8)/4*4+4*r.IntN(2)+4)
	x.fill(r, b)
	end := len(b) * 8 / x.bits / x.Whole * x.Whole
	off := end - ceil((k-1)*ldb+n, x.Whole)*x.Whole // the last element is the last of memory, or the one before it
	steps := ceil(k, x.ku)
	panels := ceil(m, x.mr)
	a := make([]uint32, panels*x.mr*steps)
	word, unit := x.words(r)
	for i := range a {
		if i/(x.mr*steps)*x.mr+i%x.mr < m {
			a[i] = word()
		}
		if i/x.mr%steps == k/x.ku { // of what is beyond k
			a[i] &= 1<<(16*(k%x.ku)) - 1
		}
	}
	const guard = 7
	c := fenced[C](t, guard+(m-1)*ldc+n)
	for i := range c {
		c[i] = C(r.IntN(2001)-1000) * unit
	}
	want, before := slices.Clone(c), slices.Clone(b)
	accumulate := r.IntN(2) == 0

	for j := 0; j < n; j += mostInPlaceCols {
		cols := min(mostInPlaceCols, n-j)
		panel := make([]uint32, mostInPlaceCols*steps)
		rows := b[(off+j)*x.bits/8:]
		x.pack(panel, rows, ldb, cols, k)
		for i := 0; i < m; i += x.mr {
			x.tile(mostInPlaceCols)(&want[guard+i*ldc+j], ldc, steps, &a[i*steps], &panel[0], nil, 0, min(x.mr, m-i), cols, accumulate)
		}
	}
	x.Block(c[guard:], ldc, m, n, k, bytesOf(a), b, off, ldb, accumulate, nil, GroupsOfB{})
	sameMemory(t, c, want, guard, "%s, %d×%d, k %d, accumulate %v, ldb %d, ldc %d", x.Name, m, n, k, accumulate, ldb, ldc)
	if !slices.Equal(b, before) {
		t.Fatalf("%s: b changed", x.Name)
	}
}

// TestInPlace_Codes: each code of float8 is the number that it is, NaN and infinity
// too, at every place of a tile.
func TestInPlace_Codes(t *testing.T) {
	k := For(AVX2)
	if k == nil || k.Float32.InPlace["float8_e4m3fn"] == nil {
		t.Skip("this machine lacks what widens halves")
	}
	const n = 256 + 3
	slow := func(p *InPlace[float32]) *InPlace[float32] { // of machines whose denormal numbers are slow
		s := *p
		s.quick = quick[float32]{}
		return &s
	}
	e4m3, e5m2 := k.Float32.InPlace["float8_e4m3fn"], k.Float32.InPlace["float8_e5m2"]
	for _, c := range []struct {
		p    *InPlace[float32]
		loop func(dst []uint16, src []byte, off, ahead int)
	}{
		{e4m3, widen.Generic.Float8E4M3}, {slow(e4m3), widen.Generic.Float8E4M3},
		{e5m2, widen.Generic.Float8E5M2}, {slow(e5m2), widen.Generic.Float8E5M2},
	} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i)
		}
		wide := make([]uint16, n)
		c.loop(wide, b, 0, 0)
		for m := 1; m <= 3*inPlaceMR; m++ { // pieces too
			a := make([]uint32, 3*inPlaceMR)
			for i := range m {
				a[i] = math.Float32bits(float32(i + 1))
			}
			got := make([]float32, m*n)
			c.p.Block(got, n, m, n, 1, bytesOf(a), b, 0, n, false, nil, GroupsOfB{})
			for i, v := range got {
				want := float32(i/n+1) * math.Float32frombits(uint32(wide[i%n])<<16)
				if v != want && (v == v || want == want) {
					t.Errorf("%s: row %d of %d: %d times code %#x is %v, should be %v", c.p.Name, i/n, m, i/n+1, b[i%n], v, want)
				}
			}
		}
	}
}
