package twosample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/internal/thoroughtest"
)

// A machine is a simulated one: how the time of a launch that should take 1 varies.
type machine struct {
	name    string
	between float64 // standard deviation between runs, of each point by itself
	common  float64 // and of all points together
	jitter  float64 // mean of what a sample takes longer (exponential)
	busy    float64 // share of samples that other work stretches
	stretch float64 // by how much, at most
	burst   bool    // other work comes in spells
}

var machines = []machine{
	{name: "idle", between: 0.006, common: 0.003, jitter: 0.015},
	{name: "one core busy", between: 0.008, common: 0.005, jitter: 0.02, busy: 0.2, stretch: 1},
	{name: "all cores busy", between: 0.01, common: 0.01, jitter: 0.03, busy: 0.8, stretch: 3},
	{name: "bursts", between: 0.008, common: 0.005, jitter: 0.02, busy: 0.9, stretch: 2, burst: true},
	{name: "uneven", between: 0.03, common: 0.02, jitter: 0.1, busy: 0.1, stretch: 10},
}

// run returns the samples of one run, by point; a point should take its factor.
func (m machine) run(rng *rand.Rand, factors []float64, samples int) [][]float64 {
	times := make([][]float64, len(factors))
	common := m.common * rng.NormFloat64()
	drift := 0.0
	own := make([]float64, len(factors))
	for p := range own {
		own[p] = m.between * rng.NormFloat64()
	}
	spell := rng.Float64() < 0.5
	for range samples {
		drift += 0.001 * rng.NormFloat64()
		if rng.Float64() < 0.2 {
			spell = !spell
		}
		for p, f := range factors {
			t := common + own[p] + drift + m.jitter*rng.ExpFloat64()
			if (!m.burst || spell) && rng.Float64() < m.busy {
				t += math.Log1p(m.stretch * math.Round(4*rng.Float64()) / 4)
			}
			times[p] = append(times[p], f*math.Exp(t))
		}
	}
	return times
}

// tally counts verdicts: SAME, a true difference found, and a false one.
type tally struct{ same, right, wrong, total int }

func (t *tally) join(o tally) {
	t.same, t.right, t.wrong, t.total = t.same+o.same, t.right+o.right, t.wrong+o.wrong, t.total+o.total
}

// count judges as package results does: a band of 2 %, one false discovery in a hundred.
func (t *tally) count(d []Difference, ok []bool, truth []float64) { t.countAt(d, ok, truth, 1) }

// countAt is count at one of several looks.
func (t *tally) countAt(d []Difference, ok []bool, truth []float64, share float64) {
	var p []float64
	for i := range d {
		if ok[i] {
			p = append(p, d[i].P)
		}
	}
	rates := Adjust(p)
	at := 0
	for i := range d {
		t.total++
		if !ok[i] {
			continue
		}
		rate := rates[at]
		at++
		switch {
		case d[i].Within(math.Log(1.02)):
			t.same++
		case rate > 0.01*share:
		case truth[i] != 0 && d[i].Log*truth[i] > 0:
			t.right++
		default:
			t.wrong++
		}
	}
}

// share is a count in percent of all verdicts.
func (t tally) share(n int) float64 { return 100 * float64(n) / float64(t.total) }

// TestCompare_Machines compares programs of which a quarter of the points is slower by so
// much, or none, on simulated machines: how many verdicts are right, and how many are not.
func TestCompare_Machines(t *testing.T) {
	const points, trials = 8, 150
	run := thoroughtest.Choose(1, 7, 7)
	for _, m := range machines {
		for _, runs := range []int{1, 3, 5} {
			for _, slow := range []float64{0, 0.05} {
				if !run() {
					continue
				}
				rng := rand.New(rand.NewPCG(1, 2))
				old, new, truth := programs(points, slow)
				old, new = append(old, 1), append(new, 1) // the shared point
				var all tally
				for range trials {
					list := make([]Point, points+1)
					list[points].Shared = true
					for range runs {
						for p, x := range m.run(rng, old, 12) {
							list[p].Old = append(list[p].Old, NewRun(x))
						}
						for p, x := range m.run(rng, new, 12) {
							list[p].New = append(list[p].New, NewRun(x))
						}
					}
					d, ok := Compare(list)
					all.count(d[:points], ok[:points], truth)
				}
				t.Logf("%-14s %d runs a side, %.0f %% slower: SAME %5.1f %%, found %5.1f %%, false %.2f %%",
					m.name, runs, 100*slow, all.share(all.same), 4*all.share(all.right), all.share(all.wrong))
				if all.share(all.wrong) > 1 {
					t.Errorf("%s, %d runs: %.2f %% of the verdicts are false", m.name, runs, all.share(all.wrong))
				}
				if m.name == "idle" && runs == 5 && (slow == 0 && all.share(all.same) < 80 || slow > 0 && 4*all.share(all.right) < 90) {
					t.Errorf("idle: too little is told")
				}
			}
		}
	}
}

// programs are the factors of points on either side, and which are slower.
func programs(points int, slow float64) (old, new, truth []float64) {
	for p := range points {
		old, new, truth = append(old, 1), append(new, 1), append(truth, 0)
		if p < points/4 {
			new[p], truth[p] = 1+slow, -slow
		}
	}
	return old, new, truth
}

// TestCompareTurns_Machines is the same for turns, the first of four points slower.
func TestCompareTurns_Machines(t *testing.T) {
	const points, trials, turns = 4, 8, 20
	run := thoroughtest.Choose(1, 4, 7)
	least := map[string]float64{"idle 2 %": 75, "idle 5 %": 95, "all cores busy 5 %": 40, "bursts 5 %": 75}
	for _, m := range machines {
		for _, slow := range []float64{0, 0.02, 0.05} {
			if !run() {
				continue
			}
			rng := rand.New(rand.NewPCG(3, 4))
			old, new, truth := programs(points, slow)
			var all tally
			for range trials {
				var d []Difference
				var ok []bool
				for _, pairs := range m.turns(rng, old, new, turns) {
					x, _, y := CompareTurns(pairs, 1, 1)
					d, ok = append(d, x), append(ok, y)
				}
				all.count(d, ok, truth)
			}
			name := fmt.Sprintf("%s %.0f %%", m.name, 100*slow)
			t.Logf("%-20s slower: SAME %5.1f %%, found %5.1f %%, false %.2f %%", name, all.share(all.same), points*all.share(all.right), all.share(all.wrong))
			if all.wrong > 1 || points*all.share(all.right) < least[name] {
				t.Errorf("%s: %d of %d false, %d right", name, all.wrong, all.total, all.right)
			}
		}
	}
}

// turns are pairs of turns of each point.
func (m machine) turns(rng *rand.Rand, old, new []float64, n int) [][]Pair {
	list := make([][]Pair, len(old))
	for range n {
		a, b := m.run(rng, old, 8), m.run(rng, new, 8)
		for p := range list {
			list[p] = append(list[p], Pair{logs(a[p]), logs(b[p])})
		}
	}
	return list
}

func logs(times []float64) []float64 {
	for i := range times {
		times[i] = math.Log(times[i])
	}
	return times
}
