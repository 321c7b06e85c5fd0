// Package blocking ranks block shapes of a matmul by a model of the time that each takes.
// For cores with caches it rests on figures that the machine gives of itself (tile.Cores):
//
//	search (search.go) ─► shapes ─► model (cost.go), workers on a grid (grid.go) ─► the fastest first
//
// For cores that bring blocks into fast memory while they compute (tile.Pipeline) it is
// the step model of docs/prediction.md, with products at the peak (pipeline.go).
package blocking

import (
	"cmp"
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// Rank lists block shapes of p, those first that take the least time on m by the model;
// none where m does not say what its cores are.
func Rank(p problem.Matmul, m tile.Machine) []tile.Blocks {
	x, ok := newModel(p, m)
	if !ok {
		return nil
	}
	list := x.search()
	times := make(map[tile.Blocks]float64, len(list))
	for _, b := range list {
		times[b] = x.seconds(b)
	}
	slices.SortStableFunc(list, func(a, b tile.Blocks) int { return cmp.Compare(times[a], times[b]) })
	return list
}

// Candidates are the first few of Rank that differ from each other, for a race: the first
// may be wrong by some percent.
func Candidates(p problem.Matmul, m tile.Machine) []tile.Blocks {
	const most, within = 5, 1.25
	x, ok := newModel(p, m)
	if !ok {
		return nil
	}
	var list []tile.Blocks
	for _, b := range Rank(p, m) {
		if len(list) == most || len(list) > 0 && x.seconds(b) > within*x.seconds(list[0]) {
			break
		}
		if !slices.ContainsFunc(list, func(c tile.Blocks) bool { return near(b, c) }) {
			list = append(list, b)
		}
	}
	return list
}

// near reports whether no side of b is much longer or shorter than that of c.
func near(b, c tile.Blocks) bool {
	like := func(x, y int) bool { return 3*x > 2*y && 2*x < 3*y }
	return like(b.M, c.M) && like(b.K, c.K) && like(b.N, c.N)
}

// Seconds is the time of a launch of p with blocks s by the model; 0 where m does not say
// what its cores are.
func Seconds(p problem.Matmul, m tile.Machine, s tile.Blocks) float64 {
	if x, ok := newPipeline(p, 1, m); ok {
		return x.seconds(s)
	}
	x, ok := newModel(p, m)
	if !ok {
		return 0
	}
	return x.seconds(s)
}

// seconds is the time of a launch with blocks s.
func (x *model) seconds(s tile.Blocks) float64 {
	g := newGrid(x, s)
	return x.launch(g.batch*g.rows*g.cols) + g.makespan()
}

// launch is the time of a launch of so many programs beside what each takes: one worker
// needs nobody, two are measured, and from there to all it grows by as much for each.
func (x *model) launch(programs int) float64 {
	switch n := min(programs, x.workers); {
	case n < 2:
		return 0
	case x.workers == 2:
		return x.cores.Pair
	default:
		return x.cores.Pair + (x.cores.Launch-x.cores.Pair)*float64(n-2)/float64(x.workers-2)
	}
}
