package twosample

import (
	"math"
	"slices"

	"matladder/internal/each"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Step is a run with which the level of a series changed, and stayed changed.
type Step struct {
	At          int     // which run of the series, the likeliest
	First, Last int     // it is one of these, with 99 % confidence where walks are as assumed
	FalseRate   float64 // the smallest false discovery rate, over all series, at which it is one
	Difference          // of the rate from it on
}

// A Course is what became of a series of runs.
type Course struct {
	Steps []Step
	Trend Difference // of the rate, from run to run since the last step
}

const (
	leastSide  = 3  // runs on either side of a step: what does not persist is none
	mostBefore = 40 // runs of a window ahead of a step
	mostDoubt  = 10 // runs from the first to the last that may have brought a step: what takes longer is drift
)

// windowEnds are how many runs behind a step windows end in which it is tested.
var windowEnds = []int{5, 15, 40}

// A drift is how a series may change by itself, in standard deviations of a run: by a slope a
// run, and by a random walk from run to run. These are standard deviations too.
type drift struct {
	slope, walk float64
	weight      float64 // before the runs speak
}

// The runs choose between a machine that stays as it is, and one that does not.
var assumedDrifts = []drift{{slope: 0.02, walk: 0.05, weight: 300}, {slope: 0.1, walk: 0.25, weight: 1}}

// oddRun is how many standard deviations a run may lie off those around it before it counts
// as less: a single one is no level.
const oddRun = 4

// Steps tells which runs changed the level of series, whose figures are logarithms of times in
// the order of the runs. At most level of the steps that it returns are expected to be false.
//
// A figure is assumed to be a level, a slope, a random walk, noise of a run by itself, and
// from a step on what that adds: the step is a regression coefficient beside a local linear
// trend with correlated errors (Box and Tiao 1975). So drift is no step. How much there is of
// it is not known: the answer is the mean over several drifts, weighted by their likelihood.
// The variance is moderated as in Compare. Bonferroni's bound holds for all windows of a
// series, the false discovery rate over series. A series is split at its surest step, and its
// parts are tested in turn.
func Steps(series [][]float64, level float64) []Course {
	courses := make([]Course, len(series))
	var p []float64
	scans := make([]*scan, len(series))
	for i, x := range series {
		s := newScan(x)
		scans[i] = s
		surest := s.split(0, len(x))
		slices.Sort(s.at)
		for j := range s.at {
			courses[i].Steps = append(courses[i].Steps, s.step(j))
		}
		if len(s.at) == 0 {
			p = append(p, surest)
		}
		p = append(p, each.Of(courses[i].Steps, func(s Step) float64 { return s.P })...)
	}
	rates, n := Adjust(p), 0
	for i, s := range scans {
		c := &courses[i]
		n += max(1, len(c.Steps))
		for j := range c.Steps {
			c.Steps[j].FalseRate = rates[n-len(c.Steps)+j]
		}
		c.Steps = slices.DeleteFunc(c.Steps, func(s Step) bool { return !(s.FalseRate <= level) || s.Last-s.First > mostDoubt })
		from := max(0, len(s.x)-mostBefore)
		if n := len(c.Steps); n > 0 {
			from = max(from, c.Steps[n-1].At)
		}
		if len(s.x)-from > leastSide {
			c.Trend, _ = s.estimate(s.x[from:], trend)
		}
	}
	return courses
}

// A scan looks for the steps of one series.
type scan struct {
	x        []float64
	variance float64         // of a run, assumed before the runs of a window speak
	at       []int           // steps
	p        map[int]float64 // of each, over all windows
}

// newScan takes in what a single run says by itself only as far as those around it allow.
func newScan(x []float64) *scan {
	s := &scan{x: slices.Clone(x), variance: priorDeviation * priorDeviation, p: map[int]float64{}}
	var squares []float64
	for i := 1; i < len(x); i++ {
		squares = append(squares, (x[i]-x[i-1])*(x[i]-x[i-1]))
	}
	own := s.variance
	if slices.Sort(squares); len(squares) > leastSide { // twice the variance, at the median of its chi-squared distribution
		own = squares[len(squares)/2] / 2 / distuv.ChiSquared{K: 1}.Quantile(0.5)
	}
	n := float64(len(x))
	most := oddRun * math.Sqrt((priorFreedom*s.variance+n*own)/(priorFreedom+n))
	s.variance = math.Max(s.variance, own)
	for i := range x {
		around := slices.Sorted(slices.Values(x[max(0, i-2):min(len(x), i+3)]))
		middle := around[len(around)/2]
		s.x[i] = math.Max(middle-most, math.Min(middle+most, x[i]))
	}
	return s
}

// split notes the surest step from one run to another, if it may be one, and those of both
// parts. It returns its p-value, over all windows of the series.
func (s *scan) split(from, to int) float64 {
	surest, at := 1.0, 0
	windows := float64(len(windowEnds) * len(s.x))
	for k := from + leastSide; k <= to-leastSide; k++ {
		for _, n := range windowEnds {
			if k+n > to {
				break
			}
			begin := max(from, k-mostBefore)
			if d, _ := s.estimate(s.x[begin:k+n], k-begin); d.P*windows < surest {
				surest, at = d.P*windows, k
			}
		}
	}
	if surest <= 0.05 {
		s.at, s.p[at] = append(s.at, at), surest
		s.split(from, at)
		s.split(at, to)
	}
	return surest
}

// step is the nth of those found, with its place and size by the runs up to the steps around it.
func (s *scan) step(n int) Step {
	at, from, to := s.at[n], 0, len(s.x)
	if n > 0 {
		from = s.at[n-1]
	}
	if n+1 < len(s.at) {
		to = s.at[n+1]
	}
	from, to = max(from, at-mostBefore), min(to, at+windowEnds[len(windowEnds)-1])
	x := s.x[from:to]
	likely := make([]float64, len(x))
	most, total := math.Inf(-1), 0.0
	for k := 1; k < len(x); k++ {
		_, likely[k] = s.estimate(x, k)
		most = math.Max(most, likely[k])
	}
	for k := 1; k < len(x); k++ {
		likely[k] = math.Exp(likely[k] - most)
		total += likely[k]
	}
	best := slices.Index(likely, slices.Max(likely))
	first, last := best, best
	for sum := likely[best]; sum < 0.999*total; {
		if last+1 == len(x) || first > 1 && likely[first-1] >= likely[last+1] {
			first--
			sum += likely[first]
		} else {
			last++
			sum += likely[last]
		}
	}
	d, _ := s.estimate(x, best)
	d.P = s.p[at]
	return Step{At: from + best, First: from + first, Last: from + last, Difference: d}
}

// trend in place of a step asks for the slope.
const trend = -1

// estimate returns the difference that a step at a run of x makes, and the logarithm of the
// likelihood of one there.
func (s *scan) estimate(x []float64, step int) (d Difference, likely float64) {
	fits := make([]fit, len(assumedDrifts))
	most, total := math.Inf(-1), 0.0
	for i, a := range assumedDrifts {
		fits[i] = s.fit(x, step, a)
		fits[i].likely += math.Log(a.weight)
		most = math.Max(most, fits[i].likely)
	}
	freedom := priorFreedom + float64(len(x)-2)
	var variance, square float64
	for _, f := range fits {
		weight := math.Exp(f.likely - most)
		total += weight
		d.Log -= weight * f.size // a longer time is a lower rate
		square += weight * f.size * f.size
		variance += weight * f.variance
		d.P += weight * 2 * distuv.StudentsT{Sigma: math.Sqrt(f.variance), Nu: freedom}.Survival(math.Abs(f.size))
	}
	d.Log /= total
	p := d.P / total
	d.t = distuv.StudentsT{Sigma: math.Sqrt(variance/total + math.Max(0, square/total-d.Log*d.Log)), Nu: freedom}
	d = d.Allow(0)
	d.P = p
	return d, most + math.Log(total)
}

// A fit is a regression with one drift.
type fit struct{ size, variance, likely float64 }

// fit regresses figures on a level, a slope and a step, or on a level and a slope. The errors
// are noise and a random walk: a Kalman filter takes out of each row what those before it
// tell, which leaves rows that are independent. What is assumed of a slope is a row more.
func (s *scan) fit(x []float64, step int, by drift) fit {
	var products [4][4]float64 // of level, slope, step and figures
	var told [4]float64        // the next row, predicted from those before it
	behind, scale := 0.0, 1.0  // variance of the prediction, and the product of those of rows
	for i, v := range x {
		row := [4]float64{1, float64(i), 0, v - x[0]}
		switch {
		case step == trend:
			row[1], row[2] = 0, row[1]
		case i >= step:
			row[2] = 1
		}
		variance := behind + 1
		for j := range row {
			row[j] -= told[j]
			told[j] += behind / variance * row[j]
			for l := range j + 1 {
				products[j][l] += row[j] * row[l] / variance
			}
		}
		scale *= variance
		behind = behind/variance + by.walk*by.walk
	}
	products[1][1] += 1 / (by.slope * by.slope)
	scale *= by.slope * by.slope
	var size float64
	for j := range 3 { // what is left of the later columns without this one
		size = products[3][j] / products[j][j]
		for l := j + 1; l < 4; l++ {
			for m := j + 1; m <= l; m++ {
				products[l][m] -= products[l][j] * products[m][j] / products[j][j]
			}
		}
		scale *= products[j][j]
	}
	squares := priorFreedom*s.variance + math.Max(0, products[3][3])
	freedom := priorFreedom + float64(len(x)-2)
	return fit{size, squares / freedom / products[2][2], -(math.Log(scale) + freedom*math.Log(squares)) / 2}
}
