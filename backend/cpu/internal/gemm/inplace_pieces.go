package gemm

import "unsafe"

// inPlacePieces widens pieces of b and packs them in one go, for more rows of a than
// one or two tiles have.
type inPlacePieces[C Sum] struct {
	rows  int // of a from which it pays; 0 for never
	panel int // columns
	tile  tile[C]
	// widen writes some steps of panels of sixteen columns, which lie panel bytes apart.
	widen func(dst *C, panel, steps int, b unsafe.Pointer, ldb, ahead, tiles int)
}

const (
	inPieceSteps   = 96
	inPieceColumns = 512
)

// inPieces is Block piece by piece: each is widened into work, which stays in L2, and
// while it is multiplied rows of the next one are asked for.
func (p *InPlace[C]) inPieces(c []C, ldc, m, n, k int, a []uint32, b []byte, row int, accumulate bool, work []byte) {
	if work == nil {
		work = Buffer(p.Work(m))
	}
	wide := words(work, p.Work(m))
	nr := p.pieces.panel
	whole := n / nr * nr
	for j := 0; j < whole; j += inPieceColumns {
		tiles := min(inPieceColumns, whole-j) / nr
		for s := 0; s < k; s += inPieceSteps {
			steps := min(inPieceSteps, k-s)
			from := b[s*row+j*p.bits/8:]
			next := ahead{stride: uintptr(row)}
			switch {
			case s+steps < k:
				next.of(unsafe.Pointer(&from[steps*row]), min(inPieceSteps, k-s-steps))
			case j+inPieceColumns < whole:
				next.of(unsafe.Pointer(&b[(j+inPieceColumns)*p.bits/8]), min(inPieceSteps, k))
			}
			for l := 0; l < steps; l += inPlaceSteps {
				p.pieces.widen((*C)(unsafe.Pointer(&wide[l*nr])), steps*nr*wordBytes, min(inPlaceSteps, steps-l), unsafe.Pointer(&from[l*row]), row, inPlaceAhead, tiles)
			}
			for t := range tiles {
				for i := 0; i < m; i += p.mr {
					p.pieces.tile(&c[i*ldc+j+t*nr], ldc, steps, &a[i/p.mr*p.mr*k+s*p.mr], &wide[t*steps*nr], nil,
						next.row(), min(p.mr, m-i), nr, accumulate || s > 0)
				}
			}
		}
	}
	if whole < n {
		x := inPlaceRun[C]{InPlace: p, row: row, ldc: ldc, n: n, work: inPlaceWorks.Get().(*inPlaceWork)}
		defer inPlaceWorks.Put(x.work)
		for s := 0; s < k; s += p.steps {
			steps := min(p.steps, k-s)
			for i := 0; i < m; i += p.mr {
				x.edge(c[i*ldc:], whole, min(p.mr, m-i), steps, a[i/p.mr*p.mr*k+s*p.mr:], b[s*row:], steps, accumulate || s > 0)
			}
		}
	}
}
