package stats

import (
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/results"
	"matladder/stats/interval"
	"matladder/stats/twosample"
)

// A Series is what several files say of one point on one machine.
type Series struct {
	*Summary              // of the last run that has a time
	Runs     []*Summary   // one of each file, in the order in which they started
	Seconds  []float64    // by run: the time that is compared; 0 where it is left out
	Starts   []int        // of Runs: those with which a change came
	Changes  []Comparison // the oldest first, behind them a loss; one line, STEADY, if there is none
}

// A Change is which run of a series brought a comparison's difference: likeliest that of
// Comparison.New, with 99 % confidence one from First to Last.
type Change struct {
	First, Last *Summary
	Trend       Estimate // of the rate in trendRuns runs since the last change; on the line of that
	LeftOut     int      // runs of the series with too few quiet samples; on that line too
}

const (
	trendRuns = 10
	fewRuns   = 6  // below it no change can be found
	nearRuns  = 20 // whose mean is a level
)

// History finds what became of each point over the files of summaries. At most one in a hundred
// of the changes is expected to be none (twosample.Steps). band and best are those of Pair. Of
// copies of a file, which name one run, the longest counts.
func History(summaries []Summary, band float64, best bool) (list []Series) {
	if best {
		summaries = Best(summaries)
	}
	var figures [][]float64
	var measured []int
	points := byIdentity(summaries, match{anyBlocks: best})
	for _, id := range points.order {
		for _, p := range points.points[id] {
			s := newSeries(p.all)
			switch {
			case !p.measured():
				continue
			case s.Mode == results.Predicted:
				s.addPredictions(band)
			default:
				measured, figures = append(measured, len(list)), append(figures, s.figures())
			}
			list = append(list, s)
		}
	}
	trends := make([]twosample.Difference, len(list))
	for i, c := range twosample.Steps(figures, falseOfFiles) {
		list[measured[i]].addSteps(c.Steps)
		trends[measured[i]] = c.Trend
	}
	var all []Comparison
	for _, s := range list {
		all = append(all, s.Changes...)
	}
	shared := sharedOf(all)
	for i := range list {
		s := &list[i]
		for j := range s.Changes {
			if c := &s.Changes[j]; shared[j] {
				c.Verdict = Shared
			} else if c.Verdict == "" {
				c.Verdict = c.judge(math.Log1p(band), falseOfFiles)
			}
		}
		shared = shared[len(s.Changes):]
		s.end(trends[i])
	}
	return list
}

// A Line is a level of a series with its trend: the times of its first and last run.
type Line struct {
	Runs    [2]int // of Series.Runs
	Seconds [2]float64
}

// Lines are the levels between changes, straight lines through the logarithms of their times.
func (s *Series) Lines() (list []Line) {
	at := s.counted()
	for i := range len(s.Starts) + 1 {
		var x, y []float64
		for _, r := range at {
			if (i == 0 || r >= s.Starts[i-1]) && (i == len(s.Starts) || r < s.Starts[i]) {
				x, y = append(x, float64(r)), append(y, math.Log(s.Seconds[r]))
			}
		}
		if len(x) == 0 {
			x, y = []float64{float64(len(s.Runs) - 1)}, []float64{math.Log(s.Time.Median)}
		}
		slope, level, ok := fitLine(x, y)
		if !ok {
			level = y[0]
		}
		l := Line{Runs: [2]int{int(x[0]), int(x[len(x)-1])}}
		for k, r := range l.Runs {
			l.Seconds[k] = math.Exp(level + slope*float64(r))
		}
		list = append(list, l)
	}
	return list
}

// newSeries orders what files say of a point.
func newSeries(all []*Summary) (s Series) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *Summary) int { return a.StartedAt.Compare(b.StartedAt) })
	for _, r := range all {
		at := slices.IndexFunc(s.Runs, func(o *Summary) bool { return o.RunID == r.RunID && r.RunID != "" })
		switch {
		case at < 0:
			s.Runs = append(s.Runs, r)
		case s.Runs[at].Rows < r.Rows:
			s.Runs[at] = r
		}
	}
	for _, r := range s.Runs {
		if r.usable() {
			s.Summary = r
		}
	}
	s.Seconds = make([]float64, len(s.Runs))
	return s
}

// quietTimes are the samples of a run that counts in a series; nil of another.
func (s *Summary) quietTimes() []float64 {
	times := positiveOf(s.timing.quiet().samples)
	if !s.usable() || s.Disturbed > 0 && len(times) < enoughQuiet {
		return nil
	}
	return times
}

