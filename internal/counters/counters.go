// Package counters reads what the system tells about who has the processors, the figures
// that top, vmstat and dmesg show, and what the processors count themselves: cycles,
// instructions, misses of caches (Events).
//
// Most are sums since the system, the process or its control group began: the
// difference of two readings is what happened between them. What a system does not
// tell is not known, which is not zero.
package counters

import (
	"errors"
	"time"
)

// A Reading is the counters at one moment.
type Reading struct {
	// Waited is how long threads of this process, and of processes that it started, were ready to
	// run and had no processor, summed over threads, each between two readings for at most as
	// long as it ran: what waits and has hardly anything to do slows nothing down.
	Waited time.Duration
	// Others is how long processors worked for other processes than this one and those
	// that it started, summed over processors.
	Others time.Duration
	// Steal is how long the host of a virtual machine gave its processors to others
	// while they had work, summed over processors.
	Steal time.Duration
	// Throttled is how long a control group of this process stood still because its
	// quota of processor time was spent, summed over what the quota is counted for.
	Throttled time.Duration
	// Switches counts the times that a thread of this process had to give up a
	// processor though it had work.
	Switches int64
	// Thermal counts the times that the first processor was slowed down to cool.
	Thermal int64

	// Of Events, if they are counted (CountEvents): estimates where there are fewer counters
	// than events, which then take turns.
	Cycles, Instructions, L2Misses, L3Misses, DTLBMisses int64

	Joules float64 // that the packages of the processors took, since some moment
	span   int     // of readings whose Joules are since the same moment

	Load  float64 // runnable threads of the system, this process' too, the average of a minute
	Hertz float64 // clock of the processors at the moment, the mean of the first few, as the system knows it

	Known Set // which of the above the system told
}

// A Set is some of the counters.
type Set uint

const (
	Waited Set = 1 << iota
	Others
	Steal
	Throttled
	Switches
	Thermal
	Load
	Hertz
	Cycles
	Instructions
	L2Misses
	L3Misses
	DTLBMisses
	Energy
)

// JoulesBetween is the energy that packages took between two readings; false if it is not known.
func JoulesBetween(from, to Reading) (joules float64, known bool) {
	return to.Joules - from.Joules, (from.Known & to.Known).Has(Energy) && from.span == to.span
}

// MostWatts is more than a package of processors, or a device, takes.
const MostWatts = 10_000

// Has reports whether all of o are in s.
func (s Set) Has(o Set) bool { return s&o == o }

// ErrNoEvents is wrapped where a machine lets none of the events of its processors be counted.
var ErrNoEvents = errors.New("no events of processors can be counted here")

// Events are what processors count, by their performance counters, while this process and
// those that it starts afterwards run, the kernel of the system left out. Each has its own
// field of Reading.
//
// Another event has to be known in these places: its field of Reading, its Set, Events and
// eventNames, all in this file; how the system is asked for it (events_linux.go); since, add and During of package measure, through which it comes into a
// row; a column in package results: Conditions, FORMAT.md; and in package stats: eventColumns and
// what adds it up (machine.go), TableColumns (table.go).
const Events = Cycles | Instructions | L2Misses | L3Misses | DTLBMisses

// An eventName is an event as people call it, and where a reading has it.
type eventName struct {
	set  Set
	name string
	of   func(r *Reading) *int64
}

// eventNames are those of Events, in the order of Reading.
var eventNames = []eventName{
	{Cycles, "cycles", func(r *Reading) *int64 { return &r.Cycles }},
	{Instructions, "instructions", func(r *Reading) *int64 { return &r.Instructions }},
	{L2Misses, "L2 misses", func(r *Reading) *int64 { return &r.L2Misses }},
	{L3Misses, "L3 misses", func(r *Reading) *int64 { return &r.L3Misses }},
	{DTLBMisses, "data TLB misses", func(r *Reading) *int64 { return &r.DTLBMisses }},
}
