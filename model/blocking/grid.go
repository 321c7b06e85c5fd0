package blocking

import "matladder/tile"

// grid is the programs of a launch as workers go through them: blocks of c, row after
// row or column after column, in runs of neighbours. A worker whose run is done takes
// half of what is left of the longest.
type grid struct {
	rows, cols int         // of blocks
	batch      int         // products
	blocks     [2][2]block // last row, last column
	byColumns  bool
	workers    int
	apart      float64 // seconds that a program takes longer for neighbours that write the same lines of c
	task       float64 // and to decide what it does, which a worker remembers of a single one
	sharing    int     // workers that pack a block of b together
	slow       int     // workers on cores that are slower
	slowness   float64 // and by how much
	copies     bool    // L3 has room for one packed b for each worker, who packs it alone if that takes less
}

func newGrid(x *product, s tile.Blocks) *grid {
	g := &grid{rows: tile.Ceil(x.m, s.M), cols: tile.Ceil(x.n, s.N), workers: x.workers, batch: x.batch, slow: x.Slow, slowness: x.Slowness}
	rows := [2]int{s.M, x.m - (g.rows-1)*s.M}
	cols := [2]int{s.N, x.n - (g.cols-1)*s.N}
	for i := range rows {
		for j := range cols {
			g.blocks[i][j] = x.block(s, rows[i], cols[j], g.rows > 1, g.cols > 1)
		}
	}
	g.byColumns = x.readsA && !x.readsB && (g.cols%x.workers == 0 || g.cols >= 4*x.workers)
	if g.sharing = 1; !g.byColumns && !x.readsB && !x.packedB {
		g.sharing = min(g.workers, g.rows)
	}
	if g.batch*g.rows*g.cols > g.workers {
		g.task = x.Task
	}
	g.copies = float64(x.together)*float64(x.k)*float64(x.n)*x.b <= float64(x.L3)
	if whole := x.n*int(x.c)%ahead == 0 && s.N*int(x.c)%ahead == 0; g.cols > 1 && !whole && x.WriteOthers > 0 && (g.byColumns || g.rows < g.workers) {
		if g.apart = float64(min(s.M, x.m)*lines) / x.WriteOthers; x.c == x.accumulator {
			g.apart *= exposed // register tiles write while they compute
		}
	}
	return g
}

// Where cores write adjacent columns, prefetchers take lines from one for another.
const (
	lines = 256 // bytes that they bring with a line that is written
	ahead = 512 // parts of rows of a multiple of so many bytes suffer little, as measured
)

// A run is the part of the programs that a worker has left, and what it has at hand.
type run struct {
	next, end int
	row, col  int // of the block of a, and of b, in hand
	met       int // blocks of b
	at        float64
	speed     float64 // as a part of the fastest cores'
}

// step is the time of program n of a worker.
func (g *grid) step(r *run, n int) float64 {
	i, j := n/g.cols, n%g.cols
	if g.byColumns {
		i, j = n%g.rows, n/g.rows
	}
	b := g.blocks[atEnd(i%g.rows, g.rows)][atEnd(j%g.cols, g.cols)]
	t := b.product + g.apart + g.task
	if (i != r.row || !b.keepsA) && !g.byColumns {
		t += b.packA
	}
	switch {
	case g.sharing == 1:
		if j != r.col {
			t += b.packB.Alone
		}
	case r.met < g.cols: // the block of b is new
		r.met++
		seconds, _ := b.packB.Best(g.sharing, g.copies)
		t += seconds
	}
	r.row, r.col = i, j
	return t
}

// mostTasks of a worker are played through, and of many workers fewer; of more, only so many and the
// rest by their average.
const mostTasks, ofAll, least = 48, 2048, 4

// heldUp is the share of launches as long as slice in which a worker loses its core to
// something else: the others take what it has not begun, and wait for what it has. What is much
// shorter ends before, or waits for all of the slice whatever its blocks are.
const (
	heldUp = 0.05
	slice  = 3e-3 // seconds, of Linux's scheduler
)

// makespan is when the last worker ends.
func (g *grid) makespan() float64 {
	tasks, scale := g.batch*g.rows*g.cols, 1.0
	if most := max(least*g.workers, min(mostTasks*g.workers, ofAll)); tasks > most {
		scale = float64(tasks) / float64(most)
		tasks = most
	}
	runs := make([]run, g.workers)
	for w := range runs {
		runs[w] = run{next: w * tasks / g.workers, end: (w + 1) * tasks / g.workers, row: -1, col: -1, speed: 1}
		if w >= g.workers-g.slow {
			runs[w].speed = g.slowness
		}
	}
	last, longest := 0.0, 0.0
	for range tasks {
		r := &runs[0] // that is free first
		if r.next == r.end {
			richest := &runs[0]
			for i := range runs {
				if runs[i].end-runs[i].next > richest.end-richest.next {
					richest = &runs[i]
				}
			}
			middle := richest.next + (richest.end-richest.next)/2
			r.next, r.end, richest.end = middle, richest.end, middle
		}
		n := r.next
		r.next++
		t := g.step(r, n) / r.speed
		r.at += t
		longest = max(longest, t)
		last = max(last, r.at)
		sink(runs)
	}
	last = last*scale + g.blocks[0][0].uneven
	if g.workers > 1 {
		last += heldUp / 2 * longest * min(1, last/slice)
	}
	return last
}

// sink restores the order of a heap by time whose first run has got later.
func sink(runs []run) {
	for i, child := 0, 1; child < len(runs); i, child = child, 2*child+1 {
		if right := child + 1; right < len(runs) && runs[right].at < runs[child].at {
			child = right
		}
		if runs[i].at <= runs[child].at {
			return
		}
		runs[i], runs[child] = runs[child], runs[i]
	}
}

func atEnd(i, n int) int {
	if i == n-1 {
		return 1
	}
	return 0
}
