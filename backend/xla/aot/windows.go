package aot

import (
	"matladder/backend/internal/hlo"
	"matladder/problem"
	"matladder/tile"
)

// Sides of a tile of memory, in which libtpu counts windows.
const windowRows, windowColumns = 8, 128

// place is where a factor of a product is before the first step.
type place uint8

const (
	inMain  place = iota
	inVMEM        // brought there behind the launch before
	between       // brought to the memory between HBM and VMEM (v4), from where its blocks still come
)

func placeOf(n hlo.Resident) place {
	switch {
	case !n.Prefetched:
		return inMain
	case n.Space != vmemSpace:
		return between
	}
	return inVMEM
}

// moved is what a product of XLA's own moves, by its windows: bytes of the blocks that the
// first step waits for and of the one that is written after the last step, on one core, and
// the least bytes that all its steps move. Blocks from the memory between come at the same time as
// those from main memory, as model.Resident has it.
type moved struct{ first, last, all int64 }

// movedBy reads that off the windows of a plain product. at says where the factors are. It
// reports false where windows do not divide the arrays: libtpu does not document the order of
// its numbers, which is inferred from compiled programs.
func movedBy(p problem.Problem, w hlo.Windows, at [2]place) (moved, bool) {
	m, ok := p.(problem.Matmul)
	if !ok || m.Batch > 1 || m.TransB || len(m.Operands()) != 3 {
		return moved{}, false
	}
	type array struct {
		dtype      tile.Dtype
		rows, cols int
		window     [2]int64
		blocks     [2]int64
	}
	n, mm, k := w.Blocks[0], w.Blocks[1], w.Blocks[2]
	arrays := [3]array{
		{m.A, m.M, m.K, w.Left, [2]int64{mm, k}}, {m.B, m.K, m.N, w.Right, [2]int64{k, n}}, {m.Out, m.M, m.N, w.Out, [2]int64{mm, n}},
	}
	var block, whole [3]int64
	for i, a := range arrays {
		rows, cols := min(int64(a.rows), a.window[0]*windowRows), min(int64(a.cols), a.window[1]*windowColumns)
		if tile.Ceil(a.rows, int(rows)) != int(a.blocks[0]) || tile.Ceil(a.cols, int(cols)) != int(a.blocks[1]) {
			return moved{}, false
		}
		block[i], whole[i] = a.dtype.Bytes(rows*cols), a.dtype.Bytes(int64(a.rows)*int64(a.cols))
	}
	orders := orders(w)
	best := moved{}
	for i, times := range orders {
		var total, beside moved
		for f := range times {
			switch at[f] {
			case inMain:
				total.first += block[f]
				total.all += whole[f] * times[f]
				continue
			case between:
				beside.first += block[f]
				beside.all += whole[f] * times[f]
			}
			total.all += whole[f]
		}
		total = moved{max(total.first, beside.first), block[2], max(total.all+whole[2], beside.all)}
		if i == 0 || total.all < best.all {
			best = total
		}
	}
	return best, true
}

// orders are the ways in which blocks of a product may follow each other: how often each factor is read in it.
// Where k is whole, one factor's block stays for all blocks of the other: which, nobody tells,
// so the one that makes less is to be taken.
func orders(w hlo.Windows) [][2]int64 {
	switch n, m, k := w.Blocks[0], w.Blocks[1], w.Blocks[2]; {
	case k == 1 && (n == 1 || m == 1):
		return [][2]int64{{1, 1}}
	case k == 1:
		return [][2]int64{{n, 1}, {1, m}}
	default:
		return [][2]int64{{n, m}}
	}
}
