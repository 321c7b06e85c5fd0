package passes

import (
	"slices"

	"matladder/backend/cpu/internal/plan"
	"matladder/internal/each"
	"matladder/tile"
)

// schedule splits the axes of the grid, and lets steps of a program go through its rows
// in strips.
func schedule(p *plan.Plan) error {
	p.Steps = inStrips(p, p.Steps)
	t := &p.Tasks
	t.Workers = p.Machine.Workers
	var batch []int
	for i, a := range p.Program.Grid {
		switch {
		case p.Ordered || a.Semantics == tile.Arbitrary:
			t.Serial = append(t.Serial, i)
		case t.Grouped == nil && isBatch(p, a):
			batch = append(batch, i)
		case changesB(p, a):
			t.Inner = append(t.Inner, i)
		default:
			t.Outer = append(t.Outer, i)
		}
	}
	if p.ByColumns {
		t.Outer, t.Inner = t.Inner, t.Outer
	}
	t.Outer = append(batch, t.Outer...)
	t.Outers, t.Inners, t.Steps = points(p, t.Outer), points(p, t.Inner), points(p, t.Serial)
	if t.Group == 0 {
		t.Group = t.Inners
	}
	if tasks := int64(t.Outers) * int64(t.Group); tasks > plan.MaxTasks {
		return p.Unsupported(tile.Pos{}, "a grid of %d parallel programs: at most %d", tasks, int64(plan.MaxTasks))
	}
	t.Workers = max(1, min(t.Workers, t.Outers*t.Group))
	return nil
}

// needsProgramOrder reports whether scratch could carry values from one point
// of the parallel axes to another in the order of the program: an arbitrary
// axis is outside a parallel one.
func needsProgramOrder(p *plan.Plan) bool {
	if len(p.Program.RefsOf(tile.Scratch)) == 0 {
		return false
	}
	arbitrary := false
	for _, a := range p.Program.Grid {
		if a.Semantics == tile.Arbitrary {
			arbitrary = arbitrary || a.Size > 1
		} else if arbitrary && a.Size > 1 {
			return true
		}
	}
	return false
}

// isBatch reports whether the blocks of all arrays that are multiplied change along a.
func isBatch(p *plan.Plan, a *tile.Axis) bool {
	if a.Semantics != tile.Parallel {
		return false
	}
	some := false
	for _, o := range p.Operands {
		if r := &p.Refs[o.Ref]; r.Kind == tile.In {
			if some = true; !r.DependsOn(a) {
				return false
			}
		}
	}
	return some
}

// changesB reports whether the shared operand, or else any b, depends on a.
func changesB(p *plan.Plan, a *tile.Axis) bool {
	if g := p.Tasks.Grouped; g != nil {
		return p.Refs[g.Ref].DependsOn(a)
	}
	return slices.ContainsFunc(p.Operands, func(o *plan.Operand) bool { return o.IsB && p.Refs[o.Ref].DependsOn(a) })
}

func points(p *plan.Plan, axes []int) int {
	return int(tile.Elements(each.Of(axes, func(i int) int { return p.Program.Grid[i].Size })))
}
