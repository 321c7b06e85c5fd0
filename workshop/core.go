package workshop

import (
	"context"
	"fmt"

	"matladder/model/anatomy"
	"matladder/model/traverse"
	blank "matladder/workshop/blanks/ex12"
	yours "matladder/workshop/exercises/ex12"
	solved "matladder/workshop/solutions/ex12"
)

var cutForCore = exerciseOf[cutting](declares{"Loads": {yours.Loads, blank.Loads, solved.Loads}, "Tile": {yours.Tile, blank.Tile, solved.Tile}, "Cut": {yours.Cut, blank.Cut, solved.Cut}})

type cutting struct {
	Loads     func(rows, vectors int) float64
	Tile, Cut func() (int, int)
}

func (e cutting) check(_ context.Context, r *Report) error {
	for _, c := range [][2]int{{1, 1}, {6, 2}, {12, 2}} {
		got, want, call := e.Loads(c[0], c[1]), float64(c[0]+c[1])/float64(c[0]*c[1]), fmt.Sprintf("Loads(%d, %d)", c[0], c[1])
		r.expect(got == want, fmt.Sprintf("%s = %.4g", call, got), fmt.Sprintf("%s is %.4g, should be %.4g: loads over products.", call, got, want))
	}
	core, _ := anatomy.CoreOf("avx2")
	const size, word = 1024, 4
	rows, vectors := e.Tile()
	kc, mc := e.Cut()
	if min(rows, vectors, kc, mc) < 1 || max(rows, vectors, kc, mc) > size {
		r.wrong("tile %d×%d, k_c %d, m_c %d: each is from 1 to %d", rows, vectors, kc, mc, size)
		return nil
	}
	core.MR, core.NR = rows, vectors*core.Lanes
	limit, cycles := core.Count(anatomy.Packing, core.MR, 1, core.NR).Limit() // one step along k: nothing is far
	peak := 100 / (cycles * core.FMAs * float64(core.Lanes))
	said := fmt.Sprintf("tile %d×%d: %s is the limit, %.3g %% of the peak", rows, vectors, limit, peak)
	r.atMost("registers", int64(rows*vectors+vectors+1), 16, whole, "Others would go to memory and back at each step.")
	r.expect(peak > 99.9, said, said+". Are there sums enough to begin two a cycle, and fewer loads than products?")
	panel, block := int64(kc*core.NR*word), int64(mc*kc*word)
	r.atMost("a panel of B in L1", panel, 16<<10, traverse.FastMemory, "Rows of A pass through the other half.")
	r.atMost("a block of A in L2", block, 128<<10, traverse.FastMemory, "Panels of B pass through the other half.")
	r.expect(mc%rows == 0, "m_c is whole tiles", fmt.Sprintf("m_c %d is not a multiple of %d rows", mc, rows))
	// An element of B serves m_c products, one of C comes and goes once in k_c.
	r.atMost("bytes from behind L2, for 1000 products", int64(1000*(word/float64(mc)+2*word/float64(kc))), 70, whole, "B costs 4 / m_c for each product, and C 8 / k_c: it comes and goes once for each cut of k.")
	return nil
}
