package gemm

// Cut is how Block divides m rows of a and k elements for the caches: runs of
// run elements of k, over each of which a tile stays in registers, and pieces
// of rows rows of a, which stay in L2 while every panel of b passes. The last of
// either may be smaller.
func (p *Path[S, C]) Cut(m, k int) (run, rows int) {
	steps, rows := p.cuts.of(p.MR, p.Words, m, ceil(k, p.KU))
	return steps * p.KU, rows
}

// of is Cut in steps, for tiles of mr rows, words words deep a step.
func (c cuts) of(mr, words, m, steps int) (run, rows int) {
	run = even(steps, c.steps)
	return run, mr * even(ceil(m, mr), max(1, c.bytes/(run*mr*words*wordBytes)))
}

// CutDirect is how many elements of k BlockDirect runs over before the next
// columns of b get their turn.
func (p *Path[S, C]) CutDirect(m, n, k int) int { return p.directSteps(m, n, k) * p.KU }
