package gemm

import "unsafe"

const (
	tileSums  = tilesMR * tilesNR // sums in a register tile
	tileRow   = tilesNR * wordBytes
	tileBytes = tileSums * wordBytes
)

// runTiles is run for tiles. They multiply so fast that c is touched once: sums
// of all chunks of k but the last stay in work, a register tile after the other,
// and of c as much is computed at once as fits there.
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
//
// A chunk of a piece stays in L2 while the panels of b of a part pass; what
// comes after both is asked for meanwhile.
func (x block[C]) runTiles() {
	chunk := even(x.steps, x.cuts.steps)
	panels := even(ceil(x.m, x.mr), max(1, x.cuts.bytes/(chunk*x.mr*x.words*wordBytes)))
	columns := ceil(x.n, x.nr)
	kept := 2 // tiles in work
	if chunk < x.steps {
		columns = even(columns, max(1, x.cuts.work/tileBytes/panels))
		kept = max(kept, columns*panels)
	}
	if x.work == nil {
		b := Buffer(kept * tileBytes)
		x.work = unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(b))), kept*tileSums)
	}
	y := new(strip[C]) // one for all, as a kernel's argument may escape
	piece, part := panels*x.mr, columns*x.nr
	for i := 0; i < x.m; i += piece {
		for j := 0; j < x.n; j += part {
			for s := 0; s < x.steps; s += chunk {
				x.part(y, i, min(piece, x.m-i), j, min(part, x.n-j), s, min(chunk, x.steps-s))
			}
		}
	}
}

// part multiplies a chunk of a piece of a by a part of the panels of b.
func (x block[C]) part(y *strip[C], i, rows, j, cols, s, steps int) {
	first, last := s == 0, s+steps == x.steps
	panels := ceil(rows, x.mr)
	nextA, nextB := x.after(i, rows, j, cols, s, steps)
	var pending, pendingTo *C // sums of a tile that are not yet in c
	for n := 0; n < cols; n += x.nr {
		*y = strip[C]{
			c: &x.c[i*x.ldc+j+n], row: x.ldc * wordBytes, panel: x.mr * x.ldc * wordBytes,
			a: x.panelOfA(i, s), rowA: x.rowA, stepA: x.stepA, panelA: x.panelA * wordBytes,
			b: x.panelOfB(j+n, s), steps: steps, nextB: nextB,
			rows: rows, cols: min(x.nr, cols-n), accumulate: x.accumulate || !first,
		}
		y.sum, y.sumRow, y.sumPanel, y.sumAfter = y.c, y.row, y.panel, y.panel
		if !first {
			y.sum, y.sumRow, y.sumPanel, y.sumAfter = &x.work[n/x.nr*panels*tileSums], tileRow, tileBytes, tileBytes
		}
		if !last {
			y.c, y.row, y.panel = &x.work[n/x.nr*panels*tileSums], tileRow, tileBytes
		}
		if n+x.nr < cols {
			y.nextB = uintptr(unsafe.Pointer(x.panelOfB(j+n+x.nr, s)))
		}
		y.nextA, y.aheadA = x.shareOfA(nextA, n/x.nr, panels, steps)
		if !last || y.cols < x.nr || rows < x.mr || first && x.accumulate || !x.streams() {
			x.kernel.strips(y)
			continue
		}
		rest := *y // rows that are no whole panel
		y.rows, y.stream = rows/x.mr*x.mr, true
		y.copy, y.copyTo = pending, pendingTo
		if first { // two tiles take turns
			y.sum, y.sumRow, y.sumPanel, y.sumAfter = &x.work[0], tileRow, tileBytes, -tileBytes
			if pending == y.sum {
				y.sum, y.sumPanel, y.sumAfter = &x.work[tileSums], y.sumAfter, y.sumPanel
			}
		}
		x.kernel.strips(y)
		whole := rows / x.mr
		pending = offset(y.sum, whole/2*y.sumPanel+(whole-1)/2*y.sumAfter)
		pendingTo = offset(y.c, (whole-1)*y.panel)
		if rows > whole*x.mr {
			*y = rest
			y.rows -= whole * x.mr
			y.a, y.c = offset(y.a, whole*y.panelA), offset(y.c, whole*y.panel)
			y.sum = offset(y.sum, whole*y.sumPanel)
			x.kernel.strips(y)
		}
	}
	flushSums(pending, pendingTo, x.ldc*wordBytes)
}

// streams reports whether c may be written past the caches.
func (x block[C]) streams() bool {
	const line = 64
	return x.stream && uintptr(unsafe.Pointer(&x.c[0]))%line == 0 && x.ldc*wordBytes%line == 0
}

// after returns where the chunk of a and the panel of b begin that come after a
// part; of a 0 for none.
func (x block[C]) after(i, rows, j, cols, s, steps int) (nextA, nextB uintptr) {
	switch {
	case s+steps < x.steps:
		s += steps
	case j+cols < x.n:
		j, s = j+cols, 0
	case i+rows < x.m:
		i, j, s = i+rows, 0, 0
	default:
		return 0, uintptr(unsafe.Pointer(x.panelOfB(0, 0)))
	}
	return uintptr(unsafe.Pointer(x.panelOfA(i, s))), uintptr(unsafe.Pointer(x.panelOfB(j, s)))
}

// shareOfA returns where strip number n of a part begins to ask for the next
// chunk of a, and how far apart its steps do. When all of it has been asked for,
// the panel of b in hand serves as an address that costs nothing.
func (x block[C]) shareOfA(nextA uintptr, n, panels, steps int) (next uintptr, ahead int) {
	const lines = 2 * 64 // of one step of a kernel
	asked := n * panels * steps
	switch {
	case nextA == 0 || asked*lines >= panels*x.mr*steps*tilesWords*wordBytes:
		return uintptr(unsafe.Pointer(x.panelOfB(0, 0))), 0
	case x.rowA == tilesWords*wordBytes: // packed: chunks of panels, each without a gap
		run := steps * x.stepA
		return nextA + uintptr(asked*lines/run*x.panelA*wordBytes+asked*lines%run), lines
	}
	rows := panels * x.mr
	return nextA + uintptr(asked/rows*lines+asked%rows*x.rowA), x.rowA
}

func (x block[C]) panelOfA(i, s int) *uint32 {
	return &x.a[i/x.mr*x.panelA+(x.step0+s)*x.stepA/wordBytes]
}
