package tile

import (
	"slices"
	"strings"

	"matladder/internal/each"
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

// unfilled says that early reads r although nothing filled it in the programs at the start of axes.
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

// outputWritten: while a block of an output is in sight, some program writes it.
func outputWritten(v *verifier) {
	for _, r := range v.program.RefsOf(Out) {
		writes := each.That(v.sites, func(s site) bool { return s.Ref == r })
		switch {
		case r.Main && v.copiedTo(r): // package interp checks what of it
		case len(writes) == 0:
			v.errorf(r.Pos, "%s: it is never written", describe(r))
		case v.surelyWritten(r, writes):
		default:
			v.countedWrites(r, writes)
		}
	}
}

// surelyWritten reports whether one of writes happens in every program, or in
// the first or last one of each visit, or leaves it to a table.
func (v *verifier) surelyWritten(r *Ref, writes []site) bool {
	grid := v.program.Grid
	first := len(grid)
	if plainMap(r.Index) {
		first = v.revisits(r)
	}
	last := func(a *Axis) interval {
		if a.Loop || !slices.Contains(grid[first:], a) {
			return everyID(a)
		}
		return point(a.Size - 1)
	}
	for _, s := range writes {
		for _, ids := range []ranges{everyID, v.program.startOf(first), last} {
			if decide(AllCond(s.conds), ids) >= tabled {
				return true
			}
		}
	}
	return false
}

// countedWrites follows the programs that the conditions around writes tell
// apart, and those that see different blocks.
func (v *verifier) countedWrites(r *Ref, writes []site) {
	if !TableFree(r.Index...) {
		return
	}
	var tests []IndexExpr
	all := slices.Clone(v.program.Grid)
	for _, s := range writes {
		tests = append(tests, Compared(s.conds...)...)
		for _, a := range s.loops {
			all = each.With(all, a)
		}
	}
	// With a plain map, blocks differ only as the axes do that the tests use.
	plain := plainMap(r.Index)
	axes := axesIn(all, tests...)
	if !plain {
		axes = axesIn(all, append(tests, r.Index...)...)
	}
	keys := 1
	for _, a := range axes {
		if plain && slices.Contains(r.Index, IndexExpr(a)) {
			keys *= min(a.Size, maxCombinations)
		}
	}
	if !plain {
		keys = int(min(Elements(r.Blocks()), maxCombinations+1))
	}
	if _, ok := combinations(axes, wholeAxis); !ok || keys > maxCombinations {
		v.errorf(writes[0].Pos, "%s: more than a million programs to check whether each block is written: write it at First or Last of an axis",
			describe(r))
		return
	}
	written := make([]bool, keys)
	enumerate(axes, wholeAxis, func(c *Point) bool {
		key := 0
		if !plain {
			key = r.blockNumber(c)
		} else {
			for i, a := range axes {
				if slices.Contains(r.Index, IndexExpr(a)) {
					key = key*a.Size + c.at[i]
				}
			}
		}
		for _, s := range writes {
			written[key] = written[key] || decide(AllCond(s.conds), c.ranges) >= tabled
		}
		return true
	})
	if i := slices.Index(written, false); i >= 0 {
		v.errorf(writes[0].Pos, "%s: under these conditions not every block of it is written", describe(r))
	}
}
