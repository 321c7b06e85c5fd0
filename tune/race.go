package tune

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"matladder/backend"
	"matladder/tile"
	"matladder/tuned"

	"golang.org/x/perf/benchmath"
)

const (
	racers         = 8                    // that the screening leaves, the kernel's own candidates apart
	tooSlow        = 1.5                  // times the fastest first launch: not in the race
	shortestSample = 5 * time.Millisecond // of a repetition: until clock and dispatch no longer matter
	maxLaunches    = 1 << 16
	enoughRounds   = 6    // at which an interval reaches 95 %
	mostRounds     = 30   // of a race
	alike          = 0.01 // differences below it do not matter
	clearly        = 1.15 // a ratio that needs no more rounds to be believed
	confidence     = 0.95
)

// racer is a candidate in the race.
type racer struct {
	Candidate
	exe      backend.Executable
	launches int       // of one sample
	first    float64   // seconds of the screening launch
	times    []float64 // seconds of a launch, one a round
}

// measure screens all candidates one by one and races the best.
func (t *Tuner) measure(ctx context.Context, j Job, list []Candidate) (b tile.Blocks, e tuned.Evidence, err error) {
	deadline := time.Time{}
	if t.Budget > 0 {
		deadline = t.clock().Add(t.Budget)
	}
	field, err := t.screen(ctx, j, list, deadline)
	if err != nil {
		return b, e, err
	}
	for {
		winner, all, err := t.final(ctx, j, field, len(list), deadline)
		if err != nil {
			return b, e, err
		}
		wrong, err := t.verify(ctx, j, winner)
		if err != nil {
			return b, e, err
		}
		if wrong == "" {
			return winner.Blocks, all, nil
		}
		field = slices.DeleteFunc(field, func(r *racer) bool { return r == winner })
		if len(field) == 0 {
			return b, e, fmt.Errorf("%w: %s: wrong: %s", ErrNone, winner.Blocks, wrong)
		}
	}
}

// final races the field, and its winner again with all that look faster in hindsight
// or are the kernel's own best: a machine that is slow for a moment costs a candidate
// the race, and not only its own. The evidence is of the last race, with what earlier
// ones tell of the others.
func (t *Tuner) final(ctx context.Context, j Job, field []*racer, candidates int, deadline time.Time) (*racer, tuned.Evidence, error) {
	tried := map[tile.Blocks]float64{}
	for again := 0; ; again++ {
		winner, err := t.race(ctx, j, field, candidates, deadline)
		if err != nil {
			return nil, tuned.Evidence{}, err
		}
		e := summary(winner, field)
		rerun := []*racer{winner}
		var own *racer
		for _, r := range field {
			switch ratio := e.Tried[r.Blocks]; {
			case r == winner:
			case ratio > 0 && ratio < 1-alike:
				rerun = append(rerun, r)
			case r.Own && (own == nil || ratio < e.Tried[own.Blocks]):
				own = r
			}
		}
		if again == 0 && own != nil && !winner.Own && len(own.times) < enoughRounds {
			rerun = append(rerun, own)
		}
		if len(rerun) == 1 || again == 2 {
			for b, ratio := range tried { // relative to an earlier winner
				if _, known := e.Tried[b]; !known {
					e.Tried[b] = max(1, ratio)
				}
			}
			last := evidence(winner.Blocks, e.Seconds, e.Tried)
			e.RunnerUp, e.Behind = last.RunnerUp, last.Behind
			return winner, e, nil
		}
		for b, ratio := range e.Tried {
			tried[b] = ratio
		}
		field = rerun
	}
}

// screen launches each candidate once, the most promising first, and returns those
// that are worth a race, closed.
func (t *Tuner) screen(ctx context.Context, j Job, list []Candidate, deadline time.Time) ([]*racer, error) {
	var field []*racer
	var last error
	fastest := math.Inf(1)
	for i, c := range list {
		// Late candidates are given up for want of time, the kernel's own are not.
		if half := t.Budget / 2; !c.Own && len(field) > 0 && !deadline.IsZero() && t.clock().After(deadline.Add(-half)) {
			continue
		}
		r := &racer{Candidate: c}
		err := t.open(ctx, j, r)
		if err == nil {
			err = r.exe.Close()
			r.exe = nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.observe(Event{Candidates: len(list), Screened: i + 1, Racing: len(field)})
		if err != nil {
			last = err
			continue
		}
		fastest = min(fastest, r.first)
		field = append(field, r)
	}
	if len(field) == 0 {
		return nil, fmt.Errorf("%w: %w", ErrNone, last)
	}
	slices.SortStableFunc(field, func(a, b *racer) int { return cmp.Compare(a.first, b.first) })
	others := 0
	field = slices.DeleteFunc(field, func(r *racer) bool {
		if r.Own && r.first <= 2*tooSlow*fastest {
			return false
		}
		others++
		return others > racers || r.first > tooSlow*fastest
	})
	return field[:min(len(field), t.atOnce(j))], nil
}

// atOnce is how many racers can be loaded at the same time.
func (t *Tuner) atOnce(j Job) int {
	memory := t.Space.Device.MemoryBytes
	if !memory.Known() {
		return math.MaxInt
	}
	return max(2, int(memory.Value/4/float64(j.Problem.Bytes())))
}

// open compiles and loads a racer, warms it up and finds its launches.
func (t *Tuner) open(ctx context.Context, j Job, r *racer) (err error) {
	if r.exe, err = t.Backend.Compile(ctx, r.Programs, t.Params); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			r.exe.Close()
			r.exe = nil
		}
	}()
	if err = r.exe.LoadSeeded(ctx, t.inputs(j)); err != nil {
		return err
	}
	if _, err = r.exe.Run(ctx, 1); err != nil {
		return err
	}
	for n := max(1, r.launches); ; n = min(4*n, maxLaunches) {
		s, err := r.exe.Run(ctx, n)
		if err != nil {
			return err
		}
		if r.first = s.Elapsed.Seconds() / float64(n); s.Elapsed >= shortestSample || n == maxLaunches {
			r.launches = n
			return nil
		}
	}
}