// figures are the logarithms of the times of the runs that count.
func (s *Series) figures() (x []float64) {
	for i, r := range s.Runs {
		if times := r.quietTimes(); len(times) > 0 {
			x = append(x, twosample.NewRun(times).Figure)
			s.Seconds[i] = math.Exp(x[len(x)-1])
		}
	}
	return x
}

// counted are the places in Runs of those that count.
func (s *Series) counted() (at []int) {
	for i, seconds := range s.Seconds {
		if seconds > 0 {
			at = append(at, i)
		}
	}
	return at
}

// change begins the line of a change between two runs.
func (s *Series) change(old, at, first, last int) Comparison {
	s.Starts = append(s.Starts, at)
	a, b := s.Runs[old], s.Runs[at]
	return Comparison{Old: a, New: b, Remarks: remarks(a, b), Change: &Change{First: s.Runs[first], Last: s.Runs[last]}}
}

// addSteps makes changes of steps, whose runs are numbered among those that count.
func (s *Series) addSteps(steps []twosample.Step) {
	at := s.counted()
	for i, step := range steps {
		from, to := 0, len(at)
		if i > 0 {
			from = steps[i-1].At
		}
		if i+1 < len(steps) {
			to = steps[i+1].At
		}
		c := s.change(at[step.At-1], at[step.At], at[step.First], at[step.Last])
		c.Runs, c.Quantile, c.FalseRate = [2]int{step.At - from, to - step.At}, twosample.FastEnd, step.FalseRate
		var works [2]fixedWork
		for k, near := range [][]int{at[max(from, step.At-nearRuns):step.At], at[step.At:min(to, step.At+nearRuns)]} {
			sum := 0.0
			for _, r := range near {
				works[k].add(s.Runs[r])
				sum += math.Log(s.Seconds[r])
			}
			*[]*float64{&c.OldSeconds, &c.NewSeconds}[k] = math.Exp(sum / float64(len(near)))
		}
		d := step.Difference
		arithmetic, said := compareWorks(works)
		if c.Remarks = append(c.Remarks, said...); arithmetic > 0 {
			d = d.Allow(arithmetic)
			c.FalseRate = math.Max(c.FalseRate, d.P)
		}
		c.estimate(d, true)
		c.Ratio.N = min(c.Runs[0], c.Runs[1])
		s.Changes = append(s.Changes, c)
	}
}

// addPredictions makes a change of each prediction that differs from the last level: those
// have no noise.
func (s *Series) addPredictions(band float64) {
	level := -1
	for i, r := range s.Runs {
		if !r.usable() {
			continue
		}
		s.Seconds[i] = r.Time.Median
		if level >= 0 {
			ratio := s.Seconds[level] / s.Seconds[i]
			verdict := judgeExactly(ratio, band)
			if verdict == Same {
				continue
			}
			c := s.change(level, i, i, i)
			c.OldSeconds, c.NewSeconds, c.Verdict = s.Seconds[level], s.Seconds[i], verdict
			c.Ratio = Estimate{Median: ratio, Lo: ratio, Hi: ratio, Confidence: 1, N: 1}
			s.Changes = append(s.Changes, c)
		}
		level = i
	}
}

// end adds what has become of the series in the end.
func (s *Series) end(trend twosample.Difference) {
	at := s.counted()
	if len(s.Changes) == 0 {
		c := Comparison{Old: s.Runs[0], New: s.Summary, Verdict: Steady, Runs: [2]int{len(at), 0}, Change: &Change{}}
		if len(at) < fewRuns && s.Mode != results.Predicted {
			c.Verdict = Unsure
		}
		near := at[max(0, len(at)-nearRuns):]
		if c.NewSeconds = s.Time.Median; len(near) > 0 {
			c.NewSeconds = math.Exp(each.Sum(near, func(i int) float64 { return math.Log(s.Seconds[i]) }) / float64(len(near)))
		}
		s.Changes = []Comparison{c}
	}
	last := s.Changes[len(s.Changes)-1].Change
	last.LeftOut = len(each.That(s.Runs, func(r *Summary) bool { return r.usable() })) - len(at)
	if trend.Hi > trend.Lo {
		of := func(log float64) float64 { return math.Exp(trendRuns * log) }
		last.Trend = Estimate{Median: of(trend.Log), Lo: of(trend.Lo), Hi: of(trend.Hi), Confidence: interval.Confidence, N: len(at)}
	}
	if newest := s.Runs[len(s.Runs)-1]; newest.Status != results.OK {
		s.Changes = append(s.Changes, Comparison{Old: s.Summary, New: newest, Verdict: Lost, Change: &Change{First: newest, Last: newest}})
	}
}
