package gemm

// A block is one call of Block, in words and steps.
type block[C Sum] struct {
	kernel        *kernel[C]
	mr, nr, words int
	blocking      blocking
	c             []C
	ldc, m, n     int
	a             left
	b             []uint32
	panelB        int // words from one panel to the next
	step0, steps  int // of b; a begins at the first
	accumulate    bool
	far, thin     bool // b comes from far; and few rows of a meet it
	bias          bias[C]
}

// run divides k into chunks and m into pieces of a that fit L2. For each piece
// every panel of b passes once, and meets every panel of the piece:
//
//	for chunk of k {
//		for piece of m {
//			for panel of b {
//				for panel of a in piece { tile }
//			}
//		}
//	}
//
// Where b is shallow and stays in L2, a piece is one panel of a: so c is written along its rows,
// as processors prefetch. In deep products that is no gain, as c takes less time beside panels of b.
//
// Where few rows of a meet a b from far, which is then read from end to end:
//
//	for panel of b {
//		for chunk of k {
//			for panel of a { tile }
//		}
//	}
func (x *block[C]) run() {
	if run := x.blocking.thin(x.mr, x.nr, x.m, x.steps); x.far && run > 0 {
		x.thin = true
		for j := 0; j < x.n; j += x.nr {
			for s := 0; s < x.steps; s += run {
				x.column(0, x.m, j, s, min(run, x.steps-s))
			}
		}
		return
	}
	chunk, piece, _ := x.blocking.of(x.mr, x.nr, x.words, x.m, x.n, x.steps)
	for s := 0; s < x.steps; s += chunk {
		steps := min(chunk, x.steps-s)
		if piece <= x.mr {
			x.along(s, steps)
			continue
		}
		for i := 0; i < x.m; i += piece {
			for j := 0; j < x.n; j += x.nr {
				x.column(i, min(i+piece, x.m), j, s, steps)
			}
		}
	}
}

// along multiplies each panel of a by all panels of b over some steps from step s on. Columns that
// an edge computes come last.
func (x *block[C]) along(s, steps int) {
	n, accumulate := x.n, x.accumulate || s > 0
	if last := n % x.nr; last > 0 && x.kernel.isEdge(last) {
		n -= last
		x.column(0, x.m, n, s, steps)
	}
	for i := 0; i < x.m && n > 0; i += x.mr {
		rows, a, start := min(x.mr, x.m-i), x.a.at(i/x.mr, s), x.bias.at(i, s)
		for j := 0; j < n; j += x.nr {
			c, b, cols := &x.c[i*x.ldc+j], x.panelOfB(j, s), min(x.nr, n-j)
			if x.a.packed {
				x.kernel.tile(c, x.ldc, steps, a, b, start, address(b), rows, cols, accumulate)
			} else {
				x.kernel.rows.tileOf(c, x.ldc, steps, a, x.a.row, b, start, address(b), rows, cols, accumulate)
			}
		}
	}
}

// column multiplies rows i0 … i1-1 of a by the panel of b at column j, over
// some steps from step s on. Meanwhile each tile asks for a share of the next
// panel, which would come from L3 or memory otherwise; or the first tile asks for what lies
// behind in memory: the next steps, the next panel, and in the end the next block.
func (x *block[C]) column(i0, i1, j, s, steps int) {
	x.kernel.spoil()
	b := x.panelOfB(j, s)
	after := j + x.nr
	if after >= x.n {
		after = 0
	}
	next, tile := address(x.panelOfB(after, s)), x.kernel.tile
	if x.thin {
		next = address(b) + uintptr(steps*x.nr*wordBytes)
		if x.kernel.thin != nil {
			tile = x.kernel.thin
		}
	}
	share := uintptr(steps) * prefetchedPerStep
	end := next + share*uintptr(x.nr*wordBytes/prefetchedPerStep)
	cols := min(x.nr, x.n-j)
	accumulate := x.accumulate || s > 0
	if x.a.packed && x.kernel.isEdge(cols) {
		x.kernel.edge(&x.c[i0*x.ldc+j], x.ldc, next, i1-i0, cols, x.a.at(i0/x.mr, s), x.a.panel/wordBytes, steps, b, accumulate)
		return
	}
	if !x.a.packed && x.kernel.isEdge(cols) && x.kernel.gemv.run != nil {
		x.edgeAlong(i0, i1, j, cols, s, steps, b, accumulate)
		return
	}
	if whole := (i1 - i0) / x.mr; x.kernel.column != nil && cols == x.nr && steps >= columnSteps && whole > 0 && !x.thin {
		c, a := &x.c[i0*x.ldc+j], x.a.at(i0/x.mr, s)
		if x.a.packed {
			x.kernel.column(c, x.ldc, steps, a, b, x.bias.at(i0, s), next, end, whole, x.a.panel/wordBytes, accumulate)
		} else {
			x.kernel.rows.column(c, x.ldc, steps, a, x.a.row, b, x.bias.at(i0, s), next, end, whole, accumulate)
		}
		i0 += whole * x.mr
	}
	for i, ahead := i0, next; i < i1; i += x.mr {
		c, a, rows, start := &x.c[i*x.ldc+j], x.a.at(i/x.mr, s), min(x.mr, i1-i), x.bias.at(i, s)
		if x.a.packed {
			tile(c, x.ldc, steps, a, b, start, ahead, rows, cols, accumulate)
			tile = x.kernel.tile
		} else {
			x.kernel.rows.tileOf(c, x.ldc, steps, a, x.a.row, b, start, ahead, rows, cols, accumulate)
		}
		if ahead += share; ahead == end {
			ahead = next
		}
	}
}

func (x *block[C]) panelOfB(j, s int) *uint32 { return &x.b[j/x.nr*x.panelB+(x.step0+s)*x.nr*x.words] }
