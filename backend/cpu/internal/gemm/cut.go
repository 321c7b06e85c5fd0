package gemm

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
func (c cuts) of(mr, nr, words, m, n, steps int) (run, rows, cols int) {
	run = even(steps, c.steps)
	most, tiles := max(1, c.bytes/(run*mr*words*wordBytes)), c.work/(mr*nr*wordBytes)
	kept := run < steps && c.work > 0
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
func (p *Path[S, C]) CutDirect(m, n, k int) (run, cols int) {
	switch p.DirectWay(m) {
	case DirectStreams:
		return streamRows, n
	case DirectPieces:
		run, cols = p.pieceFor(m)
		return even(max(1, k/p.KU), run) * p.KU, min(cols, n)
	}
	return p.directSteps(m, n, k) * p.KU, n
}
