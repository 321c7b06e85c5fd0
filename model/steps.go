package model

import (
	"fmt"
	"math"
	"slices"

	"matladder/machine"
	"matladder/tile"
)

// Limits of a grid step beside Memory and Compute.
const (
	Schedule Limit = "schedule"      // the bundles of a step, more than its FLOPs ask for
	Overhead Limit = "step overhead" // what a step costs before it does anything
)

// Work is what one launch of one program asks of the pipeline that brings blocks
// in, computes and takes blocks back. Cycles is for the caller to fill in.
type Work struct {
	Steps      int64 // of the whole grid
	Parallel   bool  // whether an axis is parallel: the cores of a device share the grid
	FLOPs      int64
	Bytes      int64     // moved, as Counts has them
	FirstBytes int64     // of them, those that the first step of a core waits for
	LastBytes  int64     // of them, those that are written after a core's last step
	Shares     []float64 // for each condition of the body in order, the part of all steps in which it holds
	// CoreSteps are those that the busiest core runs; 0 for an even share, or for all
	// of them where no axis is parallel.
	CoreSteps int64
	// Cycles of one core in a steady step, averaged over the grid, from the
	// compiler's schedule; 0 leaves the FLOPs to say how long a step takes.
	Cycles float64
}

// Resident is an input of a launch that is in fast memory before the first step. Its bytes are
// moved once: behind the launch before, so that no step waits for them, unless it is Waited for.
type Resident struct {
	Name   string
	Waited bool // the launch itself begins with the copy
	// Between says that it is in a memory between main and fast memory. Its blocks are still
	// moved; that this is as fast as main memory, and at the same time, is assumed.
	Between bool
}

// WorkOf counts a program's work, with some inputs resident. The error is ErrUncountable where
// only running the program would tell.
func WorkOf(p *tile.Program, resident ...Resident) (Work, error) {
	w := Work{Steps: p.Steps()}
	var between, first int64 // of Bytes and FirstBytes, what blocks from a memory between add up to
	for _, a := range p.Grid {
		w.Parallel = w.Parallel || a.Semantics == tile.Parallel && a.Size > 1
	}
	for _, r := range p.Refs {
		t, err := refTraffic(p, r)
		if err != nil {
			return w, err
		}
		if at := slices.IndexFunc(resident, func(n Resident) bool { return n.Name == r.Name }); at >= 0 && r.Kind == tile.In {
			w.Bytes += r.ArrayBytes()
			if resident[at].Waited {
				w.FirstBytes += r.ArrayBytes()
			}
			if resident[at].Between {
				between, first = between+t.bytes, first+blockBytes(r, &firstProgram{})
			}
			continue
		}
		w.Bytes += t.bytes
		switch r.Kind {
		case tile.In:
			w.FirstBytes += blockBytes(r, &firstProgram{})
		case tile.Out:
			w.LastBytes += blockBytes(r, &lastProgram{})
		case tile.Table:
			w.FirstBytes += t.bytes
		}
	}
	w.Bytes, w.FirstBytes = max(w.Bytes, between), max(w.FirstBytes, first)
	var d dots
	if d.body(p.Body, p.Grid, nil); d.err != nil {
		return w, fmt.Errorf("%s: %w", p.Name, d.err)
	}
	w.FLOPs = d.total
	for _, s := range p.Body {
		if s.Kind != tile.When {
			continue
		}
		share, err := shareOf(p.Grid, s.Cond)
		if err != nil {
			return w, fmt.Errorf("%s: %w", p.Name, err)
		}
		w.Shares = append(w.Shares, share)
	}
	return w, nil
}

// firstProgram and lastProgram are where a grid starts and ends.
type (
	firstProgram = tile.Point
	lastProgram  struct{ tile.Point }
)

func (*lastProgram) ProgramID(a *tile.Axis) int { return a.Size - 1 }

// blockBytes is the part inside the array of the block that a program sees.
func blockBytes(r *tile.Ref, env tile.Env) int64 {
	w := tile.NewWindow(r)
	w.Move(env)
	return w.Bytes()
}

