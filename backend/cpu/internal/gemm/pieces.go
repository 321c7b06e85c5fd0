package gemm

import (
	"unsafe"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/probe"
)

// pieceCuts are the pieces of a b that is not packed as a whole: one at a time is
// packed, for so many rows of a that a tile for each panel of them would read the
// same rows of b, strides apart, too often.
type pieceCuts struct {
	rows  int // of a from which it pays; 0 where there are none, AllRows for never
	close int // likewise, where rows of b fall into few sets of the caches
	steps int // of k, at most; fewer for few rows of a, but where tiles pack
	width int // columns
}

// hostPieces are the pieces for register tiles of mr rows and nr columns. A panel of b that
// is as deep as a piece stays in L1, with the panel of a that it meets and the next one; and
// the largest piece, packed, takes three quarters of an L2 of 512 KiB.
func hostPieces(host probe.HostInfo, mr, nr, rows, close int) pieceCuts {
	p := pieceCuts{rows: rows, close: close, width: 512}
	p.steps = min(192, hostBlocking(host).near/((nr+2*mr)*wordBytes))
	if l2 := host.L2; l2 > 0 && l2 < 512<<10 {
		p.width = 256
	}
	return p
}

// packs has tiles pack pieces as they read them: as deep as L1 holds a panel of b and one of a.
func (d *directKernel[C]) packs(host probe.HostInfo, mr, nr int, packing direct[C]) {
	d.packing, d.pieces.steps = packing, hostBlocking(host).near*4/3/((nr+mr)*wordBytes)
}

// pay reports whether pieces pay for m rows of a and a b whose rows are some bytes apart. Register
// tiles that read many such rows where they lie ask for lines of each ahead, which drive each other
// out where the distance is a multiple of half a KiB, as measured.
func (p pieceCuts) pay(m, apart int) bool {
	rows := p.rows
	if apart%512 == 0 {
		rows = p.close
	}
	return rows > 0 && m >= rows
}

// pieceFor is how many steps and columns a piece has for m rows of a. A tile asks for a
// part of one row, as long as it has steps: of narrow elements that is soon the whole
// row, and a piece has no more rows than there are tiles to ask for them.
func (p *MicroKernels[S, C]) pieceFor(m int) (steps, width int) {
	const few, fewSteps = 24, 96 // rows, while which are multiplied not much of the next piece can come
	steps, width = p.direct.pieces.steps, p.direct.pieces.width
	if m <= few && p.direct.packing == nil {
		steps = min(steps, fewSteps)
	}
	if memory.Size[S]() < wordBytes {
		tiles, row := ceil(width, p.NR)*ceil(m, p.MR), ceil(width*memory.Size[S](), prefetchedPerStep)
		steps = min(steps, max(tiles/p.KU, row))
	}
	return steps, width
}

// work is the bytes of the largest packed piece.
func (p pieceCuts) work(nr int) int { return p.steps * ceil(p.width, nr) * nr * wordBytes }

// inPieces multiplies steps whole steps of n columns piece by piece: each is packed into work,
// which stays in L2, and while it is multiplied rows of the next one are asked for.
//
//	for piece of columns {
//		for piece of k {
//			pack it
//			for panel of the piece {
//				for panel of a { tile, and ask for a row of the next piece }
//			}
//		}
//	}
func (x *directBlock[S, C]) inPieces(n, steps int, work []byte) {
	const least = 16 // steps, below which starts and ends of tiles in small pieces take longest
	if x.direct.packing != nil && steps < least {
		x.run(0, n, 0, steps)
		return
	}
	p := x.direct.pieces
	if work == nil {
		work = memory.NewBuffer(p.work(x.NR))
	}
	packed := words(work, p.work(x.NR))
	x.begin(0, steps)
	depth, width := x.pieceFor(x.m)
	depth = even(max(1, steps), depth)
	var next ahead
	for j := 0; j < n; j += width {
		for s := 0; s < steps; s += depth {
			here := next.rows == 1 && x.NR*memory.Size[S]() >= cacheLine                     // all of it has been asked for, and panels are of whole lines
			next = ahead{at: address(&packed[0]), stride: uintptr(x.ldb * memory.Size[S]())} // costs nothing if there is none
			switch {
			case s+depth < steps:
				next.of(at(x.b, (s+depth)*x.KU*x.ldb+j), min(depth, steps-s-depth)*x.KU)
			case j+width < n:
				next.of(at(x.b, j+width), min(depth, steps)*x.KU)
			}
			x.piece(j, min(width, n-j), s, min(depth, steps-s), packed, here, &next)
		}
	}
}

// piece multiplies cols columns of some steps. Where it is here, in L2, a panel is packed at
// a time, which stays in L1; else all of it, along its rows as memory brings them. Of many rows of a
// the first meet it as it is packed.
func (x *directBlock[S, C]) piece(j, cols, s, steps int, packed []uint32, here bool, next *ahead) {
	panel, once, done, height, accumulate := x.NR*steps, cols, 0, x.MR, x.accumulate || s > 0
	if here {
		once = x.NR
	}
	if x.direct.packing != nil && x.m > x.MR && (here || !x.far) && (s+steps)*x.KU <= x.k {
		once, done = x.NR, x.MR
	}
	if !x.a.packed {
		height = ceil(even(x.m-done, x.MR), 2) * 2
	}
	for from := 0; from < cols; from += x.NR {
		src := x.b[s*x.KU*x.ldb+j+from:]
		if done > 0 {
			x.direct.packing(&x.c[j+from], x.ldc, steps, x.a.at(0, s), x.a.row, x.a.step, at(src, 0), x.ldb*memory.Size[S](), int(address(&packed[0])), 0, done, done, min(x.NR, cols-from), x.bias.at(0, s), accumulate)
		} else if from%once == 0 {
			n := min(once, cols-from)
			x.packB.Columns(packed[:ceil(n, x.NR)*panel], panel, src, x.ldb, n, min(steps*x.KU, x.k-s*x.KU))
		}
		b, cols := &packed[from%once/x.NR*panel], min(x.NR, cols-from)
		if x.a.packed && x.kernel.isEdge(cols) {
			x.kernel.spoil()
			x.kernel.edge(&x.c[done*x.ldc+j+from], x.ldc, next.row(), x.m-done, cols, x.a.at(done/x.MR, s), x.a.panel/wordBytes, steps, b, accumulate)
			break
		}
		for i := done; i < x.m; i += height {
			c, rows, start := &x.c[i*x.ldc+j+from], min(height, x.m-i), x.bias.at(i, s)
			if x.a.packed {
				x.kernel.tile(c, x.ldc, steps, x.a.at(i/x.MR, s), b, start, next.row(), rows, cols, accumulate)
			} else {
				x.kernel.rows.tileOf(c, x.ldc, steps, offset(x.a.at(0, s), i*x.a.row), x.a.row, b, start, next.row(), rows, cols, accumulate)
			}
		}
	}
}

// ahead are rows that tiles ask for, one after another.
type ahead struct {
	at, stride uintptr
	rows       int // left; then the last one is asked for again
}

func (a *ahead) of(first unsafe.Pointer, rows int) { a.at, a.rows = uintptr(first), rows }

// row is the address of the next row.
func (a *ahead) row() uintptr {
	at := a.at
	if a.rows > 1 {
		a.at, a.rows = a.at+a.stride, a.rows-1
	}
	return at
}
