package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"matladder/backend/cpu/internal/amx"
	"matladder/backend/cpu/internal/memory"
	"matladder/internal/thoroughtest"
)

// A tilesTwins is a kernel on tiles beside its twin in Go.
type tilesTwins[C Sum] struct {
	name       string
	fast, twin strips[C]
	word       func(*rand.Rand) uint32
	// within bounds the difference to the twin; nil where there must be none.
	within func(a, b []uint32) float64
}

// smallHalves are pairs of bfloat16 whose sums of thousands of products are
// exact.
func smallHalves(r *rand.Rand) uint32 {
	return smallFloat(r)>>16 | smallFloat(r)&0xffff0000
}

func floatTiles() []tilesTwins[float32] {
	// Any order of additions, products of any size: the error of as many
	// roundings as a sum has terms.
	within := func(a, b []uint32) (bound float64) {
		for w := range a {
			for _, upper := range []bool{false, true} {
				bound += math.Abs(half(a[w], upper) * half(b[w], upper))
			}
		}
		return bound*roundings(2*len(a)) + float64(4*len(a))*leastNormal
	}
	return []tilesTwins[float32]{
		{"TDPBF16PS exact", stripsAMX(tilesBFloat16AMX), tilesTwin(stepBFloat16), smallHalves, nil},
		{"TDPBF16PS", stripsAMX(tilesBFloat16AMX), tilesTwin(stepBFloat16), bfloat16Pairs, within},
	}
}

func intTiles() []tilesTwins[int32] {
	return []tilesTwins[int32]{{"TDPBSSD", stripsAMX(tilesInt8AMX), tilesTwin(stepInt8), anyBits, nil}}
}

func half(w uint32, upper bool) float64 {
	if upper {
		return float64(math.Float32frombits(w &^ 0xffff))
	}
	return float64(math.Float32frombits(w << 16))
}

func skipWithoutAMX(t testing.TB) {
	if missing := AMX.Missing(); len(missing) > 0 {
		t.Skipf("not tested on this machine, which lacks %q", missing)
	}
}