// shareOf is the part of a grid in which a condition holds. Only the axes that it names are walked.
func shareOf(grid []*tile.Axis, c tile.Cond) (float64, error) {
	compared := tile.Compared(c)
	axes := slices.DeleteFunc(slices.Clone(grid), func(a *tile.Axis) bool { return !tile.DependsOn(compared, a) })
	if !countable(axes, compared...) {
		return 0, ErrUncountable
	}
	holds, all := 0, 0
	for program := range tile.Points(axes) {
		all++
		if tile.EvalCond(c, program) {
			holds++
		}
	}
	return float64(holds) / float64(all), nil
}

// ModelError is how far the step model has been off at most of figures that its fit was
// not told of, as part of the rate: docs/prediction.md, rounded up.
const ModelError = 0.05

// Time is what the step model says of one launch.
type Time struct {
	Seconds float64 // of the kernel; its launch adds machine.Device.LaunchSeconds, one from the host DispatchSeconds
	Step    float64 // of one steady step: overlap(Compute, Transfer) and Overhead
	Steps   int64   // that one core runs

	Compute  float64 // of a step: its bundles, or its FLOPs at the peak if that is longer
	Transfer float64 // of a step: the bytes that it moves on average
	Overhead float64 // of a step
	Edges    float64 // before the first step and after the last, nothing overlaps
	Limit    Limit   // the largest part of a step
}

// On predicts how long w takes on d, for operands of a dtype at a precision:
//
//	time = first blocks in + steps · (overlap(compute, transfer) + overhead) + last block out
//
// A step computes for as long as its bundles take, but never faster than the peak:
// bundles are issue slots, and the matrix unit cannot keep up with all of them. The
// error names the figure of the device that is missing.
func (w Work) On(d machine.Device, dtype, precision string) (Time, error) {
	peak := d.PacedPeak(dtype, precision)
	if !peak.Known() {
		return Time{}, fmt.Errorf("%s: no peak of %s is known", d.Key, dtype)
	}
	core, err := d.Pipeline()
	if err != nil {
		return Time{}, err
	}
	if w.Steps < 1 {
		return Time{}, fmt.Errorf("no grid steps to predict")
	}
	cores := 1.
	if w.Parallel {
		cores = float64(core.Cores)
	}
	steps := math.Ceil(float64(w.Steps) / cores)
	if w.CoreSteps > 0 {
		steps = float64(w.CoreSteps)
	}
	busy := float64(w.FLOPs) / float64(w.Steps) / (peak.Value / float64(core.Cores))
	bundles := w.Cycles / d.ClockHertz.Value
	t := Launch(core, steps, max(busy, bundles), float64(max(0, w.Bytes-w.FirstBytes-w.LastBytes))/float64(w.Steps), float64(w.FirstBytes+w.LastBytes))
	switch {
	case t.Overhead >= t.Compute && t.Overhead >= t.Transfer:
		t.Limit = Overhead
	case t.Transfer >= t.Compute:
		t.Limit = Memory
	case bundles > busy:
		t.Limit = Schedule
	default:
		t.Limit = Compute
	}
	return t, nil
}

// Launch is the step model of a launch, all but its Limit: so many steps of one core, each of
// which computes for some seconds and moves bytes, and bytes that move while nothing computes.
func Launch(core *machine.Pipeline, steps, compute, bytes, edges float64) Time {
	t := Time{Steps: int64(steps), Compute: compute, Transfer: bytes / core.Memory, Overhead: core.Step, Edges: edges / core.Memory}
	t.Step = Overlap(t.Compute, t.Transfer, core.Overlap) + t.Overhead
	t.Seconds = steps*t.Step + t.Edges
	return t
}

// Overlap is how long two things take that go on at the same time and hinder each
// other a little: at least the longer, and most above it where they take equally
// long. A p of 1 is one after the other.
func Overlap(a, b, p float64) float64 {
	longer, shorter := max(a, b), min(a, b)
	if longer <= 0 {
		return 0
	}
	return longer * math.Pow(1+math.Pow(shorter/longer, p), 1/p)
}
