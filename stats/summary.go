package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"matladder/results"
)

// A Summary is what the rows of one point in one file amount to.
type Summary struct {
	results.Record // the point's first row that was used; its Status and Reason are the summary's

	Rows   int       // rows behind the summary, disturbed ones included
	Latest time.Time // start of the last run that has rows of the point

	Time     Estimate // seconds a launch on the device
	Dispatch Estimate // seconds a call beside its launches; loop only
	Rate     Estimate // Work / Time: FLOP/s, OP/s for integers, bytes/s where that is the figure
	Burst    Estimate // of a point under load: the same of the first tenth of its windows, after a rest; Time is of the last third

	PercentOfPeak     Estimate // of Roof: the dtype's peak on this device, or its bandwidth
	PercentOfBaseline Estimate // speed against Baseline in the same group, paired by round
	Below             string   // the rung below in the same group, "" if there is none
	OverBelow         Estimate // speed against Below at its best, paired by round

	Disturbed     int  // of Rows: those that the figures leave out, for the machine was disturbed
	LowConfidence bool // so many, or so few samples at all, that the figures are not to be relied on
	Partial       bool // the file says that its sweep has not ended

	Events Events // of a launch, where they were counted
	Energy Energy

	Warnings []string // for the reader of the figures, one line each

	timing  timing
	machine *Disturbances // what the controls of its runs were; nil of a summary without times
	id      pointID
}

// A groupID is a group within one file: figures of different files were taken
// under different conditions and are not paired.
type groupID struct {
	file string
	results.GroupKey
}

type pointID struct {
	file string
	results.PointKey
}

// Summarize returns one summary per point and file, in the order in which
// points first appear. The rung below is found by CompareKernels.
//
// Only ok rows count, and they count only if no row of the point is wrong or
// impossible: such a row condemns the point, its earlier rows included. A
// point without usable rows keeps the status and reason of its last row.
func Summarize(rows []results.Record) []Summary {
	var z Summarizer
	for i := range rows {
		z.Add(&rows[i])
	}
	return z.Summaries()
}

// A Summarizer makes summaries of rows that are not kept: of each it holds on to
// little more than its time. The zero Summarizer is ready.
type Summarizer struct {
	order  []pointID
	points map[pointID]*tally

	partial      map[string]bool // files whose sweep has not ended
	disturbances Disturbances
	rounds       map[Symptoms]*Symptoms // each once
}

// A tally is what the rows of one point have said so far.
type tally struct {
	rows    int
	ok      *Summary // of the first ok row, with the worst errors of all; nil if there is none
	okRows  int
	reps    []rep
	verdict *results.Record // the last row that condemns the point
	last    *results.Record // the last row, if it is not ok
	latest  time.Time
	events  eventSums
}

// Add counts a row in, of which it keeps nothing that the caller may change.
func (z *Summarizer) Add(r *results.Record) {
	id := pointID{r.Pos.File, r.Point()}
	t := z.points[id]
	if t == nil {
		if z.points == nil {
			z.points = map[pointID]*tally{}
		}
		t = &tally{}
		z.points[id] = t
		z.order = append(z.order, id)
	}
	var shared *Symptoms
	if r.Status == results.OK {
		shared = z.symptoms(r)
	}
	t.add(r, shared)
}

// symptoms learns of a row's symptoms and returns those of its round.
func (z *Summarizer) symptoms(r *results.Record) *Symptoms {
	c := SymptomsOf(r).shared()
	if known := z.rounds[c]; known != nil {
		return known
	}
	if z.rounds == nil {
		z.rounds = map[Symptoms]*Symptoms{}
	}
	z.rounds[c] = &c
	z.disturbances.Add(c)
	return &c
}

func (t *tally) add(r *results.Record, shared *Symptoms) {
	t.rows++
	if r.StartedAt.After(t.latest) {
		t.latest = r.StartedAt
	}
	if r.Status != results.OK {
		row := *r
		t.last = &row
		if r.Condemns() {
			t.verdict = &row
		}
		return
	}
	t.last = nil
	if t.ok == nil {
		t.ok = &Summary{Record: *r}
	}
	t.okRows++
	t.events.add(r)
	t.ok.worstErrors(r)
	t.ok.raiseFigures(r)
	t.ok.EnergySource = cmp.Or(t.ok.EnergySource, r.EnergySource)
	t.reps = append(t.reps, rep{roundID{r.RunID, r.Round}, r.Launches, r.Seconds, shared, SymptomsOf(r).waited, r.Joules, r.DeviceWatts, r.OffsetSeconds.Value, r.Sustained()})
}

// Summaries returns the summaries of the rows so far, as Summarize does.
func (z *Summarizer) Summaries() []Summary {
	list := make([]Summary, len(z.order))
	groups := map[groupID][]*Summary{}
	for i, id := range z.order {
		list[i] = z.points[id].summary(id, &z.disturbances)
		list[i].Partial = z.partial[id.file]
		group := groupID{id.file, id.GroupKey}
		groups[group] = append(groups[group], &list[i])
	}
	for _, group := range groups {
		compareGroup(group)
	}
	return list
}

