package aot

import (
	"context"
	"fmt"
	"time"

	"matladder/backend"
	"matladder/backend/timeline"
	"matladder/backend/xla/aot/schedule"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/tile"
)

// shownSteps bounds how many grid steps of a kernel a timeline has: all are alike.
const shownSteps = 8

// tracks are what a predicted timeline shows, and the slots that each is.
var tracks = []struct {
	name  string
	kind  timeline.Kind
	slots []schedule.Kind
}{
	{"grid", timeline.Step, nil},
	{"DMA", timeline.Move, nil},
	{"matrix unit", timeline.Multiply, []schedule.Kind{schedule.Matrix, schedule.Weights}},
	{"vector unit", timeline.Epilogue, []schedule.Kind{schedule.Vector, schedule.Cross, schedule.Function}},
	{"load, store", timeline.Load, []schedule.Kind{schedule.Load, schedule.Fill, schedule.Store, schedule.Spill}},
}

// The tracks of whole steps and of transfers.
const (
	trackGrid = 0
	trackDMA  = 1
)

// Timeline is the first grid steps of a kernel as the schedule and the step model predict
// them: what one step computes, bundle by bundle, beside the transfers of the step ahead.
func (e Explained) Timeline(title string) *timeline.Timeline {
	t := &timeline.Timeline{Title: title, Source: "predicted from the schedule"}
	t.Tracks = each.Upto(len(tracks), func(i int) string { return tracks[i].name })
	seconds := func(s float64) time.Duration { return time.Duration(s * 1e9) }
	shown := min(e.Time.Steps, shownSteps)
	if shown < e.Time.Steps {
		t.Title += fmt.Sprintf(", the first %d of %d steps", shown, e.Time.Steps)
	}
	begin := seconds(e.Time.Edges / 2)
	perStep := e.Work.Bytes / max(1, e.Work.Steps)
	t.Spans = append(t.Spans, timeline.Span{Track: trackDMA, Name: "first blocks in", Kind: timeline.Move, End: begin, Args: []timeline.Arg{{Name: "bytes", Value: perStep}}})
	in := schedule.Span{To: e.Schedule.Bundles}
	if body, ok := e.Schedule.Body(); ok {
		in = body.Span
	}
	for n := range shown {
		at := begin + seconds(float64(n)*e.Time.Step)
		end := begin + seconds(float64(n+1)*e.Time.Step)
		t.Spans = append(t.Spans, timeline.Span{Track: trackGrid, Name: fmt.Sprintf("step %d", n), Kind: timeline.Step, Start: at, End: end,
			Args: []timeline.Arg{{Name: "bundles", Value: int64(in.Len())}, {Name: "limit of one step is " + string(e.Time.Limit), Value: 1}}})
		if move := min(at+seconds(e.Time.Transfer), end); n+1 < e.Time.Steps && move > at {
			t.Spans = append(t.Spans, timeline.Span{Track: trackDMA, Name: "blocks of the next step, and of the last", Kind: timeline.Move, Start: at, End: move, Args: []timeline.Arg{{Name: "bytes", Value: perStep}}})
		}
		e.compute(t, in, at+seconds(e.Time.Overhead), min(at+seconds(e.Time.Overhead+e.Time.Compute), end))
	}
	if shown == e.Time.Steps {
		end := begin + seconds(float64(shown)*e.Time.Step)
		t.Spans = append(t.Spans, timeline.Span{Track: trackDMA, Name: "last block out", Kind: timeline.Move, Start: end, End: end + begin})
	}
	t.Sort()
	return t
}

// compute adds what units do along the bundles of a step that computes from … to.
func (e Explained) compute(t *timeline.Timeline, in schedule.Span, from, to time.Duration) {
	const parts = 200
	for track, unit := range tracks {
		if unit.slots == nil {
			continue
		}
		var along []float64
		for _, k := range unit.slots {
			for i, part := range e.Schedule.Along(k, in, parts) {
				if i == len(along) {
					along = append(along, 0)
				}
				along[i] = max(along[i], part)
			}
		}
		for i := 0; i < len(along); {
			if along[i] == 0 {
				i++
				continue
			}
			j, sum := i, 0.0
			for ; j < len(along) && along[j] > 0; j++ {
				sum += along[j]
			}
			at := func(n int) time.Duration { return from + (to-from)*time.Duration(n)/time.Duration(len(along)) }
			t.Spans = append(t.Spans, timeline.Span{Track: track, Name: unit.name, Kind: unit.kind, Start: at(i), End: at(j),
				Args: []timeline.Arg{{Name: "percent of slots in use", Value: int64(100*sum/float64(j-i) + 0.5)}}})
			i = j
		}
	}
}

// Explained is one kernel of a launch, predicted, with the schedule that the prediction rests on.
type Explained struct {
	Step
	Schedule *schedule.Schedule
}

// Explain is Steps with the schedules, for which it compiles whether or not the
// outcome is known. Errors are those of Steps.
func (b *Backend) Explain(ctx context.Context, programs []*tile.Program, params backend.Params) ([]Explained, error) {
	steps, schedules, err := b.steps(ctx, programs, params, true)
	if err != nil {
		return nil, err
	}
	all := make([]Explained, len(steps))
	for i, step := range steps {
		all[i].Step = step
		for _, s := range schedules {
			if s.Kernel == step.Kernel {
				all[i].Schedule = s
			}
		}
		if all[i].Schedule == nil {
			return nil, fmt.Errorf("the compiler tells no schedule of kernel %s", step.Kernel)
		}
	}
	return all, nil
}

// Peak is the peak that bounds products of a dtype on the device, and the dtype that
// it is the peak of: a chip without a figure of its own widens narrow operands.
func (b *Backend) Peak(dtype, precision string) (machine.Figure, string) {
	of := peakOf(b.device, dtype)
	return b.device.PacedPeak(of, precision), of
}
