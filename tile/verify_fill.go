package tile

import (
	"slices"
	"strings"
)

// scratchFilled: scratch starts undefined in the first program of a worker, so
// it is filled before it is read, and keeps nothing over a parallel axis.
func scratchFilled(v *verifier) {
	for _, r := range v.program.RefsOf(Scratch) {
		if v.copiedTo(r) || r.Main { // flights follows these
			continue
		}
		level, early := v.program.carried(r, tabled)
		if level < 0 {
			v.unfilled(r, early, v.program.Grid)
			continue
		}
		for _, a := range v.program.Grid[level:] {
			if a.Semantics == Parallel && a.Size > 1 {
				v.errorf(r.Pos, "%s: it is kept from program to program along the parallel axis %s, whose programs run in any order: fill it anew in each, or let the axes it is kept over come last",
					describe(r), a.Name)
			}
		}
	}
}

// outputFilled: what an output block holds on its first visit is undefined, so
// it is filled before it is read.
func outputFilled(v *verifier) {
	for _, r := range v.program.RefsOf(Out) {
		if r.Main {
			continue
		}
		level, early := v.program.carried(r, tabled)
		switch {
		case level == len(v.program.Grid):
		case !TableFree(r.Index...):
			if early != nil {
				v.unfilled(r, early, v.program.Grid)
			}
		case plainMap(r.Index):
			if first := v.revisits(r); level < first {
				v.unfilled(r, v.program.readEarly(r, v.program.startOf(first)), v.program.Grid[first:])
			}
		default:
			v.countedFills(r)
		}
	}
}

// revisits returns where in the grid the axes begin that a plain index map does
// not use: over those, and no others, an output block stays.
func (v *verifier) revisits(r *Ref) int {
	for i, a := range slices.Backward(v.program.Grid) {
		if a.Size > 1 && slices.Contains(r.Index, IndexExpr(a)) {
			return i + 1
		}
	}
	return 0
}

// readEarly returns the statement that reads r before it is filled, in programs of these ids; nil
// if they fill it first.
func (p *Program) readEarly(r *Ref, ids ranges) *Stmt {
	f := fillState{ref: r, ids: ids, trust: tabled}
	if filled := f.walk(p.Body, false); filled || f.early != nil {
		return f.early
	}
	return p.firstRead(r)
}

// countedFills checks the first visit of each block. outputVisits has accepted
// the index map, so its blocks are visited one after another.
func (v *verifier) countedFills(r *Ref) {
	axes, limit := v.visitAxes(r)
	last := -1
	enumerate(axes, limit, func(c *Point) bool {
		block := r.blockNumber(c)
		if block == last {
			return true
		}
		last = block
		early := v.program.readEarly(r, func(a *Axis) interval {
			if !a.Loop && !slices.Contains(axes, a) {
				return point(0)
			}
			return c.ranges(a)
		})
		if early != nil {
			v.errorf(early.Pos, "%s: program %s is the first to see block [%s] and reads it before it is filled",
				describe(r), c, shapeString(r.blockAt(c)))
		}
		return early == nil
	})
}

// unfilled says that early reads r although nothing filled it in the programs at
// the start of axes.
func (v *verifier) unfilled(r *Ref, early *Stmt, axes []*Axis) {
	what := "read"
	if early.Kind == Accumulate && early.Ref == r {
		what = "accumulated"
	}
	var at []string
	for _, a := range axes {
		if a.Size > 1 {
			at = append(at, a.Name+" = 0")
		}
	}
	if len(at) == 0 {
		v.errorf(early.Pos, "%s: it is %s before it is filled", describe(r), what)
		return
	}
	v.errorf(early.Pos, "%s: it is %s before it is filled: nothing fills it where %s",
		describe(r), what, strings.Join(at, ", "))
}
