package aot

import (
	"fmt"
	"strings"

	"matladder/backend/xla/aot/schedule"
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
		for range s.Conditional() {
			shares = append(shares, 1)
		}
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

// partsOf finds the kernels of a launch among the schedules, in order, and puts
// behind them what the compiler added: copies, for instance. A grid may be shared
// by some cores.
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
