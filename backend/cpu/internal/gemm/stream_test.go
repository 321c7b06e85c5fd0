package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/probe"
)

// A streamTwins is a stream in assembly beside the same in Go.
type streamTwins[S Source, C Sum] struct {
	name       string
	fast, twin stream[C]
	word       func(*rand.Rand) uint32 // of a
	element    func(*rand.Rand) S      // of b
}

func testStream[S Source, C Sum](t *testing.T, r *rand.Rand, x streamTwins[S, C]) {
	t.Run(x.name, func(t *testing.T) {
		for cols := streamColumns; cols <= 12*streamColumns; cols += streamColumns {
			for range 4 {
				checkStream(t, r, x, cols)
			}
		}
	})
}

// checkStream compares the whole memory of c after the stream and its twin.
func checkStream[S Source, C Sum](t *testing.T, r *rand.Rand, x streamTwins[S, C], cols int) {
	t.Helper()
	a := fencedWords(t, r, streamRows, x.word)
	ldb := cols + r.IntN(40)
	b := fenced[S](t, (streamRows-1)*ldb+cols)
	for i := range b {
		b[i] = x.element(r)
	}
	const guard = 7
	c := fenced[C](t, guard+cols)
	for i := range c {
		c[i] = C(r.IntN(2001) - 1000)
	}
	want, accumulate := slices.Clone(c), r.IntN(2) == 0
	x.twin(&want[guard], &a[0], at(b, 0), ldb*memory.Size[S](), cols, uintptr(at(b, 0)), accumulate)
	x.fast(&c[guard], &a[0], at(b, 0), ldb*memory.Size[S](), cols, uintptr(at(b, 0)), accumulate)
	sameMemory(t, c, want, guard, "%s, %d columns, accumulate %v, ldb %d", x.name, cols, accumulate, ldb)
}

// TestMultiplyDirect_Streams checks the words that streams get from packed panels of
// each format, and what streams leave to tiles, on paths put together from Go.
func TestMultiplyDirect_Streams(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	floats := kernel[float32]{tile: tileFloat32(12, 32)}
	testStreamed(t, r, pack.AsFloat32, floats, streamKernel[float32]{streamWords(pack.AsFloat32), 4, asTheyAre(streamRows)}, smallNumber)
	testStreamed(t, r, pack.AsBFloat16, floats, streamKernel[float32]{streamWords(pack.AsBFloat16), 4, asTheyAre(streamRows)}, smallBFloat16)
	testStreamed(t, r, pack.AsPairsBFloat16, kernel[float32]{tile: tileBFloat16(12, 32)},
		streamKernel[float32]{streamWords(pack.AsBFloat16), 4, wordsOfPairs}, smallBFloat16)
	testStreamed(t, r, pack.AsPairs, kernel[int32]{tile: tilePairs(12, 32)}, streamKernel[int32]{streamPairs, 4, asTheyAre(streamRows / 2)}, anyByte)
	testStreamed(t, r, pack.AsQuads, kernel[int32]{tile: tileQuads(12, 32), bias: panelBias(12)},
		streamKernel[int32]{streamPairs, 4, pairsOfQuads}, anyByte)
}

func testStreamed[S Source, C Sum](t *testing.T, r *rand.Rand, e pack.Encoding[S], k kernel[C], s streamKernel[C], element func(*rand.Rand) S) {
	p := newPath(probe.Host(), shape[C]{Generic, 12, 32, k}, "", pack.InGo(e, 12, 32))
	if k.bias != nil { // b is offset
		p.packB = pack.Go(32, pack.Encoding[S]{KU: e.KU, Bits: func(v S) uint32 { return e.Bits(v) ^ 0x80 }, Zero: pack.OffsetQuads})
	}
	p.stream = s
	p.direct = directKernel[C]{tiles: []directTile[C]{{packingDirect(p), 12, 32}}, pays: 12}
	for range 60 {
		m, n, kk := 1+r.IntN(6), 1+r.IntN(90), 1+r.IntN(70)
		a, b := make([]S, m*kk), make([]S, kk*n)
		for i := range a {
			a[i] = element(r)
		}
		for i := range b {
			b[i] = element(r)
		}
		pa, pb := memory.NewBuffer(p.SizeA(m, kk)), memory.NewBuffer(p.SizeB(kk, n))
		p.PackA(pa, a, kk, m, kk)
		p.PackB(pb, b, n, kk, n)
		got, want := make([]C, m*n), make([]C, m*n)
		for i := range got {
			got[i] = C(r.IntN(100))
			want[i] = got[i]
		}
		accumulate := r.IntN(2) == 0
		p.MultiplyDirect(Run[S]{A: pa}, got, n, m, n, kk, b, n, accumulate)
		p.Block(want, n, m, n, kk, pa, pb, accumulate)
		if !slices.Equal(got, want) {
			t.Fatalf("%d×%d×%d of %T in words of %d, accumulate %v: %v, want %v", m, kk, n, a, e.KU, accumulate, got, want)
		}
	}
}

// packingDirect is a direct that packs its columns of b for the tile of p.
func packingDirect[S Source, C Sum](p *MicroKernels[S, C]) direct[C] {
	return func(c *C, ldc, steps int, a *uint32, _, _ int, b unsafe.Pointer, ldb, _, _, _, rows, cols int, bias *C, accumulate bool) {
		ld, k := ldb/memory.Size[S](), steps*p.KU
		pb := memory.NewBuffer(p.SizeB(k, cols))
		p.PackB(pb, unsafe.Slice((*S)(b), (k-1)*ld+cols), ld, k, cols)
		panels := words(pb, p.SizeB(k, cols))
		for j := 0; j < cols; j += p.NR {
			p.kernel.tile(offset(c, j*wordBytes), ldc, steps, a, &panels[j*steps], bias, 0, rows, min(p.NR, cols-j), accumulate)
		}
	}
}
