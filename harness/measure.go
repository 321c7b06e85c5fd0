package harness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"matladder/backend"
	"matladder/harness/measure"
	"matladder/internal/deadline"
	"matladder/machine"
	"matladder/results"
	"matladder/stats/interval"
	"matladder/tile"
)

// candidate is a point while its group is measured.
type candidate struct {
	Point
	programs []*tile.Program
	row      results.Record // what all its rows share
	bytes    int64
	resident bool // stays compiled and loaded from round to round

	exe     measure.Executable
	counts  measure.Counts // of a repetition that is not shortened
	past                   // in all executions
	retired bool           // has a row that ends it
	fresh   time.Duration  // fastest launch on inputs that a guest had not seen; 0 before there was one
}

// turn measures the repetitions of one round and returns their rows. A failure
// is a row too and retires the candidate; the error is for a cancelled execution.
func (g *group) turn(ctx context.Context, l *candidate, round int) ([]results.Record, error) {
	rows, err := g.repetitions(ctx, l, round)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		rows = append(rows, l.because(round, classify(err), err.Error()))
	}
	for i := range rows {
		l.retired = l.retired || rows[i].Status != results.OK
	}
	if l.retired || !l.resident {
		err = l.exe.Close()
	}
	if err != nil && rows[len(rows)-1].Status == results.OK {
		l.retired = true
		rows[len(rows)-1].Status, rows[len(rows)-1].Reason = results.Failed, "close: "+err.Error()
	}
	return rows, nil
}

// repetitions opens the candidate if need be, times it and verifies the output.
func (g *group) repetitions(ctx context.Context, l *candidate, round int) ([]results.Record, error) {
	if !l.exe.IsOpen() {
		if err := g.open(ctx, l); err != nil {
			return nil, err
		}
	}
	rows, err := g.window(ctx, l, round)
	if err != nil {
		return nil, err
	}
	for range g.sweep.Config.Repetitions {
		if l.Duty > 0 {
			break
		}
		for _, launches := range l.counts.Halved(g.halvings).All() {
			row, err := g.repetition(ctx, l, g.varied(l, launches))
			if err != nil {
				return nil, err // what came before is not verified
			}
			row.Round, row.Rep = round, len(rows)
			rows = append(rows, row)
		}
	}
	now := past{last: l.last, samples: slices.Clip(l.samples)}
	for i := range rows {
		now.add(&rows[i])
	}
	if s := interval.Of(g.quiet(now.samples)); s.Sure() && l.counts.Longer > 0 {
		// Each row has what starting the program takes in it, and the slope has not: it
		// may be what no machine reaches even where the rows are not. One slope is noisy.
		last := &rows[len(rows)-1]
		if reason := g.judge(ctx, last, l.Point, s.Hi); reason != "" {
			last.Status, last.Reason = results.Impossible, "the slope over launches: "+reason
		}
	}
	if err := g.single(ctx, l); err != nil {
		return nil, err
	}
	g.verify(ctx, l, rows)
	return rows, g.remembers(ctx, l, rows)
}

// windowRows is into how many repetitions a window of pure load is parted, about.
const windowRows = 100

// pause waits; tests have a clock of their own.
var pause = deadline.Sleep

