package schedule

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
)

// Loop is a span of bundles that is run again and again, with the branch back and its delay slots.
type Loop struct {
	Span
	Depth int // 1 for an outermost loop
	Trips int // how often it runs; 0 if that is known only at run time
}

// ErrTrips is in the error for a schedule of which no count of cycles can be told.
var ErrTrips = errors.New("a loop runs for a time that only the chip knows")

// drain is by how much the loop over the grid runs longer than the grid: it is a
// pipeline of three stages (fetch, compute, write back).
const drain = 2

// maxDelay bounds the search for the end of the delay slots of a branch.
const maxDelay = 8

var (
	branchForm = regexp.MustCompile(`sbr\.rel \((!?)(%p\w+)\) target = \$region(\d+)`)
	tripsForm  = regexp.MustCompile(`scmp\.ge\.s32\.totalorder %\w+, (\d+) /\* loop exit test`)
	exitTest   = "loop exit test"
)

func (s *Schedule) readLoops() error {
	for i, b := range s.bundles {
		if b.tag != "LB" {
			continue
		}
		if b.depth < 1 {
			return s.at(i, "a loop body that is in no loop")
		}
		end := i
		for end < s.Bundles && (s.bundles[end].depth >= b.depth || s.unmarked(end, b.depth)) {
			s.bundles[end].depth = max(s.bundles[end].depth, b.depth)
			end++
		}
		// The branch back, or at least its delay slots, stand behind the last
		// bundle that is marked as the loop's.
		back := -1
		for j := min(end, s.Bundles-1); j > i && back < 0; j-- {
			if s.bundles[j].depth <= b.depth && s.branchesBack(j) {
				back = j
			}
		}
		for j := end; j < min(end+maxDelay, s.Bundles) && s.bundles[j].tag == "" && back < 0; j++ {
			if s.branchesBack(j) {
				back = j
			}
		}
		if back < 0 {
			return s.at(i, "a loop body without a branch back")
		}
		slots := s.slotsBehind(back)
		s.DelaySlots = max(s.DelaySlots, slots)
		l := Loop{Span: Span{i, back + slots + 1}, Depth: b.depth}
		tests := 0
		for j := i; j < l.To; j++ {
			text := s.bundles[j].text
			if s.bundles[j].depth > b.depth || !strings.Contains(text, exitTest) {
				continue
			}
			if tests++; tests > 1 {
				return s.at(j, "a second exit test in the loop that begins at bundle %#x", i)
			}
			if m := tripsForm.FindStringSubmatch(text); m != nil {
				trips, err := strconv.Atoi(m[1])
				if err != nil {
					return s.at(j, "a loop of %s trips", m[1])
				}
				l.Trips = trips
			}
		}
		s.Loops = append(s.Loops, l)
	}
	for i, b := range s.bundles {
		if b.depth > 0 && !s.inLoop(i) {
			if strings.HasPrefix(b.text, "}") { // empty, behind a loop and not of it
				s.bundles[i].depth = 0
				continue
			}
			return s.at(i, "a bundle at loop depth %d, but no loop body (LB) began", b.depth)
		}
		if b.depth > 0 {
			s.DelaySlots = max(s.DelaySlots, s.hoisted(i))
		}
	}
	return nil
}

// branchesBack reports whether bundle i has the branch back of a loop.
func (s *Schedule) branchesBack(i int) bool {
	m := branchForm.FindStringSubmatch(s.bundles[i].text)
	return m != nil && s.join(i, m[3]) < 0
}

// unmarked reports whether bundle i is of the loop around it although it is not marked: the
// next ones are, and no loop or join begins in between.
func (s *Schedule) unmarked(i, depth int) bool {
	for j := i; j < s.Bundles && j < i+maxDelay && s.bundles[j].tag == ""; j++ {
		if s.bundles[j].depth >= depth {
			return true
		}
	}
	return false
}

// slotsBehind is how many delay slots a branch back has: the regions of its loop
// end with the last of them. Where that was left out the slots in use are not
// told from what follows; only empty ones are counted then.
func (s *Schedule) slotsBehind(back int) int {
	ended, empty := 0, 0
	for j := back + 1; j < s.Bundles && j <= back+maxDelay; j++ {
		text := s.bundles[j].text
		if strings.Contains(text, "Start region") {
			break
		}
		if strings.Contains(text, "End region") {
			ended = j - back
		}
		if empty == j-back-1 && strings.HasPrefix(text, "}") {
			empty++
		}
	}
	if ended > 0 {
		return ended
	}
	return empty
}

// hoisted is the last delay slot of the branch in bundle i, if one is there, that
// holds what the branch skips: such an instruction has the opposite predicate.
func (s *Schedule) hoisted(i int) int {
	m := branchForm.FindStringSubmatch(s.bundles[i].text)
	if m == nil {
		return 0
	}
	opposite := "(!" + m[2] + ")"
	if m[1] == "!" {
		opposite = "(" + m[2] + ")"
	}
	last := 0
	for j := i + 1; j < s.Bundles && j <= i+maxDelay; j++ {
		if strings.Contains(s.bundles[j].text, opposite) {
			last = j - i
		}
	}
	return last
}

func (s *Schedule) inLoop(i int) bool {
	return slices.ContainsFunc(s.Loops, func(l Loop) bool { return l.contains(Span{i, i + 1}) })
}

// Unknown are the loops whose trips only the chip knows, in order.
func (s *Schedule) Unknown() []Loop {
	return each.That(s.Loops, func(l Loop) bool { return l.Trips == 0 })
}

// Assume returns the schedule with trips for its unknown loops, in order.
func (s *Schedule) Assume(trips []int) *Schedule {
	assumed := *s
	assumed.Loops = slices.Clone(s.Loops)
	for i := range assumed.Loops {
		if l := &assumed.Loops[i]; l.Trips == 0 && len(trips) > 0 {
			l.Trips, trips = trips[0], trips[1:]
		}
	}
	return &assumed
}

// Stores counts the instructions of a span that write a register of vectors to memory.
func (s *Schedule) Stores(in Span) int {
	return each.Sum(s.bundles[in.From:in.To], func(b bundle) int {
		return strings.Count(b.text, " = vst ") + strings.Count(b.text, "vst.msk [")
	})
}

// Grid is the loop over the grid: the longest of the outermost ones. It is false
// where there is none, as for a kernel without grid.
func (s *Schedule) Grid() (Loop, bool) {
	var grid Loop
	for _, l := range s.Loops {
		if l.Depth == 1 && l.Len() > grid.Len() {
			grid = l
		}
	}
	return grid, grid.Len() > 0
}

// Steps is the number of grid steps that one core runs; 0 if there is no loop over the grid or
// its trips are not constant. On a chip whose two cores share the grid it is half the grid.
func (s *Schedule) Steps() int {
	grid, _ := s.Grid()
	return max(0, grid.Trips-drain)
}
