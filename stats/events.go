package stats

import (
	"fmt"

	"matladder/results"
)

// missBytes is what a miss moves: a line of a cache, on every processor that counts here.
const missBytes = 64

// Events are what processors counted of a launch, over all threads: the mean of all rows
// that have it. Disturbed rows count too, as what others do is not in it.
type Events struct {
	Cycles, Instructions, L2Misses, L3Misses, DTLBMisses results.Optional[float64]
}

// eventOf has the field of each column.
var eventOf = map[string]func(*Events) results.Optional[float64]{
	"cycles":       func(e *Events) results.Optional[float64] { return e.Cycles },
	"instructions": func(e *Events) results.Optional[float64] { return e.Instructions },
	"l2_misses":    func(e *Events) results.Optional[float64] { return e.L2Misses },
	"l3_misses":    func(e *Events) results.Optional[float64] { return e.L3Misses },
	"dtlb_misses":  func(e *Events) results.Optional[float64] { return e.DTLBMisses },
}

// L2Bytes is how many bytes missed L2.
func (e Events) L2Bytes() (bytes float64, known bool) {
	return e.L2Misses.Value * missBytes, e.L2Misses.Known
}

// L3Bytes is how many bytes missed all caches.
func (e Events) L3Bytes() (bytes float64, known bool) {
	return e.L3Misses.Value * missBytes, e.L3Misses.Known
}

// eventSums adds up rows: of each event its number and the launches that it is of.
type eventSums [5]struct{ number, launches float64 }

func (s *eventSums) add(r *results.Record) {
	for i, n := range [...]results.Optional[int64]{r.Cycles, r.Instructions, r.L2Misses, r.L3Misses, r.DTLBMisses} {
		if n.Known && r.Launches > 0 {
			s[i].number += float64(n.Value)
			s[i].launches += float64(r.Launches)
		}
	}
}

func (s *eventSums) events() Events {
	mean := func(i int) (m results.Optional[float64]) {
		if s[i].launches > 0 {
			m = results.Some(s[i].number / s[i].launches)
		}
		return m
	}
	return Events{mean(0), mean(1), mean(2), mean(3), mean(4)}
}

// eventColumn has the number of an event, by the name of its column.
func eventColumn(name string) ladderColumn {
	of := eventOf[name]
	return ladderColumn{name: name, cell: func(s *Summary) string {
		n := of(&s.Events)
		if !n.Known {
			return ""
		}
		return fmt.Sprintf("%.3g", n.Value)
	}}
}

// ipcCell is how many instructions there were in a cycle.
func (s *Summary) ipcCell() string {
	e := s.Events
	if !e.Cycles.Known || !e.Instructions.Known || e.Cycles.Value == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", e.Instructions.Value/e.Cycles.Value)
}