func (t *tally) summary(id pointID, d *Disturbances) Summary {
	switch {
	case t.verdict != nil:
		return Summary{Record: *t.verdict, Rows: t.rows, Latest: t.latest, id: id}
	case t.ok == nil:
		return Summary{Record: *t.last, Rows: t.rows, Latest: t.latest, id: id}
	}
	s := *t.ok
	s.Rows, s.Latest, s.id, s.machine = t.okRows, t.latest, id, d
	s.timing = timePoint(&s.Record, t.reps, d)
	s.Events, s.Energy = t.events.events(), s.timing.energy.energy(s.EnergySource)
	s.Warnings = append(s.Warnings, s.timing.warnings...)
	if t.last != nil {
		s.warn("ends in %s at round %d: %s", t.last.Status, t.last.Round, firstLine(t.last.Reason))
	}
	s.Time = estimate(s.timing.samples)
	if s.Mode == results.Predicted && s.Time.Known() && s.SecondsLow > 0 {
		s.Time.Lo, s.Time.Hi, s.Time.Band = min(s.SecondsLow, s.Time.Median), max(s.SecondsHigh, s.Time.Median), true
	}
	if why, not := strings.CutPrefix(s.Verified, "no: "); not {
		s.warn("predicted, and its output was not verified (%s)", why)
	} else if s.Verified != "" {
		s.warn("predicted; its output was verified on this machine (%s)", s.Verified)
	}
	s.Dispatch = estimate(s.timing.dispatch)
	s.Disturbed, s.LowConfidence = s.timing.left, s.timing.lowConfidence || s.Few()
	s.Time.LowConfidence, s.Dispatch.LowConfidence = s.LowConfidence, s.LowConfidence
	if s.Mode == results.Measured && s.Time.Known() && !s.Time.Sure() && !s.timing.lowConfidence { // of which the machine is to blame, and more is said
		s.warn("fewer than 6 samples: the interval is their range, below 95 %% confidence")
	}
	if s.Time.Known() && !(s.Time.Median > 0) { // or NaN, of times that overflow
		s.warn("the slope over launch counts is not positive: too few launches to tell time from noise")
		s.Time = Estimate{}
	}
	if !s.Time.Known() {
		return s
	}
	work := s.Work()
	if work == 0 {
		s.warn("neither sizes nor flops or bytes_min say what a launch does: no rate")
		return s
	}
	s.Rate = s.Time.under(work)
	if burst := s.course(0, s.WindowSeconds/10); s.RestSeconds > 0 && burst.Known() {
		s.Burst = burst.under(work)
		s.Burst.LowConfidence = s.LowConfidence
	}
	if s.Time.Lo <= 0 {
		s.warn("the interval of the time reaches 0: the rate has no upper bound")
	}
	if roof := s.Roof(); roof > 0 {
		s.PercentOfPeak = s.Rate.scale(100 / roof)
	}
	return s
}

// fewestSamples is how many it takes to see that they are not all alike, and one of them
// an exception.
const fewestSamples = 3

// Few reports whether the figures rest on so few samples that a quiet machine does not
// make them sure.
func (s *Summary) Few() bool {
	return s.Mode == results.Measured && s.Time.Known() && s.Time.N < fewestSamples
}

// raiseFigures makes peak and bandwidth the larger of the summary's own and r's from
// the same source: one that was measured is measured once more where a launch beats it.
func (s *Summary) raiseFigures(r *results.Record) {
	if r.PeakSource == s.PeakSource {
		s.PeakFLOPs = max(s.PeakFLOPs, r.PeakFLOPs)
	}
	if r.BandwidthSource == s.BandwidthSource {
		s.Bandwidth = max(s.Bandwidth, r.Bandwidth)
	}
}

// worstErrors makes the summary's errors the larger of its own and r's, and the
// signal-to-noise ratio the smaller.
func (s *Summary) worstErrors(r *results.Record) {
	s.ErrOverBound = larger(s.ErrOverBound, r.ErrOverBound)
	s.RelErr = larger(s.RelErr, r.RelErr)
	s.QuantRelErr = larger(s.QuantRelErr, r.QuantRelErr)
	s.QuantMaxErr = larger(s.QuantMaxErr, r.QuantMaxErr)
	if snr := r.QuantSNRdB; snr.Known && (!s.QuantSNRdB.Known || snr.Value < s.QuantSNRdB.Value) {
		s.QuantSNRdB = snr
	}
}

func larger(a, b results.Optional[float64]) results.Optional[float64] {
	if !a.Known || b.Known && b.Value > a.Value {
		return b
	}
	return a
}

func (s *Summary) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Warnings, text) {
		s.Warnings = append(s.Warnings, text)
	}
}

// usable reports whether the summary has a time to compare with.
func (s *Summary) usable() bool { return s.Status == results.OK && s.Time.Known() }

// took is the time of a launch, or why there is none.
func (s *Summary) took() string {
	switch {
	case s.usable():
		return FormatSeconds(s.Time.Median)
	case s.Status == results.OK:
		return "no time"
	}
	return string(s.Status)
}

// AddFile counts the rows of the file at path in and keeps none: a file of any
// length can be summarized. The File it returns has no rows, only what was wrong
// with others. The error is that of ctx once it is canceled.
func (z *Summarizer) AddFile(ctx context.Context, path string) (*results.File, error) {
	f, err := results.ReadRows(ctx, path, func(r *results.Record) error {
		z.Add(r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if results.Unfinished(path) {
		if z.partial == nil {
			z.partial = map[string]bool{}
		}
		z.partial[path] = true
	}
	return f, nil
}
