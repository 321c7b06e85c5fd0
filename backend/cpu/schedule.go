package cpu

import (
	"fmt"
	"slices"
	"strings"

	"matladder/tile"
)

// tasks is the grid as workers go through it. A task is one point of the
// parallel axes; the worker that takes it runs the arbitrary axes in order.
//
// Tasks are numbered so that those next to each other share a block of a: the
// axes that b does not depend on are outer, those that it does depend on inner. Along
// those that every operand depends on there is nothing to share: they are the outermost.
// By columns it is the other way round, and they share a block of b. Where the
// cache cannot hold all of b, groups of the inner coordinates are phases, one after
// another.
type tasks struct {
	outer, inner, serial []int // axes of the grid
	outers, inners       int   // points of outer and inner
	steps                int   // points of serial
	group                int   // points of inner in one phase
	grouped              *operand
	workers              int
}

// schedule splits the axes of the grid, and lets steps of a program go through its rows
// in strips.
func schedule(p *plan) error {
	p.steps = p.inStrips(p.steps)
	t := &p.tasks
	t.workers = p.machine.workers
	var batch []int
	for i, a := range p.program.Grid {
		switch {
		case p.ordered || a.Semantics == tile.Arbitrary:
			t.serial = append(t.serial, i)
		case t.grouped == nil && p.isBatch(a):
			batch = append(batch, i)
		case p.changesB(a):
			t.inner = append(t.inner, i)
		default:
			t.outer = append(t.outer, i)
		}
	}
	if p.byColumns {
		t.outer, t.inner = t.inner, t.outer
	}
	t.outer = append(batch, t.outer...)
	t.outers, t.inners, t.steps = p.points(t.outer), p.points(t.inner), p.points(t.serial)
	if t.group == 0 {
		t.group = t.inners
	}
	if tasks := int64(t.outers) * int64(t.group); tasks > maxTasks {
		return p.unsupported(tile.Pos{}, "a grid of %d parallel programs: at most %d", tasks, int64(maxTasks))
	}
	t.workers = max(1, min(t.workers, t.outers*t.group))
	return nil
}

// needsProgramOrder reports whether scratch could carry values from one point
// of the parallel axes to another in the order of the program: an arbitrary
// axis is outside a parallel one.
func (p *plan) needsProgramOrder() bool {
	if len(p.program.RefsOf(tile.Scratch)) == 0 {
		return false
	}
	arbitrary := false
	for _, a := range p.program.Grid {
		if a.Semantics == tile.Arbitrary {
			arbitrary = arbitrary || a.Size > 1
		} else if arbitrary && a.Size > 1 {
			return true
		}
	}
	return false
}

// isBatch reports whether the blocks of all arrays that are multiplied change along a.
func (p *plan) isBatch(a *tile.Axis) bool {
	if a.Semantics != tile.Parallel {
		return false
	}
	some := false
	for _, o := range p.operands {
		if r := &p.refs[o.ref]; r.Kind == tile.In {
			if some = true; !r.dependsOn(a) {
				return false
			}
		}
	}
	return some
}

// changesB reports whether the shared operand, or else any b, depends on a.
func (p *plan) changesB(a *tile.Axis) bool {
	if g := p.tasks.grouped; g != nil {
		return p.refs[g.ref].dependsOn(a)
	}
	for _, o := range p.operands {
		if o.isB && p.refs[o.ref].dependsOn(a) {
			return true
		}
	}
	return false
}

func (p *plan) points(axes []int) int {
	n := 1
	for _, i := range axes {
		n *= p.program.Grid[i].Size
	}
	return n
}

func (t *tasks) phases() int { return ceil(t.inners, t.group) }

// count is the number of tasks in a phase.
func (t *tasks) count(phase int) int {
	return t.outers * (min(t.inners, (phase+1)*t.group) - phase*t.group)
}

// locate writes the program ids of a task's parallel axes into ids.
func (t *tasks) locate(grid []*tile.Axis, phase, task int, ids []int) {
	first := phase * t.group
	width := min(t.inners, first+t.group) - first
	decode(grid, t.outer, task/width, ids)
	decode(grid, t.inner, first+task%width, ids)
}

// decode writes the coordinates of point n of axes, the last one fastest.
func decode(grid []*tile.Axis, axes []int, n int, ids []int) {
	for i := len(axes) - 1; i >= 0; i-- {
		size := grid[axes[i]].Size
		ids[axes[i]] = n % size
		n /= size
	}
}

// spread is how many tasks workers are dealt at least and at most, over all phases.
func (t *tasks) spread() (least, most int) {
	for w := range t.workers {
		n := 0
		for phase := range t.phases() {
			from, to := dealt(w, t.workers, t.count(phase))
			n += to - from
		}
		if most = max(most, n); w == 0 || n < least {
			least = n
		}
	}
	return least, most
}

func (p *plan) tellSchedule() []string {
	t, all := &p.tasks, p.tasks.outers*p.tasks.inners
	axes := func(list ...int) string {
		var names []string
		for _, i := range list {
			names = append(names, p.program.Grid[i].Name)
		}
		return strings.Join(names, ", ")
	}
	first := plural(all, "task")
	if p.byColumns {
		first += " by columns"
	}
	if list := slices.Concat(t.outer, t.inner); len(list) > 0 {
		first += fmt.Sprintf(", one for each (%s), the last fastest", axes(list...))
	}
	if n := t.phases(); n > 1 {
		first += fmt.Sprintf(", in %d phases", n)
	}
	switch {
	case p.machine.programOrder:
		first += ": one worker runs all in order, asked for"
	case p.ordered:
		first += ": one worker runs all in order, scratch may carry values from one point of a parallel axis to the next"
	}
	first += "; a task is " + plural(t.steps, "program")
	if len(t.serial) > 0 {
		first += fmt.Sprintf(" along (%s), in order", axes(t.serial...))
	}
	least, most := t.spread()
	deal := fmt.Sprint(least)
	if most != least {
		deal = fmt.Sprintf("%d or %d", least, most)
	}
	second := plural(t.workers, "worker")
	if idle := p.machine.workers - t.workers; idle > 0 {
		second += fmt.Sprintf(", %d idle", idle)
	}
	if t.workers > 1 {
		second += fmt.Sprintf(", each with %s of them to begin with; who is done takes from the others", deal)
	}
	return append([]string{first, second, fmt.Sprintf("threads are busy %.0f %% of the time, if tasks take equally long", 100*float64(all)/float64(p.machine.workers*most))}, p.tellStrips()...)
}
