package stats

import (
	"cmp"
	"fmt"
	"slices"

	"matladder/internal/each"
	"matladder/results"
	"matladder/stats/interval"
)

// An Estimate is an interval with what else is known of it. The zero Estimate is unknown.
type Estimate struct {
	interval.Interval

	// LowConfidence says that the machine was disturbed in so many of the rounds that the
	// estimate is not to be relied on.
	LowConfidence bool

	// Band says that it is a prediction: Lo and Hi are what it may be, as far as is known,
	// and no confidence.
	Band bool
}

// Known reports whether there is an estimate at all.
func (e Estimate) Known() bool { return e.N > 0 }

// widest is how many times its lower end the upper end of an interval may be, for what
// it holds to be compared with anything.
const widest = 2

// Holds reports whether a reader may rely on the estimate: the machine was quiet enough,
// and the interval does not span more than twofold.
func (e Estimate) Holds() bool {
	return e.Known() && !e.LowConfidence && (e.Band || e.Lo > 0 && e.Hi <= widest*e.Lo)
}

// estimate summarizes samples, which it leaves as they are.
func estimate(samples []float64) Estimate { return Estimate{Interval: interval.Of(samples)} }

// cells are the estimate, with so many digits behind the point, and its interval.
func (e Estimate) cells(digits int) (median, ends string) {
	ends = fmt.Sprintf("%.*f – %.*f", digits, e.Lo, digits, e.Hi)
	if !e.Sure() {
		ends += fmt.Sprintf(" (n=%d)", e.N)
	}
	return fmt.Sprintf("%.*f", digits, e.Median), ends
}

// scale returns the estimate of factor times what e estimates.
func (e Estimate) scale(factor float64) Estimate {
	e.Median, e.Lo, e.Hi = e.Median*factor, e.Lo*factor, e.Hi*factor
	return e
}

// under returns the estimate of work / x where e estimates x, which must have
// a positive median. Where e's interval reaches zero the result has no upper
// bound: Hi is then the median and Confidence 0.
func (e Estimate) under(work float64) Estimate {
	rate := e
	rate.Median, rate.Lo, rate.Hi = work/e.Median, work/e.Hi, work/e.Lo
	if e.Lo <= 0 {
		rate.Hi, rate.Confidence = rate.Median, 0
	}
	return rate
}

// fitLine fits y = slope·x + intercept by least squares. ok is false where x has
// fewer than two distinct values.
func fitLine(x, y []float64) (slope, intercept float64, ok bool) {
	var mx, my float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(y))
	}
	var sxx, sxy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	if len(x) < 2 || slices.Min(x) == slices.Max(x) {
		return 0, 0, false
	}
	slope = sxy / sxx
	return slope, my - slope*mx, true
}

// A roundID is one pass over a group. The run is part of it because a resumed file holds several.
type roundID struct {
	run   string
	round int
}

// A roundTime is the time of one launch of a point as one round saw it.
type roundTime struct {
	id      roundID
	seconds float64
}

// A timing is what the ok rows of one point say about the time of a launch.
type timing struct {
	samples  []float64   // seconds a launch: one a repetition, for loop one a round
	dispatch []float64   // seconds a run call costs beside the launches; loop only
	rounds   []roundTime // in order, for pairing with other points of the group
	runs     []runTimes  // samples by run, in the order in which they came
	warnings []string
	energy   energySums
	windows  []rep // of a point under load: all rows that count

	total         int            // rows that were timed
	left          int            // of total: disturbed, and not in the figures
	causes        map[Causes]int // of left
	all           *timing        // of all rows, if some are left out
	lowConfidence bool           // too few rows were quiet: the figures rest on those, or on disturbed ones
}

// runTimes are the samples of one execution.
type runTimes struct {
	run     string
	samples []float64
}

// A rep is what one ok row says about time.
type rep struct {
	round    roundID
	launches int
	seconds  float64

	shared *Symptoms // of the round
	waited float64   // share of the processors' time
	joules results.Optional[float64]
	watts  float64 // 0 if they are not known

	offset    float64 // in a window
	sustained bool    // behind the first two thirds of one
}

// symptoms are those of the row.
func (r rep) symptoms() Symptoms {
	c := *r.shared
	c.waited = r.waited
	return c
}

// timePoint computes the timing of one point from its ok rows.
//
// For loop, each round fits seconds = slope·launches + intercept over its launch counts: the
// slope is device time, the intercept dispatch. The other methods divide seconds by launches.
//
// Disturbed rows are left out; of a loop the whole round, which has one slope. A point is
// of low confidence if fewer than enoughQuiet are left. If none is, all count.
//
// Of a point under load each row is a sample, whatever the method, of those that are sustained.
func timePoint(of *results.Record, rows []rep, d *Disturbances) timing {
	method := of.Method
	var windows []rep
	if of.Duty > 0 {
		method = results.Direct
		windows, _ = sift(method, rows, d)
		if some := each.That(rows, func(r rep) bool { return r.sustained }); len(some) > 0 { // or launches last longer than windows
			rows = some
		}
	}
	quiet, t := sift(method, rows, d)
	t.windows = windows
	t.fit(method, quiet)
	if t.left > 0 {
		t.all = &timing{}
		t.all.fit(method, rows)
	}
	return t
}

