package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/backend/cpu/internal/memory"
	"matladder/internal/thoroughtest"
)

// TestBlock compares every path with sums in float64 of the unpacked elements:
// exact for bytes, within the error of k roundings for floats. Extents run
// over the edges of tiles, and chunks of k and pieces of a are small enough
// that a few tiles cross them.
func TestBlock(t *testing.T) {
	eachPath(t, testBlock, testBlock, testBlock, testBlock)
}

func testBlock[S Source, C Sum](t *testing.T, p *MicroKernels[S, C]) {
	r := rand.New(rand.NewPCG(5, 6))
	small := *p
	small.blocking = blocking{steps: 7, bytes: 2 * 7 * p.MR * p.Words * wordBytes, near: 7 << 10}
	if p.direct.pieces.rows > 0 {
		small.direct.pieces = pieceCuts{rows: 4, close: 3, steps: 9, width: p.NR + 5}
	}
	run := thoroughtest.Choose(1, 5, 61)
	for m := 1; m <= 2*p.MR+1; m++ {
		if !run() {
			continue
		}
		small.blocking.held = 0 // so that panels of b pass pieces of a
		checkBlock(t, r, &small, m, 1+r.IntN(2*p.NR+1), 1+r.IntN(30*p.KU))
	}
	for n := 1; n <= 2*p.NR+1; n++ {
		if !run() {
			continue
		}
		small.blocking.held = n % 2 << 20 // or panels of a pass b
		checkBlock(t, r, &small, 1+r.IntN(5*p.MR), n, 1+r.IntN(30*p.KU))
	}
	for k := 0; k <= 9*p.KU; k += oddStep(p) {
		if !run() {
			continue
		}
		small.blocking.held = k % 2 << 20
		checkBlock(t, r, &small, 1+r.IntN(3*p.MR), 1+r.IntN(3*p.NR), k)
	}
	checkBlock(t, r, p, 5*p.MR+1, 3*p.NR-1, 1100*p.KU/p.Words+1)
	deep := *p
	deep.blocking.steps = 2 * gemvSteps // the last few columns of rows in more pieces than one
	for m := range gemvColumns {
		if !run() {
			continue
		}
		checkBlock(t, r, &deep, 1+m, r.IntN(2)*p.NR+1+r.IntN(edgeCols), (17+r.IntN(100))*p.KU/p.Words)
		checkBlock(t, r, &deep, 1+r.IntN(70), 1+r.IntN(edgeCols), (gemvSteps+r.IntN(gemvSteps))*p.KU/p.Words)
	}
}

// oddStep visits every length where steps are words, and every remainder
// where they are deep.
func oddStep[S Source, C Sum](p *MicroKernels[S, C]) int { return max(1, p.Words-5) }

// transposed is a k×n matrix, column after column.
func transposed[S Source](b []S, k, n int) []S {
	t := make([]S, len(b))
	for i, v := range b {
		t[i%n*k+i/n] = v
	}
	return t
}

