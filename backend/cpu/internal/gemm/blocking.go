package gemm

import "matladder/backend/cpu/internal/probe"

// blocking is the cache blocking of a path: what keeps a block's work in the caches.
type blocking struct {
	steps int // k_c: of k that a register tile runs over
	bytes int // of A, m_c × k_c, that stay in L2 while the panels of B pass
	held  int // bytes of a shallow B, k_c × n, up to which they stay in L2 while the panels of A pass
	work  int // bytes of sums that stay in L2 between two runs over k; tiles only
	near  int // bytes of A and B that stay in L1 where few rows of A meet a B from far; 0 for no such way
}

// hostBlocking leaves half of L2 to two panels of B and the tiles of C. Deep runs
// over k mean few passes over C; both limits were found by measuring.
func hostBlocking(host probe.HostInfo) blocking {
	l2 := host.L2OrUsual()
	return blocking{
		steps: min(max(128, l2>>10), 1024),
		bytes: min(max(96<<10, l2*3/8), 512<<10),
		held:  l2 / 2,
		near:  max(32<<10, host.L1D) * 2 / 3,
	}
}

// thin is how many steps a register tile runs over where few rows of A meet a B that comes from
// far; 0 where it is not so. Few are those whose tiles, each asking for its share, would not ask
// for all of the next panel of B. Then B is read as memory brings it, from end to end, and only the
// run that is multiplied and the one behind it are in L1, with a panel of A each.
func (x blocking) thin(mr, nr, m, steps int) int {
	if x.near <= 0 || ceil(m, mr)*prefetchedPerStep >= nr*wordBytes {
		return 0
	}
	const turn = 4 // steps of the loop of a tile
	most := min(x.steps, max(turn, x.near/((2*nr+2*mr)*wordBytes)))
	return min(most, ceil(even(steps, most), turn)*turn)
}

// Blocking is how Block divides m rows of A, n columns of B and k elements for the caches: runs of
// k_c elements of k, over each of which a register tile stays in registers; pieces of m_c rows of
// A, which stay in L2 while panels of B pass, or MR of them while all of a shallow B stays there;
// and parts of n_c columns. Those of vectors are all columns. Tiles go through k part by part of a
// piece, so that the sums of one stay in L2 meanwhile; a single run needs no parts. The last of each
// may be smaller.
func (p *MicroKernels[S, C]) Blocking(m, n, k int) (kc, mc, nc int) {
	kc, mc, nc = p.blocking.of(p.MR, p.NR, p.Words, m, n, ceil(k, p.KU))
	return kc * p.KU, mc, nc
}

// of is Blocking in steps, for register tiles of mr rows and nr columns, words words deep a step.
func (x blocking) of(mr, nr, words, m, n, steps int) (run, rows, cols int) {
	run = even(steps, x.steps)
	most, tiles := max(1, x.bytes/(run*mr*words*wordBytes)), x.work/(mr*nr*wordBytes)
	if columns := ceil(n, nr) * nr; x.work == 0 && run < columnSteps && run*columns*words*wordBytes <= x.held {
		return run, mr, columns
	}
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

// BlockingDirect is how MultiplyDirect divides n columns of B and k elements for m rows of
// A: cols columns, by tiles of so many rows and columns, over run elements of k, before others get
// their turn.
func (p *MicroKernels[S, C]) BlockingDirect(m, n, k, ldb int, far bool) (run, cols int, tile [2]int) {
	switch p.Read(m, ldb) {
	case ReadStreams:
		return streamRows, n, [2]int{1, n}
	case ReadPieces:
		run, cols = p.pieceFor(m)
		return even(max(1, k/p.KU), run) * p.KU, min(cols, n), [2]int{p.MR, p.NR}
	}
	run = p.directSteps(m, k, ldb, far)
	t, _ := p.direct.of(m, n, run)
	return run * p.KU, n, [2]int{even(m, t.rows), t.cols}
}

// even is the size of pieces, at most limit, that divide n evenly.
func even(n, limit int) int { return ceil(n, ceil(n, limit)) }

func ceil(a, b int) int { return (a + b - 1) / b }
