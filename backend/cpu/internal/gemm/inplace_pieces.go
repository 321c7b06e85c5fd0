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

// inPieces is Block piece by piece, for whole panels of columns, whose number it returns:
// each piece is widened into work, which stays in L2, and while it is multiplied rows of the
// next one are asked for.
func (x *inPlaceRun[C]) inPieces(work []byte) int {
	if work == nil {
		work = Buffer(x.Work(x.m, 0))
	}
	wide, nr := words(work, x.Work(x.m, 0)), x.pieces.panel
	whole := x.n / nr * nr
	for j := 0; j < whole; j += inPieceColumns {
		tiles := min(inPieceColumns, whole-j) / nr
		for s := 0; s < x.k; s += inPieceSteps {
			steps := min(inPieceSteps, x.k-s)
			from := x.b[s*x.row+j*x.bits/8:]
			next := ahead{stride: uintptr(x.row)}
			switch {
			case s+steps < x.k:
				next.of(unsafe.Pointer(&from[steps*x.row]), min(inPieceSteps, x.k-s-steps))
			case j+inPieceColumns < whole:
				next.of(unsafe.Pointer(&x.b[(j+inPieceColumns)*x.bits/8]), min(inPieceSteps, x.k))
			}
			for l := 0; l < steps; l += inPlaceSteps {
				x.pieces.widen((*C)(unsafe.Pointer(&wide[l*nr])), steps*nr*wordBytes, min(inPlaceSteps, steps-l), unsafe.Pointer(&from[l*x.row]), x.row, inPlaceAhead, tiles)
			}
			for t := range tiles {
				for i := 0; i < x.m; i += x.mr {
					x.pieces.tile(&x.c[i*x.ldc+j+t*nr], x.ldc, steps, &x.a[i/x.mr*x.panel+s*x.mr], &wide[t*steps*nr], nil,
						next.row(), min(x.mr, x.m-i), nr, x.accumulate || s > 0)
				}
			}
		}
	}
	return whole
}
