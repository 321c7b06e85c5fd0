package plots

import (
	"errors"
	"fmt"
	"slices"

	"matladder/internal/words"
	"matladder/model"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// A StepModel tells what one grid step of a point takes on its device. Its error
// says what is not known.
type StepModel interface {
	Step(s *stats.Summary) (model.Time, error)
}

// waterfallPictures shows one grid step of each kernel, with its fastest blocks at
// the largest size that most have: what the step model says it is made of, and the
// measured time of a launch over its steps.
func waterfallPictures(q Request, d data) ([]figure.Picture, error) {
	best := slices.DeleteFunc(stats.Best(d.asked), func(s stats.Summary) bool {
		return s.Kernel == results.Baseline || !usable(&s) || s.GridSteps < 1
	})
	if len(best) == 0 {
		return nil, fmt.Errorf("no row of %s has a time and grid_steps: a waterfall needs both", q.Dtype)
	}
	size := commonSize(best, func(s *stats.Summary) string { return s.Kernel })
	curves := slices.DeleteFunc(curvesOf(best, false), func(c *curve) bool { return c.at[size] == nil })
	again := false // a kernel is shown more than once
	var shown []*stats.Summary
	for i, c := range curves {
		again = again || i > 0 && shown[i-1].Kernel == c.kernel
		shown = append(shown, c.at[size])
	}
	names := labels(curves, true)
	w := &figure.Breakdowns{Heading: headingOf(q, "One grid step at size "+size, shown, true, ""), Beside: true,
		Room: []string{"measured", "predicted", "step model"}}
	modelled := false
	for i, s := range shown {
		step := figure.Whole{Title: s.Kernel, Color: figure.TextColor(kernelColor(s.Kernel)), About: words.Count(s.GridSteps, "step")}
		if again {
			step.Title = names[i]
		}
		if blocks := choiceOf(s); blocks.volume() > 0 {
			step.About = blocks.name() + ", " + step.About
		}
		bar := func(name string, from, length float64, fill figure.Fill) {
			// A file may say that a peak is 5e-324: what no machine takes is left out.
			if (length == 0 || drawable(length)) && (from == 0 || drawable(from)) {
				step.Parts = append(step.Parts, figure.Part{Name: name, Words: stats.FormatSeconds(length),
					Spans: []figure.Span{{From: from, Length: length, Color: kernelColor(s.Kernel), Fill: fill}}})
			}
		}
		steps := s.GridSteps
		err := errors.New("no step model")
		var t model.Time
		if q.Model != nil {
			t, err = q.Model.Step(s)
		}
		if err == nil {
			modelled, steps = true, max(t.Steps, 1)
			modelParts(t, s.Time.Median/float64(steps), bar)
		} else {
			limits(s, bar)
		}
		if s.Mode == results.Predicted {
			bar("predicted", 0, s.Time.Median/float64(steps), figure.Hollow)
		} else {
			bar("measured", 0, s.Time.Median/float64(steps), figure.Solid)
		}
		w.Wholes = append(w.Wholes, step)
	}
	w.Subtitle = []string{"each kernel on a scale of its own · the last bar: time of a launch over its steps"}
	if modelled {
		w.Subtitle = append(w.Subtitle, "dashed: the step model; copying and computing overlap, so both start behind the overhead",
			"compute at peak: the products alone; a TPU's compiler may need longer, inspect --as schedule says how long")
	} else {
		w.Subtitle = append(w.Subtitle, "dashed: what copying at the full bandwidth and computing at the peak would take; the overhead of a step is not known of this device")
	}
	return []figure.Picture{w}, nil
}

// computeAtPeak names what the products of a step take at the device's peak. A
// compiler's code takes longer where it issues more than products, most of all
// with small blocks; no row says how long.
const computeAtPeak = "compute at peak"

// modelParts are the bars of the step model: the overhead, behind it copying and computing side
// by side, then the part of the first and last blocks, which overlap with nothing, and all of it.
func modelParts(t model.Time, total float64, bar func(name string, from, length float64, fill figure.Fill)) {
	bar("overhead", 0, t.Overhead, figure.Hollow)
	bar("copy", t.Overhead, t.Transfer, figure.Hollow)
	bar(computeAtPeak, t.Overhead, t.Compute, figure.Hollow)
	const worth = 0.002 // of the total: below it there is nothing to see
	if edges := t.Edges / float64(max(t.Steps, 1)); edges > worth*total {
		bar("first and last blocks", t.Step, edges, figure.Hollow)
	}
	if all := t.Seconds / float64(max(t.Steps, 1)); all > 0 {
		bar("step model", 0, all, figure.Hollow)
	}
}

// limits are the bars where the device has no step model: the roofs, each alone.
func limits(s *stats.Summary, bar func(name string, from, length float64, fill figure.Fill)) {
	steps := float64(s.GridSteps)
	if s.Bandwidth > 0 && s.BytesMoved > 0 {
		bar("copy", 0, float64(s.BytesMoved)/steps/s.Bandwidth, figure.Hollow)
	}
	if work := s.Work(); work > 0 && s.PeakFLOPs > 0 && s.Figure != results.PerBytes {
		bar(computeAtPeak, 0, work/steps/s.PeakFLOPs, figure.Hollow)
	}
}
