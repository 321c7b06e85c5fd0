package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/stats/interval"
	"matladder/tile"
)

// noisy is a fake on a machine whose neighbours come for a second or so at a time.
// Executables of one block shape differ a little, for good.
type noisy struct {
	*fake
	burst  func(slow float64, b tile.Blocks) float64 // what a burst does to a sample
	slow   float64                                   // of the burst; 1 between bursts
	until  time.Time                                 // it lasts
	timed  time.Duration                             // of all launches
	errand time.Duration                             // of the clock, for each compilation
}

func newNoisy(seed uint64, seconds func(tile.Blocks) float64) *noisy {
	f := newFake(seconds)
	f.rng = rand.New(rand.NewPCG(seed, 1))
	n := &noisy{fake: f, slow: 1, errand: 8 * time.Millisecond}
	n.until = f.clock.Add(n.spell(3 * time.Second))
	return n
}

func (n *noisy) spell(mean time.Duration) time.Duration {
	return time.Duration(n.rng.ExpFloat64() * float64(mean))
}

type noisyExe struct {
	*exe
	n    *noisy
	luck float64
}

func (n *noisy) Compile(ctx context.Context, programs []*tile.Program, p backend.Params) (backend.Executable, error) {
	e, err := n.fake.Compile(ctx, programs, p)
	if err != nil {
		return nil, err
	}
	n.clock = n.clock.Add(n.errand)
	return &noisyExe{e.(*exe), n, math.Exp(0.015 * n.rng.NormFloat64())}, nil
}

func (e *noisyExe) Run(ctx context.Context, launches int) (backend.Sample, error) {
	n := e.n
	for !n.clock.Before(n.until) {
		if n.slow > 1 {
			n.slow, n.until = 1, n.until.Add(n.spell(3*time.Second))
		} else {
			n.slow, n.until = 1.2+1.8*n.rng.Float64(), n.until.Add(n.spell(time.Second))
		}
	}
	noise := math.Exp(0.015*n.rng.NormFloat64()) * (1 + 0.01*n.rng.ExpFloat64())
	if n.slow > 1 {
		noise *= n.burst(n.slow, e.b)
	}
	d := time.Duration(e.seconds() * float64(launches) * noise * e.luck * 1e9)
	n.clock = n.clock.Add(d)
	n.timed += d
	return backend.Sample{Elapsed: d}, ctx.Err()
}

// normal is a normally distributed figure that belongs to a block shape.
func normal(seed uint64, b tile.Blocks) float64 {
	return rand.New(rand.NewPCG(seed, uint64(b.M)<<40|uint64(b.K)<<20|uint64(b.N))).NormFloat64()
}

// TestNoise tunes rugged landscapes on a machine that is slow for seconds at a time,
// and all block shapes at once or each in its own way: what is chosen is not worse than
// the best of the kernel's own candidates, and near the best of all, at a tenth of the
// cost of trying all.
func TestNoise(t *testing.T) {
	t.Parallel()
	seeds := 60 / thoroughtest.OneIn(1, 3, 10)
	per := func(sum float64) float64 { return sum / float64(seeds) }
	for _, test := range []struct {
		name  string
		burst func(n *noisy) func(slow float64, b tile.Blocks) float64
		worse int // seeds in which the choice may be worse: all was over within one burst
	}{
		{"alike", func(*noisy) func(float64, tile.Blocks) float64 {
			return func(slow float64, _ tile.Blocks) float64 { return slow }
		}, 0},
		{"by shape", func(*noisy) func(float64, tile.Blocks) float64 {
			return func(slow float64, b tile.Blocks) float64 { return 1 + (slow-1)*max(0.2, 1+0.4*normal(7, b)) }
		}, seeds / 12},
		{"by sample", func(n *noisy) func(float64, tile.Blocks) float64 {
			return func(slow float64, _ tile.Blocks) float64 { return 1 + (slow-1)*n.rng.ExpFloat64() }
		}, seeds / 30},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := job(1024)
			worse := 0
			var logs, cost, least float64
			for seed := range uint64(seeds) {
				seconds := rugged(seed)
				n := newNoisy(seed, seconds)
				n.burst = test.burst(n)
				u := tuner(n.fake)
				u.Backend, u.Seed, u.Space.Most = n, seed, 24
				row, err := u.Tune(context.Background(), j)
				if err != nil {
					t.Fatal(err)
				}
				best, own, sum := extremes(t, u.Space, j, seconds)
				if ratio := own / seconds(row.Blocks); ratio < 0.98 {
					worse++
					t.Logf("seed %d: %s is %.3f × as fast as the kernel's own, %+v", seed, row.Blocks, ratio, row.Evidence.Confirmed)
				}
				logs += math.Log(best / seconds(row.Blocks))
				least += math.Log(own / seconds(row.Blocks))
				cost += n.timed.Seconds() / sum
			}
			t.Logf("%.4f × as fast as the best, %.4f × as fast as the kernel's own, %d worse, cost %.1f %%", math.Exp(per(logs)), math.Exp(per(least)), worse, 100*per(cost))
			if worse > test.worse || math.Exp(per(logs)) < 0.95 || per(cost) > 0.1 {
				t.Errorf("%d of %d worse than the kernel's own; %.4f × as fast as the best of all; cost %.1f %%", worse, seeds, math.Exp(per(logs)), 100*per(cost))
			}
		})
	}
}

