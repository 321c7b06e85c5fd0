package aot

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend/xla/aot/schedule"
	"matladder/internal/each"
	"matladder/lower/mosaic"
	"matladder/tile"
)

// part is what the step model needs of one kernel of a compiled program.
type part struct {
	Kernel string  // as the compiler names it
	Steps  int64   // of its loop over the grid that one core runs; 0 without a loop
	Times  int64   // that a launch runs it
	Cycles float64 // of a step, or of all of it
	Matrix int     // slots of the matrix unit in use
	In     int64   // granules that its inputs move in a step in which all move; -1 if unknown
	Out    int64   // granules that its outputs move, likewise
}

// writesOut is the kind of transfer of an output.
const writesOut = "vmem_to_hbm"

// partOf adds up a schedule. shares are those of model.Work; nil takes every
// condition to hold in every step, which is the most that a step can take.
func partOf(s *schedule.Schedule, looped bool, shares []float64) (part, error) {
	p := part{Kernel: s.Kernel, Times: int64(s.Times), In: granules(s, false), Out: granules(s, true), Matrix: s.Busy(schedule.Matrix, schedule.Span{To: s.Bundles})}
	var err error
	if !looped {
		p.Cycles, err = s.Once()
		return p, err
	}
	if shares == nil {
		shares = slices.Repeat([]float64{1}, len(s.Conditional()))
	}
	if p.Cycles, err = s.Steady(shares...); err != nil {
		return p, err
	}
	if p.Steps = int64(s.Steps()); p.Steps == 0 {
		return p, fmt.Errorf("%s: %w", s.Kernel, schedule.ErrTrips)
	}
	return p, nil
}

// granules adds up the transfers of inputs or of outputs; -1 if one is unknown.
func granules(s *schedule.Schedule, outputs bool) int64 {
	var sum int64
	for _, t := range s.Transfers {
		switch {
		case (t.Kind == writesOut) != outputs:
			continue
		case t.Granules == 0:
			return -1
		}
		sum += t.Granules
	}
	return sum
}

// looped reports whether a kernel of the compiler's own has a loop over a grid.
func looped(s *schedule.Schedule) bool {
	_, ok := s.Grid()
	return ok
}

// kernel is what the schedule of a program is read with.
type kernel struct {
	name       string
	steps      int64
	conditions []condition
	partial    bool // a last region copies an output that ends inside its blocks
}

// partsOf finds the kernels of a launch among the schedules, in order, and puts behind them what
// the compiler added: copies, for instance. A grid may be shared by some cores.
func partsOf(schedules []*schedule.Schedule, kernels []kernel, cores int) ([]part, error) {
	parts := make([]part, len(kernels))
	for _, s := range schedules {
		at := -1
		for j, k := range kernels {
			if rest, ok := strings.CutPrefix(s.Kernel, k.name); ok && strings.Trim(rest, ".0123456789") == "" {
				if at >= 0 || parts[j].Kernel != "" {
					return nil, fmt.Errorf("%s: more than one kernel of that name", k.name)
				}
				at = j
			}
		}
		var err error
		if at < 0 {
			var more part
			if more, err = partOf(s, looped(s), nil); err == nil {
				parts = append(parts, more)
			}
		} else {
			// Where two cores share a grid of two steps, neither has a loop.
			parts[at], err = partOf(s, kernels[at].steps > 1 && looped(s), kernels[at].shared(s))
		}
		if err != nil {
			return nil, err
		}
	}
	for j, k := range kernels {
		p := parts[j]
		if p.Kernel == "" {
			return nil, fmt.Errorf("the compiler tells no schedule of kernel %s", k.name)
		}
		if steps := max(1, p.Steps); steps > k.steps || steps*int64(cores) < k.steps {
			return nil, fmt.Errorf("%s: the schedule runs %d steps, the grid has %d", k.name, steps, k.steps)
		}
	}
	return parts, nil
}

// condition is one of a kernel's body: the part of all steps in which it holds, and how
// surely the compiler sees that it always or never does.
type condition struct {
	share float64
	seen  int // 0 without a doubt, or else from 1 on the less the greater
}

