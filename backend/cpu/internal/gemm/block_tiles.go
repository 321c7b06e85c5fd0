package gemm

import (
	"fmt"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

const (
	tileSums  = tilesMR * tilesNR // sums in a register tile
	tileRow   = tilesNR * wordBytes
	tileBytes = tileSums * wordBytes
	tileLine  = tilesWords * wordBytes // a row of a tile of a
)

// A tilesBlock is one call of Block for tiles, which multiply so fast that c is
// touched once: sums of all chunks of k but the last stay in work, a register tile
// after the other, and of c as much is computed at once as fits there.
type tilesBlock[C Sum] struct {
	strips         strips[C]
	blocking       blocking
	c              *C
	elementC, rowC int // bytes from column to column and from row to row of c
	way            streaming
	by             scaling // of c; columns 64 numbers after 32 columns
	m, n           int
	a              left
	b              []uint32
	panelB         int // words from one panel to the next
	step0, steps   int // of b; a begins at the first
	accumulate     bool
	work           []C
}

// run divides k into chunks that keep a panel of b in L1, and m into pieces of which a
// chunk stays in L2 while the panels of b of a part of n pass. What comes after a
// chunk and a panel is asked for meanwhile.
//
//	for piece of m {
//		for part of n {
//			for chunk of k {
//				for panel of b in part {
//					for panel of a in piece { tile }
//				}
//			}
//		}
//	}
func (x tilesBlock[C]) run() {
	chunk, piece, part := x.blocking.of(tilesMR, tilesNR, tilesWords, x.m, x.n, x.steps)
	kept := 2 // tiles in work
	if chunk < x.steps {
		kept = max(kept, part/tilesNR*(piece/tilesMR))
	}
	if x.work == nil {
		b := memory.NewBuffer(kept * tileBytes)
		x.work = unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(b))), kept*tileSums)
	}
	y := new(strip[C]) // one for all, as a kernel's argument may escape
	for i := 0; i < x.m; i += piece {
		for j := 0; j < x.n; j += part {
			for s := 0; s < x.steps; s += chunk {
				x.part(y, i, min(piece, x.m-i), j, min(part, x.n-j), s, min(chunk, x.steps-s))
			}
		}
	}
}

// part multiplies a chunk of a piece of a by a part of the panels of b.
func (x tilesBlock[C]) part(y *strip[C], i, rows, j, cols, s, steps int) {
	first, last := s == 0, s+steps == x.steps
	panels, whole := ceil(rows, tilesMR), rows/tilesMR
	nextA, nextB := x.after(i, rows, j, cols, s, steps)
	var pending, pendingTo *C // sums of a tile that are not yet in c
	var pendingBy scaling
	for n := 0; n < cols; n += tilesNR {
		*y = strip[C]{
			c: offset(x.c, i*x.rowC+(j+n)*x.elementC), row: x.rowC, panel: tilesMR * x.rowC,
			a: x.panelOfA(i, s), rowA: x.a.row, stepA: x.a.step, panelA: x.a.panel,
			b: x.panelOfB(j+n, s), steps: steps, nextB: nextB,
			rows: rows, cols: min(tilesNR, cols-n), accumulate: x.accumulate || !first,
		}
		if n+tilesNR < cols {
			y.nextB = address(x.panelOfB(j+n+tilesNR, s))
		}
		y.nextA, y.aheadA = x.shareOfA(nextA, n/tilesNR, panels, steps)
		y.sum, y.sumRow, y.sumPanel, y.sumAfter = y.c, y.row, y.panel, y.panel
		if !first {
			y.sum, y.sumRow, y.sumPanel, y.sumAfter = &x.work[n/tilesNR*panels*tileSums], tileRow, tileBytes, tileBytes
		}
		if !last {
			y.c, y.row, y.panel = &x.work[n/tilesNR*panels*tileSums], tileRow, tileBytes
		}
		if x.way == streamNot || !last || y.cols < tilesNR || whole == 0 || first && x.accumulate {
			x.strips(y)
			continue
		}
		y.stream = x.way
		y.copy, y.copyTo, y.copyBy = pending, pendingTo, pendingBy
		if x.way.scales() {
			y.by.rows = offset(x.by.rows, 2*i*wordBytes)
			y.by.columns = offset(x.by.columns, 2*(j+n)*wordBytes)
			pendingBy.rows = offset(y.by.rows, 2*(whole-1)*tilesMR*wordBytes)
			pendingBy.columns = y.by.columns
		}
		if first { // two tiles take turns
			y.sum, y.sumRow, y.sumPanel, y.sumAfter = &x.work[0], tileRow, tileBytes, -tileBytes
			if pending == y.sum {
				y.sum, y.sumPanel, y.sumAfter = &x.work[tileSums], y.sumAfter, y.sumPanel
			}
		}
		pending = offset(y.sum, whole/2*y.sumPanel+(whole-1)/2*y.sumAfter)
		pendingTo = offset(y.c, (whole-1)*y.panel)
		x.strips(y)
	}
	flushSums(pending, pendingTo, x.rowC, x.way, pendingBy)
}