func (t *Tuner) inputs(j Job) backend.InputSpec {
	return backend.InputSpec{Problem: j.Problem, Seed: t.Seed, Dist: t.Dist}
}

// race takes the field through interleaved rounds until one is clear of the rest,
// and returns it. All are closed when it returns.
func (t *Tuner) race(ctx context.Context, j Job, field []*racer, candidates int, deadline time.Time) (_ *racer, err error) {
	live := slices.Clone(field)
	defer func() {
		for _, r := range field {
			if r.exe != nil {
				r.exe.Close()
				r.exe = nil
			}
		}
	}()
	h := fnv.New64a()
	h.Write([]byte(j.Key().String()))
	rng := rand.New(rand.NewPCG(t.Seed, h.Sum64()))
	for _, r := range field {
		r.times = nil // of an earlier race, whose winner was wrong
	}
	for n := 1; len(live) > 1 && n <= mostRounds; n++ {
		rng.Shuffle(len(live), func(a, b int) { live[a], live[b] = live[b], live[a] })
		for _, r := range live {
			if r.exe == nil {
				if err := t.open(ctx, j, r); err != nil {
					return nil, err
				}
			}
			s, err := r.exe.Run(ctx, r.launches)
			if err != nil {
				return nil, err
			}
			r.times = append(r.times, s.Elapsed.Seconds()/float64(r.launches))
		}
		live = cut(live)
		t.observe(Event{Candidates: candidates, Screened: candidates, Racing: len(live), Round: n})
		if settled(live) || !deadline.IsZero() && t.clock().After(deadline) && n >= 3 {
			break
		}
	}
	return leader(live), nil
}

// leader has the lowest median.
func leader(live []*racer) *racer {
	return slices.MinFunc(live, func(a, b *racer) int { return cmp.Compare(a.median(), b.median()) })
}

func (r *racer) median() float64 {
	if len(r.times) == 0 {
		return r.first
	}
	return median(r.times)
}

// cut drops racers whose paired ratio to the leader is clearly above 1, and, while
// there are too few samples to be sure, those that are far behind in each of them.
func cut(live []*racer) []*racer {
	first := leader(live)
	return slices.DeleteFunc(live, func(r *racer) bool {
		if r == first || r.exe == nil {
			return false
		}
		center, lo, _, sure := ratio(r.times, first.times)
		slower := sure && lo > 1 && center > 1+alike/2
		if len(r.times) >= 3 && lo > clearly && !r.Own {
			slower = true // in each of the first rounds
		}
		if slower {
			r.exe.Close()
			r.exe = nil
		}
		return slower
	})
}

// settled reports whether more rounds would not change what matters: all that are
// left are alike, and surely so.
func settled(live []*racer) bool {
	first := leader(live)
	for _, r := range live {
		if r == first {
			continue
		}
		if _, _, hi, sure := ratio(r.times, first.times); !sure || hi > 1+alike {
			return false
		}
	}
	return true
}

// ratio is the median of the ratios of paired samples, with its interval; sure if
// that reaches the confidence.
func ratio(a, b []float64) (center, lo, hi float64, sure bool) {
	n := min(len(a), len(b))
	ratios := make([]float64, n)
	for i := range ratios {
		ratios[i] = a[i] / b[i]
	}
	slices.Sort(ratios)
	s := interval(ratios)
	if n < enoughRounds || math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return s.Center, ratios[0], ratios[n-1], false
	}
	return s.Center, s.Lo, s.Hi, s.Confidence >= confidence
}

// median of a sample.
func median(times []float64) float64 { return interval(times).Center }

// interval is the median of a sample and its interval.
func interval(sample []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(sample), &benchmath.DefaultThresholds), confidence)
}

// verify runs the winner once more and checks its output.
func (t *Tuner) verify(ctx context.Context, j Job, r *racer) (wrong string, err error) {
	if err := t.open(ctx, j, r); err != nil {
		return "", err
	}
	defer func() {
		r.exe.Close()
		r.exe = nil
	}()
	res, err := r.exe.Check(ctx, backend.CheckSpec{InputSpec: t.inputs(j)})
	if err != nil || res.OK {
		return "", err
	}
	return res.Detail, nil
}

// summary is the evidence of a race. Ratios of those that left early are of the
// rounds that they took part in.
func summary(winner *racer, field []*racer) tuned.Evidence {
	tried := map[tile.Blocks]float64{winner.Blocks: 1}
	for _, r := range field {
		if r != winner && len(r.times) > 0 {
			n := len(r.times)
			tried[r.Blocks] = round(median(r.times) / median(winner.times[:n]))
		}
	}
	e := evidence(winner.Blocks, winner.median(), tried)
	e.Mode, e.Samples = tuned.Measured, max(1, len(winner.times))
	if len(winner.times) > 0 {
		s := interval(winner.times)
		e.Low, e.High = s.Lo, s.Hi
		if math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) {
			e.Low, e.High = slices.Min(winner.times), slices.Max(winner.times)
		}
	}
	return e
}

// round leaves four digits after the point: more is noise.
func round(ratio float64) float64 { return math.Round(ratio*1e4) / 1e4 }
