package widen

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"

	"matladder/tile"
)

// stored is the value of element i of src.
func stored(d tile.Dtype, src []byte, i int) float64 {
	n := len(src) * 8 / d.Bits()
	return tile.Tensor{Dtype: d, Shape: []int{n}, Data: src}.At(i)
}

// TestGeneric compares each code, at both nibbles, with the definition of the
// language.
func TestGeneric(t *testing.T) {
	src := make([]byte, 256)
	for c := range src {
		src[c] = byte(c)
	}
	for _, c := range []struct {
		dtype tile.Dtype
		loop  func(dst []uint16, src []byte, off, ahead int)
	}{
		{tile.Float4E2M1FN, Generic.Float4}, {tile.Int4, Generic.Int4}, {tile.Int8, Generic.Int8},
		{tile.Float8E4M3FN, Generic.Float8E4M3}, {tile.Float8E5M2, Generic.Float8E5M2}, {tile.Float8E8M0FNU, Generic.Float8E8M0},
	} {
		got := make([]uint16, 256*8/c.dtype.Bits())
		c.loop(got, src, 0, 0)
		for i, bits := range got {
			g, w := float64(math.Float32frombits(uint32(bits)<<16)), stored(c.dtype, src, i)
			if g != w && (g == g || w == w) || g == g && math.Signbit(g) != math.Signbit(w) {
				t.Errorf("%s: code %d is %v, should be %v", c.dtype, i, g, w)
			}
		}
	}
	got, twice := make([]int8, 512), make([]int8, 512)
	Generic.Int4ToInt8(got, src, 0, 0)
	Generic.Float4ToInt8(twice, src, 0, 0)
	for i, v := range got {
		if w := stored(tile.Int4, src, i); float64(v) != w {
			t.Errorf("int4 to int8: nibble %d is %d, should be %v", i, v, w)
		}
		if w := 2 * stored(tile.Float4E2M1FN, src, i); float64(twice[i]) != w {
			t.Errorf("float4 to int8: nibble %d is %d, should be %v", i, twice[i], w)
		}
	}
}

// FuzzLoops compares assembly with Go, with words around the destination that
// must stay, and a source that ends where the last element does.
func FuzzLoops(f *testing.F) {
	for n := range uint16(150) {
		f.Add(uint64(n), n, n%3, int32(n)*100-5000)
	}
	f.Add(uint64(1), uint16(5000), uint16(1), int32(1<<30))
	f.Fuzz(func(t *testing.T, seed uint64, n, off uint16, ahead int32) {
		from, count := int(off), int(n)
		src := make([]byte, 2*(from+count))
		r := rand.New(rand.NewPCG(seed, 3))
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		for _, isa := range []struct {
			name string
			has  bool
			Loops
		}{
			{"avx2", cpu.X86.HasAVX2, For(true, false)},
			{"avx512", cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW, For(true, true)},
		} {
			if !isa.has {
				continue
			}
			same(t, isa.name+" float16", isa.Float16, Generic.Float16, src, from, count, int(ahead))
			src := src[:from+count]
			half := bytes.Clone(src[:(from+count+1)/2]) // holds as many int4
			same(t, isa.name+" int4 to int8", isa.Int4ToInt8, Generic.Int4ToInt8, half, from, count, int(ahead))
			same(t, isa.name+" float4 to int8", isa.Float4ToInt8, Generic.Float4ToInt8, half, from, count, int(ahead))
			same(t, isa.name+" int4", isa.Int4, Generic.Int4, half, from, count, int(ahead))
			same(t, isa.name+" float4", isa.Float4, Generic.Float4, half, from, count, int(ahead))
			same(t, isa.name+" int8", isa.Int8, Generic.Int8, src, from, count, int(ahead))
			same(t, isa.name+" e4m3fn", isa.Float8E4M3, Generic.Float8E4M3, src, from, count, int(ahead))
			same(t, isa.name+" e8m0fnu", isa.Float8E8M0, Generic.Float8E8M0, src, from, count, int(ahead))
			same(t, isa.name+" e5m2", isa.Float8E5M2, Generic.Float8E5M2, src, from, count, int(ahead))
		}
	})
}

func same[T int8 | uint16 | float32](t *testing.T, name string, fast, loop func(dst []T, src []byte, off, ahead int), src []byte, off, n, ahead int) {
	t.Helper()
	const guards, guard = 64, 0x5a
	want, got := make([]T, n), make([]T, n+2*guards)
	for i := range got {
		got[i] = guard
	}
	before := bytes.Clone(src)
	loop(want, src, off, ahead)
	fast(got[guards:guards+n:guards+n], src, off, ahead)
	for i, v := range got {
		switch at := i - guards; {
		case at < 0 || at >= n:
			if v != guard {
				t.Fatalf("%s: %d elements from %d on: wrote element %d", name, n, off, at)
			}
		case v != want[at] && (v == v || want[at] == want[at]):
			t.Fatalf("%s: %d elements from %d on: element %d is %v, should be %v", name, n, off, at, v, want[at])
		}
	}
	if !bytes.Equal(src, before) {
		t.Fatalf("%s: the source changed", name)
	}
}