func TestTiles(t *testing.T) {
	skipWithoutAMX(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range floatTiles() {
		testTiles(t, r, x)
	}
	for _, x := range intTiles() {
		testTiles(t, r, x)
	}
}

// TestTiles_Proven: a processor with tiles multiplies right, so the kernels do.
func TestTiles_Proven(t *testing.T) {
	if missing := amx.Missing(); len(missing) > 0 {
		t.Skipf("not tested on this machine, which lacks %q", missing)
	}
	if wrong := tilesWrong(); len(wrong) > 0 {
		t.Errorf("lacks %q", wrong)
	}
}

// TestTiles_Streams compares kernels that copy sums to c with their twins:
// strips one after the other, each with what the one before has left, sums that
// have tiles of their own or take turns with two.
func TestTiles_Streams(t *testing.T) {
	skipWithoutAMX(t)
	r := rand.New(rand.NewPCG(3, 4))
	for panels := 1; panels < 6; panels++ {
		for _, steps := range []int{1, 2, 7, 15, 16, 17, 40} {
			for _, own := range []bool{false, true} {
				if r.IntN(thoroughtest.OneIn(1, 1, 8)) > 0 {
					continue
				}
				scaled := []streaming{streamSums, streamCopied, streamScaledPast, streamScaled, streamScaledNarrowPast, streamScaledNarrow}
				checkStreams(t, r, intTiles()[0], panels, steps, own, scaled)
				checkStreams(t, r, floatTiles()[0], panels, steps, own, append(scaled, streamNarrowPast, streamNarrow))
			}
		}
	}
}

func checkStreams[C Sum](t *testing.T, r *rand.Rand, x tilesTwins[C], panels, steps int, own bool, ways []streaming) {
	t.Helper()
	const strips, gap = 3, tilesNR
	panel, ldc := steps*tilesMR*tilesWords, strips*tilesNR+gap
	a, b := fenced[uint32](t, panels*panel), fenced[uint32](t, strips*steps*tilesNR*tilesWords)
	for _, words := range [][]uint32{a, b} {
		for i := range words {
			words[i] = x.word(r)
		}
	}
	sums := words(memory.NewBuffer(strips*panels*tileBytes), strips*panels*tileBytes)
	work := unsafe.Slice((*C)(unsafe.Pointer(&sums[0])), len(sums))
	for i := range work {
		work[i] = C(r.IntN(2001) - 1000)
	}
	var factors, terms []float32 // of rows; of columns, as a scaling has them
	for range 2 * panels * tilesMR {
		factors = append(factors, r.Float32()-0.5)
	}
	for range 2 * strips * tilesNR {
		terms = append(terms, 100*r.Float32())
	}
	run := func(kernel func(y *strip[C]), c []C, element int, way streaming) {
		stream := way != streamNot
		work := slices.Clone(work)
		if stream {
			aligned := words(memory.NewBuffer(len(work)*wordBytes), len(work)*wordBytes)
			clone := work
			work = unsafe.Slice((*C)(unsafe.Pointer(&aligned[0])), len(aligned))
			copy(work, clone)
		}
		var pending, to *C
		var pendingBy scaling
		for n := range strips {
			y := &strip[C]{
				sum: &work[n*panels*tileSums], sumRow: tileRow, sumPanel: tileBytes, sumAfter: tileBytes,
				c: offset(&c[0], n*tilesNR*element), row: ldc * element, panel: tilesMR * ldc * element,
				a: &a[0], rowA: tilesWords * wordBytes, stepA: tilesMR * tilesWords * wordBytes, panelA: panel * wordBytes,
				b: &b[n*steps*tilesNR*tilesWords], steps: steps,
				rows: panels * tilesMR, cols: tilesNR, accumulate: own, copy: pending, copyTo: to,
			}
			if stream {
				y.stream, y.by, y.copyBy = way, scaling{&factors[0], &terms[2*n*tilesNR]}, pendingBy
				pendingBy = scaling{&factors[2*(panels-1)*tilesMR], y.by.columns}
			}
			if !own { // two tiles take turns, and the strip before left its last sums in one
				y.sum, y.sumAfter = &work[0], -tileBytes
				if pending == y.sum {
					y.sum, y.sumPanel, y.sumAfter = &work[tileSums], y.sumAfter, y.sumPanel
				}
				if len(work) < 2*tileSums {
					t.Fatal("no room for two tiles")
				}
			}
			last := offset(y.sum, panels/2*y.sumPanel+(panels-1)/2*y.sumAfter)
			kernel(y)
			if stream {
				pending, to = last, offset(y.c, (panels-1)*y.panel)
			}
		}
		flushSums(pending, to, ldc*element, way, pendingBy)
	}
	want := make([]C, panels*tilesMR*ldc)
	run(x.twin, want, wordBytes, streamNot)
	compare := func(way streaming, got []C, element int) {
		t.Helper()
		for i := range want {
			row, col := i/ldc, i%ldc
			w, g := float64(want[i]), float64(got[i])
			if way.scales() || way.narrows() {
				x := float32(want[i])
				if way.scales() && col < strips*tilesNR {
					panel := scaling{&factors[2*row], &terms[2*(col/tilesNR*tilesNR)]}
					x = panel.of(x, 0, col%tilesNR)
				}
				w = float64(x)
				g = float64(*(*float32)(unsafe.Pointer(&got[i])))
			}
			if way.narrows() {
				w = float64(narrow(float32(w)))
				g = float64(*(*uint16)(unsafe.Pointer(offset(&got[0], i*element))))
			}
			if g != w {
				t.Fatalf("%s, way %d, %d panels of %d steps, own sums %v: c[%d,%d] is %v, want %v", x.name, way, panels, steps, own, row, col, g, w)
			}
		}
	}
	for _, way := range ways {
		// Of bfloat16 c has as many rows, in half the memory.
		element := wordBytes
		if way.narrows() {
			element = memory.Size[uint16]()
		}
		got := unsafe.Slice((*C)(unsafe.Pointer(&memory.NewBuffer(len(want) * wordBytes)[0])), len(want))
		run(x.fast, got, element, way)
		compare(way, got, element)
	}
}

func testTiles[C Sum](t *testing.T, r *rand.Rand, x tilesTwins[C]) {
	t.Run(x.name, func(t *testing.T) {
		for n := 1; n <= tilesNR; n++ {
			checkTiles(t, r, x, n, 1+r.IntN(tilesNR), 1+r.IntN(3))
			checkTiles(t, r, x, 1+r.IntN(3*tilesMR), n, 1+r.IntN(3))
		}
		for steps := 1; steps < 20; steps++ {
			checkTiles(t, r, x, 1+r.IntN(3*tilesMR), 1+r.IntN(tilesNR), steps)
		}
		for _, rows := range []int{1, 16, 17, 32, 33, 48, 64, 65} {
			for _, cols := range []int{1, 16, 17, 32} {
				checkTiles(t, r, x, rows, cols, 2)
			}
		}
	})
}

func FuzzTiles(f *testing.F) {
	skipWithoutAMX(f)
	for which := range uint8(3) {
		f.Add(uint64(which), which, uint8(0), uint8(0), uint8(0))
		f.Add(uint64(which), which, uint8(70), uint8(31), uint8(5))
		f.Add(uint64(which), which, uint8(31), uint8(15), uint8(19))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, rows, cols, steps uint8) {
		r := rand.New(rand.NewPCG(seed, 17))
		floats, ints := floatTiles(), intTiles()
		m, n, deep := 1+int(rows)%100, 1+int(cols)%tilesNR, 1+int(steps)%20
		if i := int(which) % (len(floats) + len(ints)); i < len(floats) {
			checkTiles(t, r, floats[i], m, n, deep)
		} else {
			checkTiles(t, r, ints[i-len(floats)], m, n, deep)
		}
	})
}