// after returns where the chunk of a and the panel of b begin that come after a
// part; of a 0 for none.
func (x tilesBlock[C]) after(i, rows, j, cols, s, steps int) (nextA, nextB uintptr) {
	switch {
	case s+steps < x.steps:
		s += steps
	case j+cols < x.n:
		j, s = j+cols, 0
	case i+rows < x.m:
		i, j, s = i+rows, 0, 0
	default:
		return 0, address(x.panelOfB(0, 0))
	}
	return address(x.panelOfA(i, s)), address(x.panelOfB(j, s))
}

// shareOfA returns where strip number n of a part begins to ask for the next
// chunk of a, and how far apart its steps do. When all of it has been asked for,
// the first panel of b serves as an address that costs nothing.
func (x tilesBlock[C]) shareOfA(nextA uintptr, n, panels, steps int) (next uintptr, ahead int) {
	const lines = 2 * cacheLine // of one step of a kernel
	asked, rows := n*panels*steps, panels*tilesMR
	switch {
	case nextA == 0 || asked*lines >= rows*steps*tileLine:
		return address(x.panelOfB(0, 0)), 0
	case x.a.packed: // chunks of panels, each without a gap
		run := steps * x.a.step
		return nextA + uintptr(asked*lines/run*x.a.panel+asked*lines%run), lines
	}
	return nextA + uintptr(asked/rows*lines+asked%rows*x.a.row), x.a.row
}

func (x tilesBlock[C]) panelOfA(i, s int) *uint32 { return x.a.at(i/tilesMR, s) }

func (x tilesBlock[C]) panelOfB(j, s int) *uint32 {
	return &x.b[j/tilesNR*x.panelB+(x.step0+s)*tilesNR*tilesWords]
}

// Whole reports whether m×n matrices whose rows are ldc elements apart are whole
// panels of tiles, which MultiplyWhole computes.
func (p *MicroKernels[S, C]) Whole(m, n, ldc int) bool {
	return p.kernel.strips != nil && m%p.MR == 0 && n%p.NR == 0 && ldc%p.NR == 0
}

// A Scaling is what MultiplyWhole makes of sums; the zero value leaves them as they are.
type Scaling struct {
	Rows    []float32 // two factors for each row of c, one for before those of columns and one for after
	Columns []float32 // for each 32 columns their factors, and then what is added to them
}

// MultiplyWhole is Multiply, not accumulating, into a c of float32, or of uint16 for bits of
// bfloat16, that starts on a cache line. Of a sum of row i and column j in it is
//
//	c[i, j] = float32(sum) · row factor i · column factor j · last row factor i + column term j
//
// where each operation rounds to float32; bits of bfloat16 are then those of narrow.
// Unscaled, sums are float32 and c is of bfloat16; scaled, k is at least 1.
func MultiplyWhole[S Source, C Sum, D float32 | uint16](p *MicroKernels[S, C], r Run[S], by Scaling, c []D, ldc, m, n, k int) {
	scales, narrows := by.Rows != nil, memory.Size[D]() == memory.Size[uint16]()
	switch {
	case !p.Whole(m, n, ldc) || k%p.KU != 0 && r.Rows != nil:
		panic(fmt.Sprintf("gemm: %s: whole panels of %d×%d, ldc %d, k %d", p.Name, m, n, ldc, k))
	case scales && (len(by.Rows) < 2*m || len(by.Columns) < 2*n || k < 1), !scales && !narrows:
		panic(fmt.Sprintf("gemm: %s: %d×%d, k %d, scaled by %d and %d numbers", p.Name, m, n, k, len(by.Rows), len(by.Columns)))
	}
	c = extent(c, m, n, ldc)
	if nothing(c, ldc, m, n, k, false) {
		return
	}
	x := p.tilesBlock(r, m, n, 0, k, k)
	x.c, x.elementC, x.rowC = (*C)(unsafe.Pointer(&c[0])), memory.Size[D](), ldc*memory.Size[D]()
	x.by = scaling{unsafe.SliceData(by.Rows), unsafe.SliceData(by.Columns)}
	switch {
	case scales && narrows:
		x.way = streamScaledNarrowPast
	case scales:
		x.way = streamScaledPast
	default:
		x.way = streamNarrowPast
	}
	if r.Write != WriteNonTemporal {
		x.way++ // the same by way of the caches
	}
	x.run()
}
