package counters

import "errors"

// ErrNoEvents is wrapped where a machine lets none of the events of its processors be counted.
var ErrNoEvents = errors.New("no events of processors can be counted here")

// Events are what processors count, by their performance counters, while this process and
// those that it starts afterwards run, the kernel of the system left out. Each has its own
// field of Reading.
//
// Another event has to be known in these places: its field of Reading and its Set
// (counters.go); Events, eventNames and of (this file); how the system is asked for it
// (events_linux.go); since, add and During of package measure, through which it comes into a
// row; a column in package results: Conditions, FORMAT.md; and in package stats: Events and
// what fills it in (events.go), TableColumns (table.go).
const Events = Cycles | Instructions | L2Misses | L3Misses | DTLBMisses

// eventNames are the events as people call them, in the order of Reading.
var eventNames = []struct {
	set  Set
	name string
}{
	{Cycles, "cycles"}, {Instructions, "instructions"}, {L2Misses, "L2 misses"}, {L3Misses, "L3 misses"}, {DTLBMisses, "data TLB misses"},
}

// of is where a reading has the event.
func (r *Reading) of(event Set) *int64 {
	switch event {
	case Cycles:
		return &r.Cycles
	case Instructions:
		return &r.Instructions
	case L2Misses:
		return &r.L2Misses
	case L3Misses:
		return &r.L3Misses
	}
	return &r.DTLBMisses
}
