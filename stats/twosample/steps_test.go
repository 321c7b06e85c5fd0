package twosample

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// A made series is one point of a simulated folder: its figures by run, NaN where a run lacks it.
type made struct {
	figures []float64
	steps   map[int]float64 // by run: the size
}

// until are the figures of the first runs, and where in them runs are.
func (m made) until(runs int) (x []float64, at map[int]int) {
	at = map[int]int{}
	for run, v := range m.figures[:runs] {
		if !math.IsNaN(v) {
			at[run] = len(x)
			x = append(x, v)
		}
	}
	return x, at
}

// drifts are the ways in which a machine changes by itself, by up to 0.1 % a run: not at all,
// straight on, to and fro, and at random.
var drifts = []func(rng *rand.Rand) func(run int) float64{
	func(*rand.Rand) func(int) float64 { return func(int) float64 { return 0 } },
	func(rng *rand.Rand) func(int) float64 {
		slope := 0.002 * (rng.Float64() - 0.5)
		return func(run int) float64 { return slope * float64(run) }
	},
	func(rng *rand.Rand) func(int) float64 {
		phase, period := 6*rng.Float64(), 30+30*rng.Float64()
		size := 0.001 * period / (2 * math.Pi)
		return func(run int) float64 { return size * math.Sin(phase+2*math.Pi*float64(run)/period) }
	},
	func(rng *rand.Rand) func(int) float64 {
		var walk []float64
		return func(run int) float64 {
			for sum := 0.0; len(walk) <= run; {
				if n := len(walk); n > 0 {
					sum = walk[n-1]
				}
				walk = append(walk, sum+0.001*rng.NormFloat64())
			}
			return walk[run]
		}
	},
}

// madeFolder simulates runs of points on two machines, whose figures differ from run to run by
// 0.7 % (idle) and 1 % (one core busy). Every second series has steps of 3 to 10 %, a quarter
// drifts in each of the ways, a run in ten lacks a point, and some points rest for a while.
func madeFolder(rng *rand.Rand, points, runs int) (list []made) {
	for _, m := range machines[:2] {
		on := make([]made, points)
		level := make([]float64, points)
		drift := make([]func(int) float64, points)
		for p := range on {
			on[p].steps = map[int]float64{}
			drift[p] = drifts[(len(list)+p)%len(drifts)](rng)
			if p%2 == 0 {
				continue
			}
			for at := 8 + rng.IntN(20); at < runs-6; at += 10 + rng.IntN(20) {
				size := 0.03 + 0.07*rng.Float64()
				if rng.IntN(2) == 0 {
					size = -size
				}
				on[p].steps[at] = size
			}
		}
		for run := range runs {
			factors := make([]float64, points)
			for p := range on {
				level[p] += math.Log1p(on[p].steps[run])
				factors[p] = math.Exp(level[p] + drift[p](run))
			}
			times := m.run(rng, factors, 24)
			for p := range on {
				v := NewRun(times[p]).Figure
				if rest := p%5 == 3 && run > 14 && run < 20; on[p].steps[run] == 0 && (rest || rng.IntN(10) == 0) {
					v = math.NaN()
				}
				on[p].figures = append(on[p].figures, v)
			}
		}
		list = append(list, on...)
	}
	return list
}

// TestSteps_Machines finds the steps of simulated folders. MATLADDER_TRIALS=200 says how
// many are false: 20 folders are the 200 series of the bar.
func TestSteps_Machines(t *testing.T) {
	const points, runs, level = 5, 40, 0.005
	trials := 20
	if n, err := strconv.Atoi(os.Getenv("MATLADDER_TRIALS")); err == nil {
		trials = n
	}
	rng := rand.New(rand.NewPCG(11, 12))
	claims, wrong, steps, found, wide := 0, 0, 0, 0, 0
	for range trials {
		folder := madeFolder(rng, points, runs)
		search := func(until int) ([]Course, []map[int]int) {
			var series [][]float64
			var at []map[int]int
			for _, m := range folder {
				x, where := m.until(until)
				series, at = append(series, x), append(at, where)
			}
			return Steps(series, level), at
		}
		courses, at := search(runs)
		for i, c := range courses {
			for _, s := range c.Steps {
				claims++
				wide += s.Last - s.First
				right := false
				for run, size := range folder[i].steps {
					right = right || at[i][run] >= s.First && at[i][run] <= s.Last && size*s.Log < 0
				}
				if !right {
					wrong++
				}
			}
		}
		for i, m := range folder {
			for run := range m.steps {
				until := run
				for n := 0; n < 5 && until < runs; until++ {
					if !math.IsNaN(m.figures[until]) {
						n++
					}
				}
				courses, at := search(until)
				steps++
				if slices.ContainsFunc(courses[i].Steps, func(s Step) bool { return s.First <= at[i][run] && at[i][run] <= s.Last }) {
					found++
				}
			}
		}
	}
	t.Logf("%d series: %d claims, %d false; of %d steps %d within five runs (%.1f %%); a claim is of %.2f runs",
		2*points*trials, claims, wrong, steps, found, 100*float64(found)/float64(steps), 1+float64(wide)/float64(claims))
	if 100*wrong > claims || 10*found < 9*steps {
		t.Errorf("too many are false, or too few found")
	}
}
