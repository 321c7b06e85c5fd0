package stats

import (
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/results"
	"matladder/stats/interval"
	"matladder/stats/twosample"

	"gonum.org/v1/gonum/stat"
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
	fewRuns   = 8 // below it no change can be found
)

// NearRuns is of how many runs next to a change, or up to now, a level is the mean.
const NearRuns = 20

// History finds what became of each point over the files of summaries. At most one in a hundred
// of the changes is expected to be none (twosample.Steps). band and best are those of Pair. Of
// copies of a file, which name one run, the longest counts. Predictions are left out.
func History(summaries []Summary, band float64, best bool) (list []Series) {
	if best {
		summaries = Best(summaries)
	}
	var figures [][]float64
	points := byIdentity(summaries, match{anyBlocks: best})
	for _, id := range points.order {
		for _, p := range points.points[id] {
			if p.measured() && p.Mode == results.Measured {
				s := newSeries(p.all)
				list, figures = append(list, s), append(figures, s.figures())
			}
		}
	}
	var all []Comparison
	courses := twosample.Steps(figures, falseOfFiles)
	for i := range list {
		list[i].addSteps(courses[i].Steps)
		all = append(all, list[i].Changes...)
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
		s.end(courses[i].Trend)
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

// figures are the logarithms of the times of the runs that count.
func (s *Series) figures() (x []float64) {
	for i, r := range s.Runs {
		times := positiveOf(r.timing.quiet().samples)
		if few := r.Disturbed > 0 && len(times) < enoughQuiet; r.usable() && len(times) > 0 && !few {
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

// level is the time of some runs, by the mean of their logarithms.
func (s *Series) level(runs []int) float64 {
	if len(runs) == 0 {
		return s.Time.Median
	}
	return stat.GeometricMean(each.Of(runs, func(i int) float64 { return s.Seconds[i] }), nil)
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
		old, new := s.Runs[at[step.At-1]], s.Runs[at[step.At]]
		s.Starts = append(s.Starts, at[step.At])
		c := Comparison{Old: old, New: new, Remarks: remarks(old, new), Runs: [2]int{step.At - from, to - step.At}, Quantile: twosample.FastEnd,
			FalseRate: step.FalseRate, Change: &Change{First: s.Runs[at[step.First]], Last: s.Runs[at[step.Last]]}}
		before, after := at[max(from, step.At-NearRuns):step.At], at[step.At:min(to, step.At+NearRuns)]
		c.OldSeconds, c.NewSeconds = s.level(before), s.level(after)
		var works [2]fixedWork
		for k, near := range [][]int{before, after} {
			for _, r := range near {
				works[k].add(s.Runs[r])
			}
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

// end adds what has become of the series in the end.
func (s *Series) end(trend twosample.Difference) {
	at := s.counted()
	if len(s.Changes) == 0 {
		c := Comparison{Old: s.Runs[0], New: s.Summary, NewSeconds: s.level(at[max(0, len(at)-NearRuns):]), Verdict: Steady, Runs: [2]int{len(at), 0}, Change: &Change{}}
		if len(at) < fewRuns {
			c.Verdict = Unsure
		}
		s.Changes = []Comparison{c}
	}
	last := s.Changes[len(s.Changes)-1].Change
	last.LeftOut = len(each.That(s.Runs, func(r *Summary) bool { return r.usable() })) - len(at)
	if trend.Hi > trend.Lo {
		of := func(log float64) float64 { return math.Exp(trendRuns * log) }
		last.Trend.Interval = interval.Interval{Median: of(trend.Log), Lo: of(trend.Lo), Hi: of(trend.Hi), Confidence: interval.Confidence, N: len(at)}
	}
	if newest := s.Runs[len(s.Runs)-1]; newest.Status != results.OK {
		s.Changes = append(s.Changes, Comparison{Old: s.Summary, New: newest, Verdict: Lost, Change: &Change{First: newest, Last: newest}})
	}
}