// window lets the machine rest, if it is to. Then it launches a point with a duty for as long as
// its window is, with pauses between repetitions that have the device busy for that part of it.
func (g *group) window(ctx context.Context, l *candidate, round int) (rows []results.Record, err error) {
	c := g.sweep.Config
	if rest := c.rest(); rest > 0 {
		err = pause(ctx, rest)
	}
	if l.Duty == 0 || err != nil {
		return nil, err
	}
	g.collect()
	launches, begin := int(max(1, c.Window/windowRows/max(1, l.counts.Each))), g.now()
	for offset := time.Duration(0); offset < c.Window; offset = g.now().Sub(begin) {
		row, err := g.repetition(ctx, l, g.varied(l, launches))
		if err != nil {
			return nil, err
		}
		row.Round, row.Rep, row.OffsetSeconds = round, len(rows), results.Some(offset.Seconds())
		rows = append(rows, row)
		if idle := row.Seconds * float64(100-l.Duty) / float64(l.Duty); idle > 0 {
			if err := pause(ctx, time.Duration(idle*float64(time.Second))); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// repetition times launches and returns the row, not yet verified. Others had the machine since
// the last one: untimed launches wake threads up and bring into the caches what is there in a row
// of launches. Loops need none, their slope is free of it, and a window is load itself.
func (r *run) repetition(ctx context.Context, l *candidate, launches int) (results.Record, error) {
	row := l.row
	if err := l.exe.Poison(ctx); err != nil {
		return row, err
	}
	if l.Duty == 0 {
		r.collect()
	}
	if l.Duty == 0 && l.counts.Settling > 0 {
		if _, err := l.exe.Launch(ctx, l.counts.Settling+l.upTo(l.counts.Settling)); err != nil {
			return row, err
		}
	}
	cool, err := r.cooler(l)
	if err != nil {
		return row, err
	}
	m, doubt, err := r.measured(ctx, l, launches, cool)
	if err != nil {
		return row, err
	}
	row.Conditions, row.Launches, row.Status = m.Conditions, m.Launches, results.OK
	row.Method, row.Operands, row.Seconds = results.Method(m.Method), m.Operands, m.Elapsed.Seconds()
	if reason := r.judge(ctx, &row, l.Point, row.Seconds/float64(row.Launches)); cmp.Or(doubt, reason) != "" {
		row.Status, row.Reason = results.Impossible, cmp.Or(doubt, reason)
	}
	return row, nil
}

// verify checks the output that the last repetition left and writes the verdict
// into all rows of the round: inputs and program were the same.
func (r *run) verify(ctx context.Context, l *candidate, rows []results.Record) {
	res, err := l.exe.Check(ctx, backend.CheckSpec{InputSpec: r.inputs(l.Point), Fault: r.opt.Fault})
	if err != nil {
		for i := range rows { // never verified, so never ok
			if rows[i].Status == results.OK {
				rows[i].Status, rows[i].Reason = classify(err), fmt.Sprintf("check: %v", err)
			}
		}
		return
	}
	for i := range rows {
		row := &rows[i]
		row.ErrOverBound, row.RelErr = results.Finite(res.ErrOverBound), results.Finite(res.RelErr)
		if res.Quantized {
			row.QuantRelErr, row.QuantMaxErr = results.Finite(res.QuantRelErr), results.Finite(res.QuantMaxErr)
			row.QuantSNRdB = results.Finite(res.QuantSNRdB)
		}
		if !res.OK {
			row.Status, row.Reason = results.Wrong, res.Detail
		}
	}
}

// open compiles and loads the candidate, warms it up and finds how many launches make
// a repetition.
func (r *run) open(ctx context.Context, l *candidate) error {
	if err := r.compile(ctx, l); err != nil {
		return err
	}
	warmup := r.sweep.Config.Warmup
	if l.counts.Launches == 0 {
		if err := r.prove(ctx, l); err != nil {
			return err
		}
		if l.counts.Settling == 0 && l.counts.Longer == 0 && l.counts.Launches > 0 {
			warmup = 0 // launches that long have been warmed up
		}
	}
	if err := l.exe.Load(ctx, r.inputs(l.Point)); err != nil {
		return err
	}
	for range warmup {
		if _, err := l.exe.Launch(ctx, 1); err != nil {
			return err
		}
	}
	if l.counts.Launches == 0 {
		return r.calibrate(ctx, l)
	}
	return nil
}

func (r *run) compile(ctx context.Context, l *candidate) (err error) {
	start := r.now()
	l.exe, err = r.limits().Open(ctx, l.programs, r.references, func(ctx context.Context) (backend.Executable, error) {
		b, _ := l.on(&r.opt)
		return l.compile(ctx, b, l.Point, l.programs)
	})
	l.row.CompileSeconds = r.now().Sub(start).Seconds()
	return err
}

// limits are those of everything that a backend is asked.
func (r *run) limits() measure.Limits {
	return measure.Limits{Timeout: r.sweep.Config.Timeout, Within: limited}
}

// limited is deadline.WithTimeout; tests look in between.
var limited = deadline.WithTimeout

// calibrate finds how many launches make a repetition.
func (r *run) calibrate(ctx context.Context, l *candidate) (err error) {
	l.counts, err = l.exe.Calibrate(ctx)
	r.settle(l)
	return err
}

// settle says, of launches of about the length that is known, how many make a repetition of
// cold ones, and how many go ahead untimed.
func (r *run) settle(l *candidate) {
	c, cold := &l.counts, r.sweep.Config.Cache == results.Cold
	if cold {
		c.Launches = min(c.Launches, mostColdLaunches)
	}
	switch {
	case c.Longer > 0 || c.Each > measure.LongestSettling:
	case cold:
		c.Settling = 1 // to wake threads up is all that it is for
	default:
		c.Settling = c.Launches
	}
}

// figured is the device that has the figures of a point.
func (r *run) figured(p Point) machine.Device {
	if b, own := p.on(&r.opt); own {
		return b.Device()
	}
	return r.sweep.Device
}

// figures writes the peak and bandwidth that a point is held against.
func (r *run) figures(row *results.Record, p Point) {
	d := r.bounds.On(r.figured(p))
	peak := measure.PeakFor(d, p.Problem)
	row.PeakFLOPs, row.PeakSource = peak.Value, peak.Source
	row.Bandwidth, row.BandwidthSource = d.BandwidthBytesPerSecond.Value, d.BandwidthBytesPerSecond.Source
	if r.sweep.Predict { // devices of a mesh are as many as the device; those of a machine are parts of it
		row.PeakFLOPs *= float64(p.devices())
		row.Bandwidth *= float64(p.devices())
		row.PeakSource += disputed(peak)
		row.BandwidthSource += disputed(d.BandwidthBytesPerSecond)
	}
}

// disputed says which sources have figures that would change a prediction.
func disputed(f machine.Figure) string {
	const much = 0.05
	s := ""
	for _, o := range f.Others {
		if o.Known() && math.Abs(o.Value/f.Value-1) > much {
			s += fmt.Sprintf("; %.4g: %s", o.Value, o.Source)
		}
	}
	return s
}

// judge fills in the columns of peak and bandwidth. It returns why a launch of a point cannot
// have taken seconds, "" if it can.
func (r *run) judge(ctx context.Context, row *results.Record, p Point, seconds float64) string {
	if r.sweep.Predict {
		seconds *= float64(p.devices()) // as if one after the other did its part
	}
	reason := r.bounds.Impossible(ctx, r.figured(p), p.Problem, seconds)
	r.figures(row, p) // which may have been measured just now
	return reason
}