// checkTiles compares the whole memory of c, which ends at a page nobody may
// touch, as a and b do. Between the panels of a lie words that no kernel may
// use.
func checkTiles[C Sum](t *testing.T, r *rand.Rand, x tilesTwins[C], rows, cols, steps int) {
	t.Helper()
	panels, panel := ceil(rows, tilesMR), steps*tilesMR*tilesWords
	apart := panel + 16*r.IntN(3)
	a, b := fenced[uint32](t, (panels-1)*apart+panel), fenced[uint32](t, steps*tilesNR*tilesWords)
	for i := range a {
		a[i] = 0xffffffff // NaN
	}
	for p := range panels {
		for i := range panel {
			a[p*apart+i] = x.word(r)
		}
	}
	for i := range b {
		b[i] = x.word(r)
	}
	const guard = 7
	ldc := cols + r.IntN(5)
	c := fenced[C](t, guard+(rows-1)*ldc+cols)
	for i := range c {
		c[i] = C(r.IntN(2001) - 1000)
	}
	want, a0, b0 := slices.Clone(c), slices.Clone(a), slices.Clone(b)
	accumulate := r.IntN(2) == 0
	// Sums start from c, or from memory of their own that lies as c does.
	from := c
	if r.IntN(2) == 0 {
		from = slices.Clone(c)
		for i := range from {
			from[i] = C(r.IntN(2001) - 1000)
		}
	}
	before := slices.Clone(from)
	run := func(kernel strips[C], c, from []C) {
		step := tilesMR * tilesWords * wordBytes
		kernel(&strip[C]{
			sum: &from[guard], sumRow: ldc * wordBytes, sumPanel: tilesMR * ldc * wordBytes, sumAfter: tilesMR * ldc * wordBytes,
			c: &c[guard], row: ldc * wordBytes, panel: tilesMR * ldc * wordBytes,
			a: &a[0], rowA: tilesWords * wordBytes, stepA: step, panelA: apart * wordBytes,
			b: &b[0], steps: steps, rows: rows, cols: cols, accumulate: accumulate,
		})
	}
	run(x.twin, want, before)
	run(x.fast, c, from)
	at := fmt.Sprintf("%s, %d×%d of %d steps, ldc %d, accumulate %v", x.name, rows, cols, steps, ldc, accumulate)
	for i := range c {
		if c[i] == want[i] || c[i] != c[i] && want[i] != want[i] {
			continue
		}
		row, col := (i-guard)/ldc, (i-guard)%ldc
		if x.within == nil || i < guard || col >= cols {
			t.Fatalf("%s: element %d of c is %v, want %v, was %v", at, i-guard, c[i], want[i], before[i])
		}
		var as, bs []uint32
		for l := range steps {
			for w := range tilesWords {
				as = append(as, a[row/tilesMR*apart+(l*tilesMR+row%tilesMR)*tilesWords+w])
				bs = append(bs, b[(l*tilesWords+w)*tilesNR+col])
			}
		}
		bound := x.within(as, bs) + 0x1p-22*math.Abs(float64(before[i]))
		if diff := math.Abs(float64(c[i]) - float64(want[i])); !(diff <= bound) {
			t.Fatalf("%s: c[%d,%d] is %v, want %v within %.3g", at, row, col, c[i], want[i], bound)
		}
	}
	if !slices.Equal(a, a0) || !slices.Equal(b, b0) {
		t.Fatalf("%s: wrote to its inputs", at)
	}
}

// TestProven wants the proof to hold for the twins and to find what may go
// wrong: it decides whether tiles are used.
func TestProven(t *testing.T) {
	any := func(i uint32) uint32 { return i }
	good := tilesTwin(stepInt8)
	if !proven(good, tilesTwin(stepInt8), any) {
		t.Error("equal kernels differ")
	}
	wrong := map[string]strips[int32]{
		"unsigned factors": tilesTwin(func(s int32, a, b *[tilesWords]uint32) int32 {
			for w := range a {
				s += dotQuads(a[w], b[w])
			}
			return s
		}),
		"a word left out": tilesTwin(func(s int32, a, b *[tilesWords]uint32) int32 {
			x := *a
			x[15] = 0
			return stepInt8(s, &x, b)
		}),
		"never accumulates": changed(good, func(x *strip[int32]) { x.accumulate = false }),
		"one row too many":  changed(good, func(x *strip[int32]) { x.rows = min(x.rows+1, 2*tilesMR-1) }),
		"a column too few":  changed(good, func(x *strip[int32]) { x.cols = max(x.cols-1, 1) }),
	}
	for name, kernel := range wrong {
		if proven(kernel, good, any) {
			t.Errorf("%s: passes", name)
		}
	}
}

func changed(kernel strips[int32], change func(x *strip[int32])) strips[int32] {
	return func(x *strip[int32]) {
		change(x)
		kernel(x)
	}
}

// TestTiles_Measured logs what the choice between tiles and vectors is based
// on.
func TestTiles_Measured(t *testing.T) {
	skipWithoutAMX(t)
	t.Logf("%+v, palette of %d tiles", tilesAreFaster(), amx.Tiles)
}