// checkBlock multiplies random matrices, packed from rows or columns.
func checkBlock[S Source, C Sum](t *testing.T, r *rand.Rand, p *MicroKernels[S, C], m, n, k int) {
	t.Helper()
	a, b := randomSource[S](m*k), randomSource[S](k*n)
	pa, pb := memory.NewBuffer(p.SizeA(m, k)), memory.NewBuffer(p.SizeB(k, n))
	p.PackA(pa, a, k, m, k)
	p.PackB(pb, b, n, k, n)

	ldc := n + r.IntN(3)
	guard := C(77)
	fence := fenced[C](t, guardRows*ldc+(m-1)*ldc+n)
	c := fence[guardRows*ldc:]
	accumulate := r.IntN(2) == 0
	// NaN in c shows whether it is read where it should not be.
	before := C(3)
	if nan, ok := any(float32(math.NaN())).(C); ok && !accumulate {
		before = nan
	}
	for i := range fence {
		fence[i] = guard
	}
	for i := range m {
		for j := range n {
			c[i*ldc+j] = before
		}
	}

	// From a as it is or packed; from b as it is, in two calls at a random step, or in
	// one.
	split, run := r.IntN(ceil(k, p.KU)+1)*p.KU, Run[S]{A: pa}
	isDirect := p.DirectRows() > 0 && r.IntN(2) == 0
	inColumns := p.CanRead(ReadColumns) && (n <= 2*gemvColumns || r.IntN(8) == 0) && r.IntN(4) == 0
	if p.ReadsA(k) && r.IntN(2) == 0 || inColumns {
		run = Run[S]{LDA: k + r.IntN(3)}
		run.Rows = fenced[S](t, (m-1)*run.LDA+k)
		for i := range m {
			copy(run.Rows[i*run.LDA:], a[i*k:][:k])
		}
	}
	multiply := p.MultiplyPart
	if p.StripRows() > 0 && r.IntN(3) == 0 {
		columns := p.StripColumns(m)
		strip, tiles := columns*k*memory.Size[S](), p.With(ReadStrips)
		pb = fenced[byte](t, ceil(n, columns)*strip)
		multiply = func(r Run[S], c []C, ldc, m, n, k0, k, depth int, accumulate bool) {
			tiles.MultiplyStrips(columns, r, c, ldc, m, n, k0, k, depth, accumulate)
		}
		if r.IntN(2) == 0 {
			PackStrips(pb, strip, columns, b, n, k, n)
		} else {
			PackStripsT(pb, columns, transposed(b, k, n), k, k, n)
		}
	}
	if inColumns {
		split = -3
		ldb := n + 3*min(n-1, 1) // one column may lie as it is multiplied
		unpacked := fenced[S](t, max(0, k-1)*ldb+n)
		for l := range k {
			copy(unpacked[l*ldb:], b[l*n:][:n])
		}
		p.MultiplyColumns(run, c, ldc, m, n, k, unpacked, ldb, accumulate)
	} else if p.CanRead(ReadDots) && r.IntN(4) == 0 {
		split = -2
		unpacked, ldb := fenced[S](t, (n-1)*(k+3)+k), k+3
		columns := transposed(b, k, n)
		for j := range n {
			copy(unpacked[j*ldb:], columns[j*k:][:k])
		}
		p.MultiplyDots(run, c, ldc, m, n, k, unpacked, ldb, accumulate)
	} else if isDirect {
		split, run.Far = -1, r.IntN(2) == 0
		unpacked := fenced[S](t, len(b))
		copy(unpacked, b)
		direct := p
		if p.CanRead(ReadPieces) && r.IntN(2) == 0 {
			direct = p.With(Choices{B: ReadPieces})
		}
		direct.MultiplyDirect(run, c, ldc, m, n, k, unpacked, n, accumulate)
	} else if run.B, run.Far = pb, r.IntN(2) == 0; split > 0 && split < k {
		from := func(k0, k1 int) Run[S] { // those elements of a alone
			part := run
			if run.Rows != nil {
				part.Rows = run.Rows[k0:]
			} else {
				part.A = memory.NewBuffer(p.SizeA(m, k1-k0))
				p.PackA(part.A, a[k0:], k, m, k1-k0)
			}
			return part
		}
		multiply(from(0, split), c, ldc, m, n, 0, split, k, accumulate)
		multiply(from(split, k), c, ldc, m, n, split, k-split, k, true)
	} else {
		multiply(run, c, ldc, m, n, 0, k, k, accumulate)
	}

	at := fmt.Sprintf("%d×%d×%d, a's rows %v, ldc %d, accumulate %v, split %d", m, n, k, run.LDA, ldc, accumulate, split)
	for i := range fence[:guardRows*ldc] {
		if fence[i] != guard {
			t.Fatalf("%s: wrote in front of c", at)
		}
	}
	for i := range m {
		for j := range n {
			want, bound := 0.0, 0.0
			if accumulate {
				want, bound = 3, 3
			}
			for l := range k {
				x, y := number(a[i*k+l]), number(b[l*n+j])
				want += x * y
				bound += math.Abs(x * y)
			}
			switch got := any(c[i*ldc+j]).(type) {
			case float32:
				if !(math.Abs(float64(got)-want) <= bound*roundings(k)) {
					t.Fatalf("%s: c[%d,%d] = %v, want %v within %.3g", at, i, j, got, want, bound*roundings(k))
				}
			case int32:
				if float64(got) != want {
					t.Fatalf("%s: c[%d,%d] = %v, want %v", at, i, j, got, want)
				}
			}
		}
		for j := n; j < ldc && i < m-1; j++ {
			if c[i*ldc+j] != guard {
				t.Fatalf("%s: wrote c[%d,%d], right of the block", at, i, j)
			}
		}
	}
}

