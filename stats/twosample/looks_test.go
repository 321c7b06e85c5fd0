package twosample

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"matladder/internal/thoroughtest"
)

// TestLooks: what all looks may make of errors is what one may.
func TestLooks(t *testing.T) {
	for _, c := range []struct {
		least, most int
		want        string
	}{
		{20, 80, "[{20 0.5} {40 0.25} {80 0.25}]"},
		{20, 70, "[{20 0.5} {40 0.25} {70 0.25}]"},
		{20, 20, "[{20 1}]"},
		{20, 10, "[{20 1}]"},
		{1, 3, "[{1 0.5} {2 0.25} {3 0.25}]"},
	} {
		looks := Looks(c.least, c.most)
		if got := fmt.Sprint(looks); got != c.want {
			t.Errorf("%d to %d: %s, want %s", c.least, c.most, got, c.want)
		}
	}
}

// TestLooks_Machines goes on with turns on simulated machines until every point is told, as
// cmd/compare does: the first of four points is slower, or none. MATLADDER_TRIALS=200 says
// how many verdicts are false: a test sees no more than that not all are.
func TestLooks_Machines(t *testing.T) {
	const points = 4
	trials, run := 2, thoroughtest.Choose(1, 3, 7)
	if n, err := strconv.Atoi(os.Getenv("MATLADDER_TRIALS")); err == nil { // for a figure instead of a test
		trials = n
	}
	least := map[string]float64{"idle 2 %": 60, "all cores busy 5 %": 90, "bursts 5 %": 90}
	for _, m := range machines {
		some := 0.05
		if m.name == "idle" {
			some = 0.02
		}
		for _, slow := range []float64{0, some} {
			if !run() {
				continue
			}
			rng := rand.New(rand.NewPCG(7, 8))
			old, new, truth := programs(points, slow)
			var all tally
			used := 0
			for range trials {
				turns := m.turns(rng, old, new, 80)
				for _, look := range Looks(20, 80) {
					var d []Difference
					var ok []bool
					for _, pairs := range turns {
						x, _, y := CompareTurns(pairs[:look.Pairs], 1, look.Share)
						d, ok = append(d, x), append(ok, y)
					}
					var now tally
					now.countAt(d, ok, truth, look.Share)
					if now.same+now.right+now.wrong == points || look.Pairs == 80 {
						all.join(now)
						used += look.Pairs
						break
					}
				}
			}
			name := fmt.Sprintf("%s %.0f %%", m.name, 100*slow)
			t.Logf("%-20s slower: SAME %5.1f %%, found %5.1f %%, false %.2f %%, after %d pairs", name, all.share(all.same), points*all.share(all.right), all.share(all.wrong), used/trials)
			if 100*all.wrong > max(100, all.total) || points*all.share(all.right) < least[name] {
				t.Errorf("%s: %d of %d false, %d right", name, all.wrong, all.total, all.right)
			}
		}
	}
}