// rugged is a landscape with its valley anywhere and luck of every block shape.
func rugged(seed uint64) func(tile.Blocks) float64 {
	rng := rand.New(rand.NewPCG(seed, 2))
	var at [3]float64
	for i := range at {
		at[i] = 6 + 4*rng.Float64()
	}
	return func(b tile.Blocks) float64 {
		s := 0.0
		for i, side := range []int{b.M, b.K, b.N} {
			d := math.Log2(float64(side)) - at[i]
			s += 0.03 * d * d
		}
		return 1e-3 * (1 + s) * math.Exp(0.04*normal(seed, b))
	}
}

// extremes are the fastest of all candidates and of those that are given, and what an
// exhaustive search of thirty samples takes.
func extremes(t *testing.T, s Space, j Job, seconds func(tile.Blocks) float64) (best, given, sum float64) {
	s.Most = math.MaxInt
	list, err := s.Candidates(j)
	if err != nil {
		t.Fatal(err)
	}
	best, given = math.Inf(1), math.Inf(1)
	for _, c := range list {
		v := seconds(c.Blocks)
		best = min(best, v)
		if c.given() {
			given = min(given, v)
		}
		sum += 30 * math.Ceil(sampleTime.Seconds()/v) * v
	}
	return best, given, sum
}

// TestConfirm: what is given stays unless another is shown to be faster, and then the
// evidence shows it; what a table answers counts as given.
func TestConfirm(t *testing.T) {
	t.Parallel()
	seeds := 40 / thoroughtest.OneIn(1, 4, 10)
	known := tile.Blocks{M: 96, K: 1024, N: 192} // no step of the sides
	fast := tile.Blocks{M: 256, K: 64, N: 256}
	for _, test := range []struct {
		name     string
		seconds  func(tile.Blocks) float64
		min, max int // times that another than the given is chosen, of 40
	}{
		{"flat", func(tile.Blocks) float64 { return 1e-3 }, 0, 4},
		{"known is best", func(b tile.Blocks) float64 {
			if b == known {
				return 0.98e-3
			}
			return 1e-3
		}, 0, 0},
		{"another is faster", func(b tile.Blocks) float64 {
			if b == fast {
				return 0.9e-3
			}
			return 1e-3
		}, 38, 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			others := 0
			for seed := range uint64(seeds) {
				n := newNoisy(seed, test.seconds)
				n.burst = func(slow float64, _ tile.Blocks) float64 { return slow }
				u := tuner(n.fake)
				u.Backend, u.Seed, u.Space.Most = n, seed, 1000
				j := job(1024)
				j.Known = []tuned.Answer{{Blocks: known}}
				row, err := u.Tune(context.Background(), j)
				if err != nil {
					t.Fatal(err)
				}
				c := row.Evidence.Confirmed
				given := row.Blocks == known
				for _, b := range kernels.All[3].Candidates(j.Problem, u.Space.Model.Machine) {
					given = given || b == row.Blocks
				}
				switch {
				case !given && !(c.Low > 1 && c.Rounds >= interval.Enough):
					t.Errorf("seed %d: %s with %+v", seed, row.Blocks, c)
				case !given:
					others++
				case c != (tuned.Confirmation{}) && (c.Rival == row.Blocks || c.Low > 1 && row.Evidence.Tried[c.Rival] <= 1):
					t.Errorf("seed %d: kept %s with %+v", seed, row.Blocks, c)
				}
				if _, ok := row.Evidence.Tried[known]; !ok || row.Evidence.Tried[row.Blocks] != 1 {
					t.Errorf("seed %d: %v", seed, row.Evidence.Tried)
				}
			}
			if others < test.min*seeds/40 || others > test.max*seeds/40 {
				t.Errorf("%d of %d are not given", others, seeds)
			}
		})
	}
}