// conditions are those of the conditional regions of a kernel's body: the program's own
// (shares, of model.Work), and where a Dot contracts over the end of an array the plain
// and the masked copy that lower/mosaic writes of its statement.
func conditions(p *tile.Program, shares []float64) []condition {
	partials := p.PartialTiles()
	var all []condition
	for i, s := range p.Body {
		if s.Kind == tile.When && len(shares) > 0 {
			if !mosaic.Begins(p.Body, i) {
				all = append(all, condition{shares[0], seen(s.Cond)})
			}
			if i > 0 && mosaic.Ends(p.Body, i-1) {
				all = append(all, condition{1 - shares[0], seen(s.Cond)})
			}
			shares = shares[1:]
			continue
		}
		if s.Value == nil {
			continue
		}
		steps := 0 // of the axis along which a block ends inside its array in the last
		tile.WalkExpr(s.Value, func(e *tile.Expr) {
			if e.Op != tile.OpDot {
				return
			}
			for _, edge := range partials.Contraction(e) {
				if a, ok := edge.Ref.Index[edge.Ref.ArrayDim(edge.Dim)].(*tile.Axis); ok {
					steps = max(steps, a.Size)
				}
			}
		})
		if steps > 1 {
			all = append(all, condition{1 - 1/float64(steps), unseen}, condition{1 / float64(steps), unseen})
		}
	}
	return all
}

// unseen is what the compiler cannot know.
const unseen = 3

// seen says how surely the compiler sees what a condition is that does not change: surely
// where it names no axis, then where it compares axes of one step with numbers, then where
// it computes with these.
func seen(c tile.Cond) int {
	doubt := 0
	for _, x := range tile.Compared(c) {
		tile.WalkIndex(x, func(y tile.IndexExpr) {
			switch y := y.(type) {
			case *tile.Axis:
				switch {
				case y.Size > 1:
					doubt = unseen
				case x == tile.IndexExpr(y):
					doubt = max(doubt, 1)
				default:
					doubt = max(doubt, 2)
				}
			case tile.Lookup:
				doubt = unseen
			}
		})
	}
	if settled(c) {
		return 0
	}
	return doubt
}

// settled reports whether parts of c that name no axis decide it.
func settled(c tile.Cond) bool {
	fixed := func(c tile.Cond) (holds, known bool) {
		for _, x := range tile.Compared(c) {
			if _, ok := x.(tile.Const); !ok {
				return false, false
			}
		}
		return tile.EvalCond(c, nil), true
	}
	if _, known := fixed(c); known {
		return true
	}
	all, _ := c.(tile.AllCond)
	return slices.ContainsFunc(all, func(part tile.Cond) bool {
		holds, known := fixed(part)
		return known && !holds
	})
}

// partialTiles reports whether an output has blocks that end outside of it. Their
// copy is a region of its own behind the program's.
func partialTiles(p *tile.Program) bool {
	return slices.ContainsFunc(p.RefsOf(tile.Out), func(r *tile.Ref) bool {
		for dim := range r.Shape() {
			if r.Partial(dim) {
				return true
			}
		}
		return false
	})
}

// shared are the shares of a schedule's conditional regions. Conditions that always
// or never hold are no regions where the compiler sees it: where there are fewer regions
// than conditions, those that it sees most surely are left out.
func (k kernel) shared(s *schedule.Schedule) []float64 {
	regions := len(s.Conditional())
	left := slices.Clone(k.conditions)
	want := regions
	if k.partial && len(left) >= regions {
		want--
	}
	for len(left) > want {
		at := -1
		for i, c := range left {
			if (c.share == 0 || c.share == 1) && (at < 0 || c.seen < left[at].seen) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		left = slices.Delete(left, at, at+1)
	}
	shares := each.Of(left, func(c condition) float64 { return c.share })
	if k.partial && len(shares) == regions-1 {
		shares = append(shares, 1)
	}
	return shares
}
