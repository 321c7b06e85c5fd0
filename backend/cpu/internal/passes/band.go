package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// bandOf finds scratch of which steps in strips of rows need only a band of columns. It returns
// nil if there is none:
//
//	s = select(row ≥ column, dot(q, k), -inf)   beyond the diagonal one number
//	m = max(m, row_max(s))                      of which the largest element needs one
//	s = exp2(s - m)                             still one number in each row
//	acc = acc + dot(s, v)                       nothing where that is zero
func bandOf(p *plan.Plan, steps []*plan.Step) *plan.Band {
	for i, s := range steps {
		if s.Span == nil {
			continue
		}
		x := bander{plan: p, band: &plan.Band{Of: make([]bool, len(p.Refs)), Cols: p.Refs[s.Dst].Cols, Span: s.Span, Unit: 1}, steps: steps}
		for _, d := range s.Dots {
			x.band.Unit = plan.LCM(x.band.Unit, p.Operands[d.B].Packing.Lanes)
		}
		if !x.joins(i) {
			continue
		}
		adds := make([][]int, len(steps))
		for j := i + 1; j < len(steps) && x.band != nil; j++ {
			adds[j] = x.meet(j)
		}
		if x.band == nil {
			continue
		}
		for j, s := range steps {
			s.Adds = adds[j]
		}
		return x.band
	}
	return nil
}

// bander makes a band of steps.
type bander struct {
	plan  *plan.Plan
	band  *plan.Band // nil once a step needs more than the band
	steps []*plan.Step
}

// reads reports whether e loads a ref of the band.
func (x *bander) reads(e *tile.Expr) bool {
	found := false
	tile.WalkExpr(e, func(e *tile.Expr) { found = found || e.Op == tile.OpLoad && x.band.Of[x.plan.Number(e.Ref)] })
	return found
}

// joins takes what step i stores to the band; false if it may not be of it.
func (x *bander) joins(i int) bool {
	s := x.steps[i]
	r := s.Stmt.Ref
	if x.band.Of[s.Dst] {
		return true
	}
	if s.Stmt.Kind != tile.Store || s.Stmt.IsPart() || tile.Loads(s.Stmt.Value, r) || !x.passing(r) {
		return false
	}
	if slices.ContainsFunc(x.steps[:i], func(before *plan.Step) bool { return before.Dst == s.Dst || tile.Loads(before.Stmt.Value, r) }) {
		return false
	}
	x.band.Of[s.Dst] = true
	return true
}

// passing reports whether float scratch r carries values between these steps alone. Another
// step may read r only after another step has stored it.
func (x *bander) passing(r *tile.Ref) bool {
	if r.Kind != tile.Scratch || r.Dtype != tile.Float32 && r.Dtype != tile.BFloat16 || len(r.Shape()) != 2 || slices.Contains(x.plan.Program.Copied(), r) {
		return false
	}
	for part, whole := range x.plan.Slots {
		if part == r || whole == r {
			return false
		}
	}
	ok := true
	var through func(list []*plan.Step, made bool) (still bool)
	through = func(list []*plan.Step, made bool) bool {
		for _, s := range list {
			switch {
			case s.Kind == plan.StepWhen:
				through(s.Body, false)
			case s.Kind == plan.StepRowLoop || s.Kind == plan.StepStrips:
				made = through(s.Body, made)
			case slices.Contains(x.steps, s):
				made = made && s.Stmt.Ref != r
			default:
				reads := tile.Loads(s.Stmt.Value, r) || s.Stmt.Kind == tile.Accumulate && s.Stmt.Ref == r
				ok = ok && (!reads || made)
				made = made || s.Stmt.Ref == r && !s.Stmt.IsPart()
			}
		}
		return made
	}
	through(x.plan.Steps, false)
	return ok
}

// meet returns the refs of the band whose elements step i adds up. It drops the band if the
// step needs every column.
func (x *bander) meet(i int) (adds []int) {
	s := x.steps[i]
	ok := true
	switch {
	case x.band.Of[s.Dst], len(s.Dots) == 0 && x.reads(s.Stmt.Value) && x.follows(s.Stmt.Value):
		ok = s.Stmt.Kind == tile.Store && !s.Stmt.IsPart() && len(s.Dots) == 0 && x.follows(s.Stmt.Value) && x.joins(i)
	default:
		var met func(e *tile.Expr) bool
		met = func(e *tile.Expr) bool {
			switch {
			case !x.reads(e):
				return true
			case e.Op == tile.OpLoad:
				return false
			case (e.Op == tile.OpReduceMax || e.Op == tile.OpReduceSum) && e.Args[0].Op == tile.OpLoad && plan.AlongRow(e):
				if e.Op == tile.OpReduceSum {
					adds = append(adds, x.plan.Number(e.Args[0].Ref))
				}
				return true
			case e.Op == tile.OpDot:
				d := s.DotOf(e)
				if d == nil || !x.multiplies(d) {
					return false
				}
				adds = append(adds, x.plan.Operands[d.A].Ref)
				return true
			}
			return !slices.ContainsFunc(e.Args, func(arg *tile.Expr) bool { return !met(arg) })
		}
		ok = met(s.Stmt.Value)
	}
	if !ok {
		x.band = nil
	}
	return adds
}

// multiplies reports whether product d may skip the columns of a that lie outside the band: it
// multiplies floats, contracts all that there is, and has panels.
func (x *bander) multiplies(d *plan.Dot) bool {
	a, b := x.plan.Operands[d.A], x.plan.Operands[d.B]
	r := &x.plan.Refs[b.Ref]
	if !x.band.Of[a.Ref] || x.band.Of[b.Ref] || d.K0 > 0 || d.K1 < a.K || d.Scales != nil || a.Columns {
		return false
	}
	if a.Keep != plan.KeepUnpacked && (a.Keep != plan.KeepPiece || a.Deep || a.StoredRows) || b.Keep == plan.KeepUnpacked || b.Keep == plan.KeepPiece {
		return false
	}
	x.band.Unit = plan.LCM(x.band.Unit, plan.LCM(a.Packing.Unit, b.Packing.Unit))
	return r.Kind == tile.In && !r.Main && (r.Dtype == tile.Float32 || r.Dtype == tile.BFloat16)
}

// follows reports whether e has one number along a row wherever the refs of the band do.
func (x *bander) follows(e *tile.Expr) bool {
	switch {
	case e.Op == tile.OpConst, e.Op == tile.OpLoad && x.band.Of[x.plan.Number(e.Ref)], plan.OneColumn(e) && !x.reads(e):
		return true
	case !e.Op.IsElementwise():
		return false
	}
	return !slices.ContainsFunc(e.Args, func(arg *tile.Expr) bool { return !x.follows(arg) })
}
