package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/machine"
	"matladder/tile"
	"matladder/tile/groups"
)

// grouped sees a loop over scaled groups along k as one product; nil for another loop, and for scales
// that no packing can take in.
func grouped(p *plan.Plan, loop *tile.Stmt) *plan.Step {
	g := groups.Find(p.Program, loop)
	if g == nil {
		return nil
	}
	d := &plan.Dot{Expr: g.Dot(), Groups: &plan.Groups{Size: g.Size, B: plan.GroupScales{Ref: p.Number(g.B.Ref), At: g.B.At}}}
	if g.A.Ref != nil {
		d.Groups.A = plan.GroupScales{Ref: p.Number(g.A.Ref), At: g.A.At}
	}
	s := &plan.Step{Matched: plan.Matched{Stmt: g.Stmt, Kind: plan.StepCompute, Dst: p.Number(g.Stmt.Ref), Dots: []*plan.Dot{d}}}
	if !scalesFit(p, s, d) {
		return nil
	}
	if g.Column != nil {
		p.Refs[p.Number(g.Column)].Merged = true
	}
	return s
}

// significant is how many bits the magnitudes of a dtype's numbers have, beside a power of two.
var significant = map[tile.Dtype]int{tile.Float8E8M0FNU: 0, tile.Float4E2M1FN: 2, tile.Int4: 3, tile.Int8: 7, tile.Float8E4M3FN: 4, tile.Float8E5M2: 3, tile.BFloat16: 8, tile.Float32: 24}

const (
	// fewGroupRows is up to how many rows of a groups are better off one by one, each with its part of b
	// in place, but for what reads that by groups.
	fewGroupRows = 1
	// inPlaceGroupRows is up to how many rows that beats packing b for integers, which multiply faster.
	inPlaceGroupRows = 24
)

// scalesFit reports whether a micro-kernel multiplies by the scales of product d of step s, or numbers by
// theirs can be what is multiplied: exactly, or rounded to float32.
func scalesFit(p *plan.Plan, s *plan.Step, d *plan.Dot) bool {
	a, errA := sideOf(p, d.Expr, 0, d.Expr.Args[0])
	b, errB := sideOf(p, d.Expr, 1, d.Expr.Args[1])
	if errA != nil || errB != nil || slices.Contains(p.Machine.Layout.Packed, b.Name) {
		return false
	}
	fits := func(x side, by plan.GroupScales) bool {
		to := machine.Multiplied(x.factor)
		return by.At == nil || x.Dtype != to && (to == tile.Float32 || to == tile.BFloat16 && significant[x.Dtype]+significant[p.Refs[by.Ref].Dtype] <= significant[to])
	}
	rows := rowsMet(p, s, a.Matrix, b.Matrix, true)
	integers := groupsOf(p.Machine.Kernels, a.factor, b.factor, a.Dtype, b.Dtype, d.Groups.Size) != nil
	d.Groups.InPlace = fits(a, d.Groups.A) && (!integers || rows <= inPlaceGroupRows) && inPlace(p.Machine.Kernels, a, b, rows, true) != nil
	if rows <= fewGroupRows && !d.Groups.InPlace {
		return false
	}
	return integers || d.Groups.InPlace || fits(a, d.Groups.A) && fits(b, d.Groups.B)
}
