// Package timeline holds what happened when: the spans of a launch, worker by worker, or of
// a predicted one, unit by unit. Chrome writes one for Perfetto and Chrome's own viewer,
// SVG and PNG draw it.
package timeline

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
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

// Count is how many spans of a kind there are.
func (t *Timeline) Count(k Kind) int {
	return len(each.That(t.Spans, func(s Span) bool { return s.Kind == k }))
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

// event is one of the Trace Event Format, which Chrome's tracing viewer and Perfetto read:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
type event struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Micros   float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// Chrome writes timelines as one trace: each is a process, its tracks are threads.
func Chrome(w io.Writer, list ...*Timeline) error {
	out := bufio.NewWriter(w)
	first := true
	write := func(e event) error {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !first {
			out.WriteString(",\n")
		}
		first = false
		_, err = out.Write(text)
		return err
	}
	out.WriteString("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n")
	for i, t := range list {
		process := i + 1
		if err := write(event{Name: "process_name", Phase: "M", Process: process, Args: map[string]any{"name": t.Title + " (" + t.Source + ")"}}); err != nil {
			return err
		}
		for n, name := range t.Tracks {
			for what, value := range map[string]any{"thread_name": map[string]any{"name": name}, "thread_sort_index": map[string]any{"sort_index": n}} {
				if err := write(event{Name: what, Phase: "M", Process: process, Thread: n + 1, Args: value.(map[string]any)}); err != nil {
					return err
				}
			}
		}
		for _, s := range t.Spans {
			if s.End < s.Start || s.Track < 0 || s.Track >= len(t.Tracks) {
				return fmt.Errorf("timeline: span %s of track %d, from %v to %v", s.Name, s.Track, s.Start, s.End)
			}
			e := event{Name: s.Name, Category: string(s.Kind), Phase: "X", Micros: float64(s.Start) / 1e3, Duration: new(float64(s.End-s.Start) / 1e3), Process: process, Thread: s.Track + 1}
			for _, a := range s.Args {
				if e.Args == nil {
					e.Args = map[string]any{}
				}
				e.Args[a.Name] = a.Value
			}
			if err := write(e); err != nil {
				return err
			}
		}
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

// Text writes for each timeline how much of its tracks' time each kind took.
func Text(w io.Writer, list ...*Timeline) error {
	for i, t := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		all := t.End() * time.Duration(max(1, len(t.Tracks)))
		fmt.Fprintf(w, "%s (%s): %v, %d tracks\n", t.Title, t.Source, t.End(), len(t.Tracks))
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, k := range Kinds {
			if n := t.Count(k); n > 0 {
				busy, note := t.Busy(k), ""
				if k == Step {
					note = "beside what is below"
				}
				fmt.Fprintf(table, "  %s\t%d spans\t%v\t%.1f %%\t%s\n", k, n, busy, 100*float64(busy)/float64(all), note)
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}
