package twosample

import (
	"math"
	"slices"

	"matladder/internal/each"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// FastEnd is the quantile of its samples that stands for a run.
const FastEnd = 0.2

// A Run is what one execution says about a point.
type Run struct {
	Figure  float64 // logarithm of the time at quantile FastEnd
	Error   float64 // standard error of Figure from the samples alone; 0 if they are too few to tell
	Samples int
}

// fewest is how many samples it takes to tell how far their quantile may be off.
const fewest = 4

// NewRun summarizes positive times, in seconds. Figure is the mean of their order
// statistics, each weighted with how often it would be the quantile of a resample (Harrell
// and Davis 1982), Error the standard deviation over resamples (Maritz and Jarrett 1978).
// Both have a formula: nothing is drawn.
func NewRun(times []float64) Run {
	x := each.Of(times, math.Log)
	slices.Sort(x)
	n := float64(len(x))
	a, b := FastEnd*(n+1), (1-FastEnd)*(n+1)
	var mean, square, below float64
	for i, v := range x {
		upTo := mathext.RegIncBeta(a, b, float64(i+1)/n)
		mean += (upTo - below) * v
		square += (upTo - below) * (v - x[0]) * (v - x[0])
		below = upTo
	}
	r := Run{Figure: mean, Samples: len(x)}
	if len(x) >= fewest {
		r.Error = math.Sqrt(math.Max(0, square-(mean-x[0])*(mean-x[0])))
	}
	return r
}

// A Point is measured by runs of both sides. A shared one is known not to differ: both
// sides executed the same, so that what differs is the machine.
type Point struct {
	Old, New []Run
	Shared   bool
}

// priorDeviation is the standard deviation between runs of one program, of the logarithm of
// their figures: 1 %, as on a machine that nobody else uses, where memory lies elsewhere in
// each run and the clock differs. It is assumed until there are several runs of a side.
const priorDeviation = 0.01

// priorFreedom is how many degrees of freedom that assumption counts for against the runs.
const priorFreedom = 4

// Compare estimates the difference of each point. ok is false for those that say too
// little: no run, or one run on either side with fewer than four samples.
//
// The variance of a run's figure has two parts: that of its samples, and what differs between runs,
// which all points have in common. Both together are the prior of a point's own variance between
// runs, as in moderated t-tests (Smyth 2004): the variance of few runs is small or large by luck.
// If shared points differ from side to side by more than runs of a side do, the machine changed,
// and the variance of all points grows by as much (estimated as by DerSimonian and Laird 1986).
func Compare(points []Point) (list []Difference, ok []bool) {
	list, ok = make([]Difference, len(points)), make([]bool, len(points))
	between := betweenRuns(points)
	spreads := make([]spread, len(points))
	for i, p := range points {
		ok[i] = enough(p)
		if ok[i] {
			spreads[i] = p.spread(between)
		}
	}
	machine, shared := machineVariance(points, spreads, ok)
	for i, p := range points {
		if ok[i] {
			list[i] = p.difference(spreads[i], machine, shared)
		}
	}
	return list, ok
}

// enough reports whether a point tells anything of its own uncertainty.
func enough(p Point) bool {
	if len(p.Old) == 0 || len(p.New) == 0 {
		return false
	}
	if len(p.Old)+len(p.New) > 2 {
		return true
	}
	return p.Old[0].Error > 0 && p.New[0].Error > 0 || steady(p.Old[0]) && steady(p.New[0])
}

// steady reports whether a run has enough samples and they do not vary at all, as on a
// coarse clock: an Error of 0 then is one.
func steady(r Run) bool { return r.Samples >= fewest && r.Error == 0 }

// A spread is the variance of one run's figure, and the degrees of freedom behind it.
type spread struct{ variance, freedom float64 }

// mean of the figures of runs.
func mean(runs []Run) float64 {
	return each.Sum(runs, func(r Run) float64 { return r.Figure }) / float64(len(runs))
}

// own is the variance between a point's runs of one side, pooled over both.
func (p Point) own() spread {
	sum := 0.0
	for _, side := range [][]Run{p.Old, p.New} {
		m := mean(side)
		for _, r := range side {
			sum += (r.Figure - m) * (r.Figure - m)
		}
	}
	freedom := float64(len(p.Old) + len(p.New) - 2)
	if freedom == 0 {
		return spread{}
	}
	return spread{sum / freedom, freedom}
}

// within is the mean variance of a run's figure from its samples alone.
func (p Point) within() float64 {
	sum, n := 0.0, 0
	for _, side := range [][]Run{p.Old, p.New} {
		for _, r := range side {
			if r.Samples >= fewest {
				sum += r.Error * r.Error
				n++
			}
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// betweenRuns is the variance between runs of one side beyond that of their samples, one
// for all points: the median of what each point shows, shrunk towards priorDeviation the
// more, the fewer runs there are. Points of one run are not independent of each other, so
// that together they count for as many degrees of freedom as one.
func betweenRuns(points []Point) float64 {
	freedom := 0.0
	var spreads []spread
	var within []float64
	for _, p := range points {
		if len(p.Old) == 0 || len(p.New) == 0 {
			continue
		}
		if own := p.own(); own.freedom > 0 {
			freedom = math.Max(freedom, own.freedom)
			spreads = append(spreads, own)
			within = append(within, p.within())
		}
	}
	prior := priorDeviation * priorDeviation
	if freedom == 0 {
		return prior
	}
	// Of each point, the excess at which its variance would be the median of its chi-squared
	// distribution.
	excess := make([]float64, len(spreads))
	for i, s := range spreads {
		median := distuv.ChiSquared{K: s.freedom}.Quantile(0.5) / s.freedom
		excess[i] = math.Max(0, s.variance/median-within[i])
	}
	slices.Sort(excess)
	found := (excess[(len(excess)-1)/2] + excess[len(excess)/2]) / 2
	return (priorFreedom*prior + freedom*found) / (priorFreedom + freedom)
}

// spread is a point's own variance between runs, shrunk towards that of all points.
func (p Point) spread(between float64) spread {
	prior := between + p.within()
	own := p.own()
	return spread{
		variance: (priorFreedom*prior + own.freedom*own.variance) / (priorFreedom + own.freedom),
		freedom:  priorFreedom + own.freedom,
	}
}

// inverse is 1/n + 1/m of n and m runs: times the variance of a run's figure it is the
// variance of the difference between the means of both sides.
func (p Point) inverse() float64 { return 1/float64(len(p.Old)) + 1/float64(len(p.New)) }

// machineVariance is the variance by which shared points differ from side to side beyond
// what their runs account for, 0 if runs may account for all of it. shared is how many
// shared points there are.
func machineVariance(points []Point, spreads []spread, ok []bool) (variance, shared float64) {
	var q, weights float64 // q is Cochran's, about a difference of 0
	for i, p := range points {
		if !p.Shared || !ok[i] {
			continue
		}
		shared++
		d := mean(p.Old) - mean(p.New)
		w := 1 / math.Max(spreads[i].variance*p.inverse(), 1e-12)
		q += w * d * d
		weights += w
	}
	if shared == 0 || q <= (distuv.ChiSquared{K: shared}).Quantile(0.95) {
		return 0, shared // as far apart as runs are
	}
	return (q - shared) / weights, shared
}

// difference compares the means of both sides. machine is machineVariance, of so many
// shared points.
func (p Point) difference(s spread, machine, shared float64) Difference {
	d := Difference{Log: mean(p.Old) - mean(p.New)}
	runs := s.variance * p.inverse()
	variance := runs + machine
	freedom := s.freedom
	if machine > 0 { // Satterthwaite 1946
		freedom = variance * variance / (runs*runs/s.freedom + machine*machine/shared)
	}
	d.t = distuv.StudentsT{Mu: 0, Sigma: math.Sqrt(variance), Nu: freedom}
	return d.Allow(0)
}

// Allow returns a difference of Compare as it is where something else, unknown for each
// point, may account for as much as a logarithm of it: its interval is wider by that at
// both ends, and P is that of the rest.
func (d Difference) Allow(bias float64) Difference {
	wide, narrow := d.t.Quantile(0.975)+bias, d.t.Quantile(0.95)+bias
	d.Lo, d.Hi, d.Lo90, d.Hi90 = d.Log-wide, d.Log+wide, d.Log-narrow, d.Log+narrow
	d.P = math.Min(1, 2*d.t.Survival(math.Max(0, math.Abs(d.Log)-bias)))
	return d
}
