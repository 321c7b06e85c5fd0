package exec

import (
	"context"
	"fmt"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/timeline"
)

// A launch may be recorded: what each worker did when. Workers note it themselves, each for
// itself; a launch that is not recorded looks at a nil pointer instead.

// recorder is what one worker notes.
type recorder struct {
	began time.Time // the launch
	track int
	spans []timeline.Span

	came, left time.Duration // when it began with the current phase, and had no more work in it
}

// now is the time since the launch began; 0 where it is not recorded.
func (w *Worker) now() time.Duration {
	if w.record == nil {
		return 0
	}
	return time.Since(w.record.began)
}

// note adds a span that ends now.
func (w *Worker) note(kind timeline.Kind, from time.Duration, what string) {
	if w.record != nil {
		w.record.add(kind, strings.TrimSpace(string(kind)+" "+what), from, nil)
	}
}

func (r *recorder) add(kind timeline.Kind, name string, from time.Duration, args []timeline.Arg) {
	r.spans = append(r.spans, timeline.Span{Track: r.track, Name: name, Kind: kind, Start: from, End: time.Since(r.began), Args: args})
}

// Names of what a step has beside its times: they add up to the launch's counters.
const (
	ArgLoads       = "blocks loaded"
	ArgBytesLoaded = "bytes loaded"
	ArgBytesStored = "bytes stored"
)

// noteStep adds the current program of the grid, which began with these counters.
func (w *Worker) noteStep(from time.Duration, before backend.Counters) {
	if w.record == nil {
		return
	}
	c := w.Counters
	args := []timeline.Arg{
		{Name: ArgLoads, Value: c.BlocksLoaded - before.BlocksLoaded},
		{Name: ArgBytesLoaded, Value: c.BytesLoaded - before.BytesLoaded},
		{Name: ArgBytesStored, Value: c.BytesStored - before.BytesStored},
	}
	for i, a := range w.Plan.Program.Grid {
		args = append(args, timeline.Arg{Name: a.Name, Value: int64(w.IDs[i])})
	}
	w.record.add(timeline.Step, w.String(), from, args)
}

// recorded runs one launch and returns what happened. Workers are awake when it begins, as
// they are in the launches that are timed.
func (e *Executable) recorded() (*timeline.Timeline, error) {
	e.dropTapes()
	e.Pool.StayAwake(true)
	defer e.Pool.StayAwake(false)
	if err := e.Pool.Run(func(int) {}); err != nil {
		return nil, err
	}
	began := time.Now()
	var list []*recorder
	for _, r := range e.Runs {
		for i, w := range r.Workers {
			if i == len(list) {
				list = append(list, &recorder{began: began, track: i})
			}
			w.record = list[i]
		}
	}
	defer func() {
		for _, r := range e.Runs {
			for _, w := range r.Workers {
				w.record = nil
			}
		}
	}()
	if err := e.launch(); err != nil {
		return nil, err
	}
	t := &timeline.Timeline{Title: e.Plans[0].Program.Name, Source: "measured"}
	for i, r := range list {
		t.Tracks = append(t.Tracks, fmt.Sprintf("worker %d", i))
		t.Spans = append(t.Spans, r.spans...)
	}
	t.Sort()
	return t, nil
}

// come notes that the worker begins with the current phase, leave that it has no more work in it.
func (w *Worker) come() {
	if w.record != nil {
		w.record.came = w.now()
		w.record.left = w.record.came
	}
}

func (w *Worker) leave() {
	if w.record != nil {
		w.record.left = w.now()
	}
}

// waited notes that workers who had no more work in a phase waited until its end, and
// until it began for them.
func (r *Run) waited(began time.Duration) {
	if r.Workers[0].record == nil {
		return
	}
	end := r.Workers[0].now()
	for _, w := range r.Workers {
		x := w.record
		x.spans = append(x.spans,
			timeline.Span{Track: x.track, Name: "wait to begin", Kind: timeline.Wait, Start: began, End: x.came},
			timeline.Span{Track: x.track, Name: "wait for others", Kind: timeline.Wait, Start: x.left, End: end})
	}
}

// Trace runs one launch on the arrays that were loaded and returns what happened.
func (e *Executable) Trace(ctx context.Context) (*timeline.Timeline, error) {
	if _, err := e.Run(ctx, 1); err != nil { // caches are warm
		return nil, err
	}
	e.Pool.stopped.Store(false)
	t, err := e.recorded()
	if err != nil {
		return nil, fmt.Errorf("cpu: trace: %w", err)
	}
	return t, ctx.Err()
}

// CallTraced is Call with what happened.
func (c *callable) CallTraced(ctx context.Context, x *backend.Arguments) (t *timeline.Timeline, err error) {
	err = c.run(ctx, x, func(e *Executable) (err error) {
		t, err = e.recorded()
		return err
	})
	return t, err
}