// course estimates the time of a launch in a part of all windows.
func (s *Summary) course(from, to float64) Estimate {
	var times []float64
	for _, r := range s.timing.windows {
		if r.offset >= from && r.offset < to {
			times = append(times, r.seconds/float64(r.launches))
		}
	}
	return estimate(times)
}

// Course is the rate in each of n parts of a window, by the middle of the part in seconds.
func (s *Summary) Course(n int) (seconds []float64, rates []Estimate) {
	part := s.WindowSeconds / float64(n)
	for i := range n {
		if e := s.course(float64(i)*part, float64(i+1)*part); e.Known() {
			e = e.under(s.Work())
			e.LowConfidence = s.LowConfidence
			seconds, rates = append(seconds, (float64(i)+0.5)*part), append(rates, e)
		}
	}
	return seconds, rates
}

// whole is the timing of all rows, disturbed ones included.
func (t *timing) whole() *timing {
	return cmp.Or(t.all, t)
}

// quiet is the timing of the rows that nothing disturbed, which may be none.
func (t *timing) quiet() *timing {
	if t.left > 0 && t.left == t.total {
		return &timing{}
	}
	return t
}

// fit computes what rows say.
func (t *timing) fit(method results.Method, rows []rep) {
	for _, r := range rows {
		t.energy.add(r)
	}
	flat, rounds := 0, 0 // flat: rounds of a loop with a single launch count
	for id, reps := range grouped(rows, func(r rep) roundID { return r.round }) {
		rounds++
		if method != results.Loop {
			times := each.Of(reps, func(r rep) float64 { return r.seconds / float64(r.launches) })
			t.add(id.run, times...)
			t.rounds = append(t.rounds, roundTime{id, estimate(times).Median})
			continue
		}
		launches := each.Of(reps, func(r rep) float64 { return float64(r.launches) })
		seconds := each.Of(reps, func(r rep) float64 { return r.seconds })
		slope, intercept, ok := fitLine(launches, seconds)
		if !ok {
			flat++
			continue
		}
		t.add(id.run, slope)
		t.dispatch = append(t.dispatch, intercept)
		t.rounds = append(t.rounds, roundTime{id, slope})
	}
	if flat > 0 {
		t.warnings = append(t.warnings, fmt.Sprintf("%d of %d rounds have one launch count, a slope needs two", flat, rounds))
	}
	slices.SortStableFunc(t.rounds, func(a, b roundTime) int {
		return cmp.Or(cmp.Compare(a.id.run, b.id.run), cmp.Compare(a.id.round, b.id.round))
	})
}

// add counts samples of a run in.
func (t *timing) add(run string, samples ...float64) {
	t.samples = append(t.samples, samples...)
	if n := len(t.runs); n == 0 || t.runs[n-1].run != run {
		t.runs = append(t.runs, runTimes{run: run})
	}
	last := &t.runs[len(t.runs)-1]
	last.samples = append(last.samples, samples...)
}

// pairedRatio estimates how many times longer other took than this, from the
// rounds both took part in: what slows a whole round down cancels.
func pairedRatio(this, other []roundTime) Estimate {
	seconds := map[roundID]float64{}
	for _, r := range other {
		seconds[r.id] = r.seconds
	}
	var ratios []float64
	for _, r := range this {
		if s := seconds[r.id]; s > 0 && r.seconds > 0 {
			ratios = append(ratios, s/r.seconds)
		}
	}
	return estimate(ratios)
}

// Against is the speed of s over that of other, paired by the rounds in which both took turns.
func (s *Summary) Against(other *Summary) Estimate {
	e := pairedRatio(s.timing.rounds, other.timing.rounds)
	e.LowConfidence = s.LowConfidence || other.LowConfidence
	return e
}

// enoughQuiet is how many quiet samples a figure needs.
const enoughQuiet = interval.Enough

// sift parts the quiet rows of a point from the disturbed ones.
func sift(method results.Method, rows []rep, d *Disturbances) (quiet []rep, t timing) {
	t.total, t.causes = len(rows), map[Causes]int{}
	causes := make([]Causes, len(rows))
	rounds := map[roundID]Causes{}
	for i, r := range rows {
		causes[i] = d.Of(r.symptoms())
		rounds[r.round] |= causes[i]
	}
	samples := 0
	seen := map[roundID]bool{}
	for i, r := range rows {
		if method == results.Loop {
			causes[i] = rounds[r.round]
		}
		if causes[i] != 0 {
			t.left++
			t.causes[causes[i]]++
			continue
		}
		quiet = append(quiet, r)
		if method != results.Loop || !seen[r.round] {
			samples++
		}
		seen[r.round] = true
	}
	t.lowConfidence = t.left > 0 && samples < enoughQuiet
	if len(quiet) == 0 {
		quiet = rows
	}
	return quiet, t
}
