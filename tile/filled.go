package tile

import "slices"

// fillState follows one ref through the body, in the programs that ids
// describes: is it filled (by Fill or Store) before it is read?
type fillState struct {
	ref   *Ref
	ids   ranges
	trust truth // a When counts as done from this truth on: always, or tabled to leave tables to the run
	early *Stmt // the first statement that reads ref before it is filled
}

// walk follows body and reports whether ref is filled at its end.
func (f *fillState) walk(body []*Stmt, filled bool) bool {
	for _, s := range body {
		switch s.Kind {
		case When:
			switch t := decide(s.Cond, f.ids); {
			case t == never:
				// not reached in these programs
			case t >= f.trust:
				filled = f.walk(s.Body, filled)
			default:
				f.walk(s.Body, filled)
			}
		case Loop:
			filled = f.loop(s, filled)
		case Fill, Store, Accumulate:
			if !filled && f.early == nil && s.reads(f.ref) {
				f.early = s
			}
			filled = filled || s.Ref == f.ref && s.Kind != Accumulate && f.whole(s)
		}
	}
	return filled
}

// whole reports whether s stores all rows.
func (f *fillState) whole(s *Stmt) bool {
	if !s.IsPart() {
		return true
	}
	from, to := bounds(s.From, f.ids), bounds(s.To, f.ids)
	tables := f.trust <= tabled
	return (from.known && from.hi <= 0 || !from.known && tables) && (to.known && to.lo >= s.Ref.Shape()[0] || !to.known && tables)
}

// loop follows the first repetition apart from the others, for what happens under Axis.First alone.
func (f *fillState) loop(s *Stmt, filled bool) bool {
	outer := f.ids
	defer func() { f.ids = outer }()
	f.ids = outer.but(s.Axis, point(0))
	filled = f.walk(s.Body, filled)
	if s.Axis.Size > 1 {
		f.ids = outer.but(s.Axis, interval{1, s.Axis.Size - 1, true})
		filled = f.walk(s.Body, filled)
	}
	return filled
}

// carried returns the number of leading grid axes over which r keeps nothing:
// its contents pass from program to program only along Grid[level:]. If no
// level will do, early is the statement that reads r before it is filled.
//
// The reasoning: if r is filled in every program in which the axes from level on are all at their
// start, then a step of any slower axis, which puts those at their start, refills it.
func (p *Program) carried(r *Ref, trust truth) (level int, early *Stmt) {
	for level = len(p.Grid); level >= 0; level-- {
		if level < len(p.Grid) && p.Grid[level].Size == 1 {
			continue
		}
		f := fillState{ref: r, trust: trust, ids: p.startOf(level)}
		end := f.walk(p.Body, false)
		if f.early == nil && (end || level == len(p.Grid)) {
			return level, nil
		}
		early = f.early
	}
	if early == nil {
		early = p.firstRead(r)
	}
	return -1, early
}

// startOf is the ranges of the programs in which the axes from level on are at their start.
func (p *Program) startOf(level int) ranges {
	return func(a *Axis) interval {
		if slices.Contains(p.Grid[level:], a) {
			return point(0)
		}
		return everyID(a)
	}
}

// firstRead returns the first statement that reads r, or nil.
func (p *Program) firstRead(r *Ref) *Stmt {
	var first *Stmt
	p.Walk(func(s *Stmt) {
		if first == nil && s.Value != nil && s.reads(r) {
			first = s
		}
	})
	return first
}

// reads reports whether a statement with a value reads r.
func (s *Stmt) reads(r *Ref) bool { return s.Kind == Accumulate && s.Ref == r || Loads(s.Value, r) }
