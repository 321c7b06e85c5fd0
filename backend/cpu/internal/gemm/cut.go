package gemm

import "matladder/backend/cpu/internal/probe"

// cuts are the sizes that keep a block's work in the caches.
type cuts struct {
	steps int // of k that a tile runs over
	bytes int // of a that stay in L2 while the panels of b pass
	work  int // bytes of sums that stay in L2 between two runs over k; tiles only
}

// hostCuts leaves half of L2 to two panels of b and the tiles of c. Deep runs
// over k mean few passes over c; both limits were found by measuring.
func hostCuts() cuts {
	l2 := probe.Host().L2
	if l2 == 0 {
		l2 = 512 << 10
	}
	return cuts{
		steps: min(max(128, l2>>10), 1024),
		bytes: min(max(96<<10, l2*3/8), 512<<10),
	}
}

// Cut is how Block divides m rows of a, n columns of b and k elements for the
// caches: runs of run elements of k, over each of which a register tile stays in
// registers; pieces of rows rows of a, which stay in L2 while panels of b pass; and
// parts of cols columns. Those of vectors are all columns. Tiles go through k part
// by part of a piece, so that the sums of one stay in L2 meanwhile; a single run
// needs no parts. The last of each may be smaller.
func (p *Path[S, C]) Cut(m, n, k int) (run, rows, cols int) {
	run, rows, cols = p.cuts.of(p.MR, p.NR, p.Words, m, n, ceil(k, p.KU))
	return run * p.KU, rows, cols
}

// of is Cut in steps, for register tiles of mr rows and nr columns, words words
// deep a step.
func (x cuts) of(mr, nr, words, m, n, steps int) (run, rows, cols int) {
	run = even(steps, x.steps)
	most, tiles := max(1, x.bytes/(run*mr*words*wordBytes)), x.work/(mr*nr*wordBytes)
	kept := run < steps && x.work > 0
	if kept {
		most = min(most, tiles)
	}
	panels, columns := even(ceil(m, mr), most), ceil(n, nr)
	if kept {
		columns = even(columns, tiles/panels)
	}
	return run, panels * mr, columns * nr
}

// CutDirect is how BlockDirect divides n columns of b and k elements for m rows of
// a: cols columns over run elements of k, before others get their turn.
func (p *Path[S, C]) CutDirect(m, n, k, ldb int) (run, cols int) {
	switch p.DirectWay(m, ldb) {
	case DirectStreams:
		return streamRows, n
	case DirectPieces:
		run, cols = p.pieceFor(m)
		return even(max(1, k/p.KU), run) * p.KU, min(cols, n)
	}
	return p.directSteps(m, n, k) * p.KU, n
}

// even is the size of pieces, at most limit, that cut n evenly.
func even(n, limit int) int { return ceil(n, ceil(n, limit)) }

func ceil(a, b int) int { return (a + b - 1) / b }
