package plots

import (
	"cmp"
	"fmt"
	"slices"

	"matladder/stats"

	"matladder/model"
	"matladder/results"
)

// A StepModel tells what one grid step of a point takes on its device. Its error
// says what is not known.
type StepModel interface {
	Step(s *stats.Summary) (model.Time, error)
}

// waterfallPictures shows one grid step of each kernel, with its fastest blocks at
// the largest size that most have: what the step model says it is made of, and the
// measured time of a launch over its steps.
func waterfallPictures(q Request, d data) ([]Picture, error) {
	best := slices.DeleteFunc(stats.Best(d.asked), func(s stats.Summary) bool {
		return s.Kernel == results.Baseline || !usable(&s) || s.GridSteps < 1
	})
	if len(best) == 0 {
		return nil, fmt.Errorf("no row of %s has a time and grid_steps: a waterfall needs both", q.Dtype)
	}
	size := commonSizeOfKernels(best)
	var shown []*stats.Summary
	var curves []*curve
	again := false // a kernel is shown more than once
	for _, c := range curvesOf(best, false) {
		if s := c.at[size]; s != nil {
			again = again || len(shown) > 0 && shown[len(shown)-1].Kernel == s.Kernel
			shown, curves = append(shown, s), append(curves, c)
		}
	}
	names := labels(curves, true)
	w := &Steps{Heading: headingOf(q, "One grid step at size "+size, shown, true, "")}
	modelled := false
	for i, s := range shown {
		bars := StepBars{Label: s.Kernel, Kernel: s.Kernel, Predicted: s.Mode == results.Predicted,
			Total: s.Time.Median / float64(s.GridSteps), Steps: s.GridSteps}
		if again {
			bars.Label = names[i]
		}
		if blocks := choiceOf(s); blocks.volume() > 0 {
			bars.Blocks = blocks.name()
		}
		t, err := stepOf(q.Model, s)
		if err == nil {
			bars.Total = s.Time.Median / float64(max(t.Steps, 1))
			bars.parts(t)
			modelled = true
		} else {
			bars.limits(s)
		}
		bars.bounded()
		w.Kernels = append(w.Kernels, bars)
	}
	w.Subtitle[1] = "each kernel on a scale of its own · the last bar: time of a launch over its steps"
	if modelled {
		w.Subtitle = append(w.Subtitle, "dashed: the step model; copying and computing overlap, so both start behind the overhead",
			"compute at peak: the products alone; a TPU's compiler may need longer, inspect --as schedule says how long")
	} else {
		w.Subtitle = append(w.Subtitle, "dashed: what copying at the full bandwidth and computing at the peak would take; the overhead of a step is not known of this device")
	}
	return []Picture{w}, nil
}

func stepOf(m StepModel, s *stats.Summary) (model.Time, error) {
	if m == nil {
		return model.Time{}, fmt.Errorf("no step model")
	}
	return m.Step(s)
}

// commonSizeOfKernels returns the largest size that most kernels have.
func commonSizeOfKernels(summaries []stats.Summary) string {
	kernels, work := map[string]map[string]bool{}, map[string]float64{}
	for _, s := range summaries {
		if kernels[s.Size()] == nil {
			kernels[s.Size()] = map[string]bool{}
		}
		kernels[s.Size()][s.Kernel] = true
		work[s.Size()] = s.Work()
	}
	best := ""
	for size := range kernels {
		if best == "" || cmp.Or(cmp.Compare(len(kernels[size]), len(kernels[best])), cmp.Compare(work[size], work[best]), cmp.Compare(size, best)) > 0 {
			best = size
		}
	}
	return best
}

// computeAtPeak names what the products of a step take at the device's peak. A
// compiler's code takes longer where it issues more than products, most of all
// with small blocks; no row says how long.
const computeAtPeak = "compute at peak"

// parts are the bars of the step model: the overhead, behind it copying and
// computing side by side, then the part of the first and last blocks, which
// overlap with nothing.
func (b *StepBars) parts(t model.Time) {
	b.Parts = []StepPart{
		{"overhead", 0, t.Overhead},
		{"copy", t.Overhead, t.Transfer},
		{computeAtPeak, t.Overhead, t.Compute},
	}
	const worth = 0.002 // of the total: below it there is nothing to see
	if edges := t.Edges / float64(max(t.Steps, 1)); edges > worth*b.Total {
		b.Parts = append(b.Parts, StepPart{"first and last blocks", t.Step, edges})
	}
	b.Model = t.Seconds / float64(max(t.Steps, 1))
}

// bounded leaves out what no machine takes: a file may say that a peak is 5e-324.
func (b *StepBars) bounded() {
	b.Parts = slices.DeleteFunc(b.Parts, func(p StepPart) bool { return p.Length != 0 && !drawable(p.Length) || p.From != 0 && !drawable(p.From) })
	if !drawable(b.Model) {
		b.Model = 0
	}
}

// limits are the bars where the device has no step model: the roofs, each alone.
func (b *StepBars) limits(s *stats.Summary) {
	steps := float64(s.GridSteps)
	if s.Bandwidth > 0 && s.BytesMoved > 0 {
		b.Parts = append(b.Parts, StepPart{"copy", 0, float64(s.BytesMoved) / steps / s.Bandwidth})
	}
	if work := s.Work(); work > 0 && s.PeakFLOPs > 0 && s.Figure != results.PerBytes {
		b.Parts = append(b.Parts, StepPart{computeAtPeak, 0, work / steps / s.PeakFLOPs})
	}
}
