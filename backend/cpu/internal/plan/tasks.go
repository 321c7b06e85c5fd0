package plan

import "matladder/tile"

// Tasks is the grid as workers go through it. A task is one point of the
// parallel axes; the worker that takes it runs the arbitrary axes in order.
//
// Tasks are numbered so that those next to each other share a block of a: the axes that b does not
// depend on are outer, those that it does depend on inner. Along those that every operand depends
// on there is nothing to share: they are the outermost. By columns it is the other way round, and
// they share a block of b. Where the cache cannot hold all of b, groups of the inner coordinates
// are phases, one after another.
type Tasks struct {
	Outer, Inner, Serial []int // axes of the grid
	Outers, Inners       int   // points of outer and inner
	Steps                int   // points of serial
	Group                int   // points of inner in one phase
	Grouped              *Operand
	Workers              int
}

// MaxTasks is what a queue can count.
const MaxTasks = 1<<32 - 1

// Phases is how many there are.
func (t *Tasks) Phases() int { return tile.Ceil(t.Inners, t.Group) }

// Count is the number of tasks in a phase.
func (t *Tasks) Count(phase int) int {
	return t.Outers * (min(t.Inners, (phase+1)*t.Group) - phase*t.Group)
}

// Locate writes the program ids of a task's parallel axes into ids.
func (t *Tasks) Locate(grid []*tile.Axis, phase, task int, ids []int) {
	first := phase * t.Group
	width := min(t.Inners, first+t.Group) - first
	Decode(grid, t.Outer, task/width, ids)
	Decode(grid, t.Inner, first+task%width, ids)
}

// Decode writes the coordinates of point n of axes, the last one fastest.
func Decode(grid []*tile.Axis, axes []int, n int, ids []int) {
	for i := len(axes) - 1; i >= 0; i-- {
		size := grid[axes[i]].Size
		ids[axes[i]] = n % size
		n /= size
	}
}

// Spread is how many tasks workers are dealt at least and at most, over all phases.
func (t *Tasks) Spread() (least, most int) {
	for w := range t.Workers {
		n := 0
		for phase := range t.Phases() {
			from, to := Dealt(w, t.Workers, t.Count(phase))
			n += to - from
		}
		if most = max(most, n); w == 0 || n < least {
			least = n
		}
	}
	return least, most
}

// Dealt is the run of tasks that a worker starts with.
func Dealt(worker, workers, tasks int) (next, end int) {
	return worker * tasks / workers, (worker + 1) * tasks / workers
}
