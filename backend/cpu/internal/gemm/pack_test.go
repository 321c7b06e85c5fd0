package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"matladder/backend/cpu/internal/memory"
	"slices"
	"testing"
	"unsafe"
)

// eachPath runs a check for every path of every instruction set this machine
// has. The functions are the same one, for each type of path.
func eachPath(t *testing.T, floats func(*testing.T, *MicroKernels[float32, float32]), halves func(*testing.T, *MicroKernels[uint16, float32]),
	bytes func(*testing.T, *MicroKernels[int8, int32]), ubytes func(*testing.T, *MicroKernels[uint8, int32])) {
	for isa := Generic; isa <= NEON; isa++ {
		k := For(isa)
		if k == nil {
			t.Logf("not tested on this machine: %v, which lacks %q", isa, isa.Missing())
			continue
		}
		if isa == AMX { // all else is that of AVX512
			run(t, "bfloat16", k.TilesBFloat16, halves)
			run(t, "int8", k.TilesInt8, bytes)
			continue
		}
		run(t, "float32", k.Float32, floats)
		run(t, "bfloat16", k.WideBFloat16, halves)
		run(t, "int8", k.Int8, bytes)
		run(t, "uint8 wide", k.WideUint8, ubytes)
		if k.PairsBFloat16 != nil {
			run(t, "bfloat16", k.PairsBFloat16, halves)
		} else {
			t.Logf("not tested on this machine: %v pairs of bfloat16", isa)
		}
		if k.WideInt8 != k.Int8 {
			run(t, "int8 wide", k.WideInt8, bytes)
		}
	}
}

func run[S Source, C Sum](t *testing.T, source string, p *MicroKernels[S, C], check func(*testing.T, *MicroKernels[S, C])) {
	t.Run(fmt.Sprintf("%s/%s", p.Name, source), func(t *testing.T) { check(t, p) })
}

// TestPack reads back every element of every panel, and the padding.
func TestPack(t *testing.T) {
	eachPath(t, testPack, testPack, testPack, testPack)
}

func testPack[S Source, C Sum](t *testing.T, p *MicroKernels[S, C]) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, side := range []struct {
		name          string
		width         int
		size          func(extent, k int) int
		rows, columns func(dst []byte, src []S, ld, extent, k int)
	}{
		{"a", p.MR, p.SizeA, p.PackA, p.PackAT},
		{"b", p.NR, func(n, k int) int { return p.SizeB(k, n) },
			func(dst []byte, src []S, ld, n, k int) { p.PackBT(dst, src, ld, k, n) },
			func(dst []byte, src []S, ld, n, k int) { p.PackB(dst, src, ld, k, n) }},
	} {
		check := func(extent, k int) {
			gap := r.IntN(4)
			for _, transposed := range []bool{false, true} {
				pack, ld, lane, step := side.rows, k+gap, k+gap, 1
				if transposed {
					pack, ld, lane, step = side.columns, extent+gap, 1, extent+gap
				}
				src := fenced[S](t, (extent-1)*lane+(k-1)*step+1)
				copy(src, randomSource[S](len(src)))
				before := slices.Clone(src)
				dst := fenced[uint32](t, side.size(extent, k)/wordBytes)
				for i := range dst {
					dst[i] = 0xdeadbeef
				}
				pack(bytesOf(dst), src, ld, extent, k)
				if !slices.Equal(src, before) {
					t.Fatalf("%s, %d×%d: the source changed", side.name, extent, k)
				}
				for i := range ceil(extent, side.width) * side.width {
					for l := range ceil(k, p.KU) * p.KU {
						var want S
						if i < extent && l < k {
							want = src[i*lane+l*step]
						}
						panel := i / side.width * side.width * ceil(k, p.KU) * p.Words
						inWord := p.KU / p.Words
						at := (l/inWord)*side.width + i%side.width
						if side.name == "a" {
							at = (l/p.KU*side.width+i%side.width)*p.Words + l%p.KU/inWord
						}
						got, exact := unpack[S](p.Format, side.name == "a", dst[panel+at], l%inWord)
						if got != want || !exact {
							t.Fatalf("%s, %d×%d, ld %d, transposed %v: element %d of lane %d is %v, want %v",
								side.name, extent, k, ld, transposed, l, i, got, want)
						}
					}
				}
			}
		}
		side.rows(nil, nil, 1, 3*side.width, 0) // nothing to pack
		side.columns(nil, nil, 3*side.width, 3*side.width, 0)
		for extent := 1; extent <= 2*side.width+1; extent++ {
			check(extent, 1+r.IntN(9*p.KU))
		}
		for k := 1; k <= 18*p.KU+1; k += oddStep(p) {
			check(1+r.IntN(3*side.width), k)
		}
		check(side.width, 33*p.KU)
		check(3*side.width-1, 129*p.KU+1)
	}
	for range 20 {
		checkParts(t, r, p, 1+r.IntN(3*p.NR), 1+r.IntN(5*p.KU), r.IntN(5*p.KU))
	}
}

// checkParts packs b in two parts, of some units of k and the elements that follow.
func checkParts[S Source, C Sum](t *testing.T, r *rand.Rand, p *MicroKernels[S, C], n, more, k int) {
	t.Helper()
	k0 := ceil(k, p.KU) * p.KU
	k = k0 + more
	ld := n + r.IntN(4)
	src := randomSource[S](k * ld)
	whole, parts := memory.NewBuffer(p.SizeB(k, n)), memory.NewBuffer(p.SizeB(k, n))
	p.PackB(whole, src, ld, k, n)
	p.PackBPart(parts, p.PanelB(k), src, ld, k0, n)
	p.PackBPart(parts[p.PanelB(k0):], p.PanelB(k), src[k0*ld:], ld, k-k0, n)
	if !slices.Equal(whole, parts) {
		t.Fatalf("b of %d×%d, ld %d, in parts of %d and %d differs from b packed at once", k, n, ld, k0, k-k0)
	}
}

// unpack reads element u of a word, as the formats are described, and whether
// the type holds what was there.
func unpack[S Source](format string, isA bool, word uint32, u int) (v S, exact bool) {
	exact = true
	switch v := any(&v).(type) {
	case *float32:
		*v = math.Float32frombits(word)
	case *uint16:
		if format == formatBFloat16 || format == formatBFloat16Tiles {
			*v = uint16(word >> (16 * u))
			break
		}
		*v = uint16(word >> 16)
		exact = word<<16 == 0
	case *int8:
		i := integer(format, isA, word, u)
		*v = int8(i)
		exact = i == int(*v)
	case *uint8:
		i := integer(format, isA, word, u)
		*v = uint8(i)
		exact = i == int(*v)
	}
	return v, exact
}

func integer(format string, isA bool, word uint32, u int) int {
	if format == formatPairs {
		return int(int16(word >> (16 * u)))
	}
	if !isA && format == formatQuads {
		return int(uint8(word>>(8*u))) - 128
	}
	return int(int8(word >> (8 * u)))
}

func bytesOf(w []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*wordBytes)
}