const guardRows = 2

// roundings bounds the relative error of k products, their sums, and at
// most as many sums of chunks.
func roundings(k int) float64 { return float64(2*k+4) * 0x1p-24 }

// number is the value of an element; uint16 holds bfloat16.
func number[S Source](v S) float64 {
	if bits, ok := any(v).(uint16); ok {
		return float64(math.Float32frombits(uint32(bits) << 16))
	}
	return float64(v)
}

// TestBlock_Extremes wants the corners of int8 and the wrap of int32 exact.
func TestBlock_Extremes(t *testing.T) {
	skip := func(*testing.T, *MicroKernels[float32, float32]) {}
	skipHalves := func(*testing.T, *MicroKernels[uint16, float32]) {}
	eachPath(t, skip, skipHalves, testExtremes([]int8{-128, 127, -1, 0}), testExtremes([]uint8{0, 255, 128, 127}))
}

func testExtremes[S int8 | uint8](values []S) func(*testing.T, *MicroKernels[S, int32]) {
	return func(t *testing.T, p *MicroKernels[S, int32]) {
		const k = 140_000 // 128·128·k is beyond int32
		pa, pb := memory.NewBuffer(p.SizeA(1, k)), memory.NewBuffer(p.SizeB(k, 1))
		for _, x := range values {
			for _, y := range values {
				a, b, c := make([]S, k), make([]S, k), []int32{5}
				for l := range k {
					a[l], b[l] = x, y
				}
				p.PackA(pa, a, k, 1, k)
				p.PackBT(pb, b, k, k, 1)
				p.Block(c, 1, 1, 1, k, pa, pb, true)
				if want := int32(int64(x)*int64(y)*k + 5); c[0] != want {
					t.Errorf("%d × %d, %d times: %d, want %d", x, y, k, c[0], want)
				}
			}
		}
	}
}

// TestBlock_Mixed multiplies panels of one path by those of another with the
// same format.
func TestBlock_Mixed(t *testing.T) {
	for _, isa := range Supported() {
		k := For(isa)
		if k.Float32.Format != k.WideBFloat16.Format || k.WideInt8.Format != k.WideUint8.Format {
			t.Fatalf("%v: formats differ", isa)
		}
		mixed(t, k.Float32, k.WideBFloat16)
		mixed(t, k.WideBFloat16, k.Float32)
		mixed(t, k.WideInt8, k.WideUint8)
		mixed(t, k.WideUint8, k.WideInt8)
	}
}

func mixed[S, T Source, C Sum](t *testing.T, pathA *MicroKernels[S, C], pathB *MicroKernels[T, C]) {
	const m, n, k = 13, 35, 67
	a, b, c := randomSource[S](m*k), randomSource[T](k*n), make([]C, m*n)
	pa, pb := memory.NewBuffer(pathA.SizeA(m, k)), memory.NewBuffer(pathB.SizeB(k, n))
	pathA.PackA(pa, a, k, m, k)
	pathB.PackB(pb, b, n, k, n)
	pathB.Block(c, n, m, n, k, pa, pb, false)
	for i := range m {
		for j := range n {
			want, bound := 0.0, 0.0
			for l := range k {
				x := number(a[i*k+l]) * number(b[l*n+j])
				want, bound = want+x, bound+math.Abs(x)
			}
			if diff := math.Abs(float64(c[i*n+j]) - want); !(diff <= bound*(k+2)*0x1p-24) || want == math.Trunc(want) && bound > 1000 && diff != 0 {
				t.Fatalf("%s %T×%T: c[%d,%d] = %v, want %v", pathA.Name, a, b, i, j, c[i*n+j], want)
			}
		}
	}
}

