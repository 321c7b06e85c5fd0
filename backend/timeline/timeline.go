// Package timeline holds what happened when: the spans of a launch, worker by worker, or of
// a predicted one, unit by unit. Chrome writes one for Perfetto and Chrome's own viewer,
// SVG and PNG draw it.
package timeline

import (
	"cmp"
	"slices"
	"time"

	"matladder/internal/each"
)

// Timeline is the spans of one launch.
type Timeline struct {
	Title  string
	Source string   // what the times rest on: "measured", or what predicted them
	Tracks []string // what spans are of, in their order: workers, units
	Spans  []Span   // those of a track ordered by start, an outer one before those inside it
}

// Span is something that a track did. Spans of a track either do not overlap or lie one
// inside of the other.
type Span struct {
	Track      int
	Name       string
	Kind       Kind
	Start, End time.Duration // from the start of the launch
	Args       []Arg
}

// Kind is what a span is one of; it has a colour where timelines are drawn.
type Kind string

// The kinds.
const (
	Step     Kind = "step"     // a program of the grid; what it does is inside
	Pack     Kind = "pack"     // blocks are laid out for the micro-kernel
	Multiply Kind = "multiply" // micro-kernels; of a TPU the matrix unit
	Epilogue Kind = "epilogue" // other values; of a TPU the vector unit
	Wait     Kind = "wait"     // for other workers
	Move     Kind = "move"     // memory to memory: transfers
	Load     Kind = "load"     // registers are loaded and stored
)

// Kinds are in the order of legends.
var Kinds = []Kind{Step, Pack, Move, Multiply, Epilogue, Load, Wait}

// Arg is a number that a span has beside its times.
type Arg struct {
	Name  string
	Value int64
}

// End is when the last span ends.
func (t *Timeline) End() time.Duration {
	return each.Most(t.Spans, func(s Span) time.Duration { return s.End })
}

// Sort puts spans in order.
func (t *Timeline) Sort() {
	slices.SortStableFunc(t.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Track, b.Track), cmp.Compare(a.Start, b.Start), -cmp.Compare(a.End, b.End))
	})
}

// Total adds up the args of a name.
func (t *Timeline) Total(name string) int64 {
	n := int64(0)
	for _, s := range t.Spans {
		for _, a := range s.Args {
			if a.Name == name {
				n += a.Value
			}
		}
	}
	return n
}

// Count is how many spans of a kind there are.
func (t *Timeline) Count(k Kind) int {
	n := 0
	for _, s := range t.Spans {
		if s.Kind == k {
			n++
		}
	}
	return n
}

// Busy is the time that tracks spend in spans of a kind, without what other kinds inside of
// them take.
func (t *Timeline) Busy(k Kind) time.Duration {
	var sum time.Duration
	for i, s := range t.Spans {
		if s.Kind != k {
			continue
		}
		sum += s.End - s.Start
		end := s.Start
		for _, in := range t.Spans[i+1:] {
			if in.Track != s.Track || in.Start >= s.End {
				break
			}
			if in.Start >= end && in.Kind != k { // not inside of one that is taken off already
				sum -= in.End - in.Start
				end = in.End
			}
		}
	}
	return sum
}
