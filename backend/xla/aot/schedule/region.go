package schedule

import (
	"fmt"
	"regexp"
	"slices"

	"matladder/internal/each"
)

// Region is what a branch forward may skip, its delay slots left out. Loop nests
// and conditions of the kernel, and the stages of the pipeline, are regions.
type Region struct {
	Span
	ID     string
	Parent int // index of the innermost region around it; -1 if there is none
}

var joinForm = regexp.MustCompile(`(?:empty |Start )region (\d+)\b`)

// join is the bundle to which the branch at bundle i jumps forward; -1 if it jumps back.
func (s *Schedule) join(i int, region string) int {
	for j := i + 1; j < s.Bundles; j++ {
		if s.bundles[j].tag != "PF" {
			continue
		}
		for _, m := range joinForm.FindAllStringSubmatch(s.bundles[j].text, -1) {
			if m[1] == region {
				return j
			}
		}
	}
	return -1
}

func (s *Schedule) readRegions() error {
	s.body = -1
	var open []int // regions around the bundle at hand
	for i, b := range s.bundles {
		m := branchForm.FindStringSubmatch(b.text)
		if m == nil || !s.inLoop(i) {
			continue
		}
		to := s.join(i, m[3])
		if to < 0 {
			continue // the branch back of a loop
		}
		for len(open) > 0 && s.Regions[open[len(open)-1]].To <= i {
			open = open[:len(open)-1]
		}
		r := Region{Span: Span{min(to, i+1+s.DelaySlots), to}, ID: m[3], Parent: -1}
		if len(open) > 0 {
			if r.Parent = open[len(open)-1]; s.Regions[r.Parent].To < to {
				return s.at(i, "region %s ends outside the region around it", r.ID)
			}
		}
		open = append(open, len(s.Regions))
		s.Regions = append(s.Regions, r)
	}
	return nil
}

// findBody looks for the region of the loop over the grid that computes a step:
// the one that uses the matrix unit most, then the longest. A copy between
// operands that both live in VMEM may be long too.
func (s *Schedule) findBody() {
	grid, ok := s.Grid()
	if !ok {
		return
	}
	best, length := -1, 0
	for i, r := range s.Regions {
		if r.Parent >= 0 || !grid.contains(r.Span) {
			continue
		}
		if busy := s.Busy(Matrix, r.Span); busy > best || busy == best && r.Len() > length {
			s.body, best, length = i, busy, r.Len()
		}
	}
}

// Body is the region that computes one grid step; it is false where the loop has
// no such region, or there is no loop.
func (s *Schedule) Body() (Region, bool) {
	if s.body < 0 {
		return Region{}, false
	}
	return s.Regions[s.body], true
}

// Conditional are the regions of the body that only some steps run: the conditions
// of the kernel, in the order of its text, those inside another one left out.
func (s *Schedule) Conditional() []Region {
	return each.That(s.Regions, func(r Region) bool { return s.body >= 0 && r.Parent == s.body })
}

// Steady is the number of bundles that one grid step takes on average once the
// pipeline is full. shares are the parts of all steps that run each Conditional
// region: 1/8 for the first of 8 steps of k. A condition that always or never holds
// may be no region. The error says where the program at hand and the schedule differ.
func (s *Schedule) Steady(shares ...float64) (float64, error) {
	return s.steady(s.Conditional(), shares)
}

// SteadyLoop is Steady of a kernel that writes its pipeline itself (emit_pipeline of
// Pallas): a step is the loop's body, and its conditions are the outermost regions there.
func (s *Schedule) SteadyLoop(shares ...float64) (float64, error) {
	grid, _ := s.Grid()
	return s.steady(each.That(s.Regions, func(r Region) bool { return r.Parent < 0 && grid.contains(r.Span) }), shares)
}

func (s *Schedule) steady(conditional []Region, shares []float64) (float64, error) {
	grid, ok := s.Grid()
	if !ok {
		return 0, fmt.Errorf("%s: no loop over a grid", s.Kernel)
	}
	if len(shares) > len(conditional) {
		shares = slices.DeleteFunc(slices.Clone(shares), func(x float64) bool { return x == 0 || x == 1 })
	}
	if len(shares) != len(conditional) {
		return 0, fmt.Errorf("%s: the schedule has %d conditional regions, not %d", s.Kernel, len(conditional), len(shares))
	}
	bundles := float64(grid.Len())
	for i, r := range conditional {
		bundles -= (1 - shares[i]) * float64(r.Len())
	}
	for _, l := range s.Loops { // inner loops are in it once
		if l.Depth > 1 && grid.contains(l.Span) {
			around := s.trips(l)
			if around == 0 {
				return 0, fmt.Errorf("%s: %w", s.Kernel, ErrTrips)
			}
			more := float64(around) * float64(l.Len()) * (1 - 1/float64(l.Trips))
			for i, r := range conditional {
				if r.contains(l.Span) {
					more *= shares[i]
				}
			}
			bundles += more
		}
	}
	return bundles, nil
}

// Once is the number of bundles of a kernel without a grid, which runs from its
// first bundle to its last. The error is for a loop whose trips only the chip knows.
func (s *Schedule) Once() (float64, error) {
	bundles := float64(s.Bundles)
	for _, l := range s.Loops {
		times := 1
		for _, o := range s.Loops {
			if o.contains(l.Span) {
				times *= o.Trips
			}
		}
		if times == 0 {
			return 0, fmt.Errorf("%s: %w", s.Kernel, ErrTrips)
		}
		bundles += float64(times) * float64(l.Len()) * (1 - 1/float64(l.Trips))
	}
	return bundles, nil
}

// trips is how often the bundles of an inner loop run in one step: its own trips
// times those of the loops around it, up to the loop over the grid.
func (s *Schedule) trips(l Loop) int {
	n := 1
	for _, o := range s.Loops {
		if o.Depth > 1 && o.contains(l.Span) {
			n *= o.Trips
		}
	}
	return n
}