// TestBlock_NonFinite wants an infinity or NaN to reach its row or column and
// no other, although tiles are padded.
func TestBlock_NonFinite(t *testing.T) {
	for _, isa := range Supported() {
		k := For(isa)
		testNonFinite(t, k.Float32, float32(math.Inf(1)), float32(math.NaN()))
		const infinity, nan = 0x7f80, 0xffc1
		testNonFinite(t, k.WideBFloat16, infinity, nan)
		if k.PairsBFloat16 != nil {
			testNonFinite(t, k.PairsBFloat16, infinity, nan)
		}
		if k.TilesBFloat16 != nil {
			testNonFinite(t, k.TilesBFloat16, infinity, nan)
		}
	}
}

func testNonFinite[S Source](t *testing.T, p *MicroKernels[S, float32], values ...S) {
	m, n, k := p.MR+1, p.NR+1, 5
	for way, bad := range append(values, values...) {
		way /= len(values)
		a, b, c := make([]S, m*k), make([]S, k*n), make([]float32, m*n)
		a[(m-1)*k+k-1], b[n-1] = bad, bad
		pa, pb := memory.NewBuffer(p.SizeA(m, k)), memory.NewBuffer(p.SizeB(k, n))
		p.PackA(pa, a, k, m, k)
		p.PackB(pb, b, n, k, n)
		if p.DirectRows() > 0 && way == 1 {
			p.MultiplyDirect(Run[S]{A: pa}, c, n, m, n, k, b, n, false)
		} else {
			p.Block(c, n, m, n, k, pa, pb, false)
		}
		for i := range m {
			for j := range n {
				// The other factors are zero: 0·Inf and 0·NaN are NaN.
				if got, want := c[i*n+j] != c[i*n+j], i == m-1 || j == n-1; got != want {
					t.Fatalf("%s: c[%d,%d] = %v", p.Name, i, j, c[i*n+j])
				}
			}
		}
	}
}

// TestBlock_Refuses wants a panic, not a read behind the end, where lengths
// do not fit.
func TestBlock_Refuses(t *testing.T) {
	p := For(Detect()).Float32
	const m, n, k = 5, 7, 3
	a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	pa, pb := memory.NewBuffer(p.SizeA(m, k)), memory.NewBuffer(p.SizeB(k, n))
	for name, call := range map[string]func(){
		"short c":          func() { p.Block(c[:m*n-1], n, m, n, k, pa, pb, false) },
		"short packed a":   func() { p.Block(c, n, m, n, k, pa[:len(pa)-1], pb, false) },
		"short packed b":   func() { p.Block(c, n, m, n, k, pa, pb[:len(pb)-1], false) },
		"overlapping rows": func() { p.Block(c, n-1, m, n, k, pa, pb, false) },
		"negative m":       func() { p.Block(c, n, -1, n, k, pa, pb, false) },
		"k beyond depth":   func() { p.MultiplyPart(Run[float32]{A: pa, B: pb}, c, n, m, n, 1, k, k, false) },
		"short rows of a":  func() { p.Multiply(Run[float32]{Rows: a[:m*k-1], LDA: k, B: pb}, c, n, m, n, k, false) },
		"short direct b":   func() { p.MultiplyDirect(Run[float32]{A: pa}, c, n, m, n, k, b[:k*n-1], n, false) },
		"short a":          func() { p.PackA(pa, a[:m*k-1], k, m, k) },
		"short b":          func() { p.PackBT(pb, b[:k*n-1], k, k, n) },
		"short target":     func() { p.PackB(pb[:len(pb)-1], b, n, k, n) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
