package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

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
