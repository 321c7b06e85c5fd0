package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// predict compiles candidates ahead of time, as many at once as there are cores, those
// that are given first and others while there is time, and takes the fastest.
func (t *Tuner) predict(ctx context.Context, p backend.Predictor, j Job, list []Candidate, a *allowance) (b tile.Blocks, e tuned.Evidence, err error) {
	field, given, done := each.Of(givenFirst(list), t.trial), countGiven(list), 0
	tell := func() {
		done++
		t.observe(Event{Candidates: len(list), Screened: done, Racing: len(list)})
	}
	if a.budget > 0 { // the first says how long one takes
		t.predictAll(ctx, p, j, field[:1], func(int) bool { return true }, tell)
		turns := tile.Ceil(min(len(list), given+leastOthers)-1, min(len(list), runtime.GOMAXPROCS(0)))
		if err := a.claim(t.clock().Sub(a.begin) * time.Duration(1+turns)); err != nil {
			return b, e, err
		}
	}
	first := done
	t.predictAll(ctx, p, j, field[first:], func(i int) bool { return first+i < given || !a.over(1) }, tell)
	if err := ctx.Err(); err != nil {
		return b, e, err
	}
	var best *Trial
	for _, r := range field[:done] {
		if r.Failed != nil {
			t.drop(r, r.Failed)
			err = r.Failed
		} else if best == nil || r.first < best.first {
			best = r
		}
	}
	if best == nil {
		return b, e, fmt.Errorf("%w: %w", ErrNone, err)
	}
	tried := map[tile.Blocks]float64{}
	for _, r := range field[:done] {
		if r.Failed == nil {
			tried[r.Blocks] = round(r.first / best.first)
		}
	}
	e = tuned.Evidence{Mode: tuned.Predicted, Seconds: best.first, Low: best.first, High: best.first, Tried: tried, Launched: len(tried)}
	e.RunnerUp, e.Behind = runnerUp(best.Blocks, tried)
	return best.Blocks, e, nil
}

// Times returns the seconds of a launch of a job with each answer: predicted, or the median of
// rounds in which they take turns. Those that cannot be run are NaN; failed is why the first cannot.
func (t *Tuner) Times(ctx context.Context, j Job, answers []tuned.Answer) (seconds []float64, failed, err error) {
	field := make([]*Trial, len(answers))
	space := t.Space
	space.Limit = 0 // the backend says what does not fit
	for i, a := range answers {
		c, err := space.candidate(j.Kernel, j.Variant, j.Problem, problem.Clip(j.Problem, a.Blocks))
		if err == nil && c.Programs == nil {
			err = fmt.Errorf("blocks %s do not fit the fast memory", a.Blocks)
		}
		field[i] = t.trial(c)
		params, failed := a.AddTo(field[i].params)
		field[i].params, field[i].Failed = params, cmp.Or(err, failed)
	}
	live := inRace(field)
	p, predicts := t.Backend.(backend.Predictor)
	if predicts {
		t.predictAll(ctx, p, j, live, func(int) bool { return true }, func() {})
	} else if len(live) > 0 {
		if err = t.interleave(ctx, j, live, timesRounds, j.seed("times "), t.patience(), nil); errors.Is(err, ErrNone) {
			err = nil // failed says why
		}
	}
	for _, r := range field {
		switch failed = cmp.Or(failed, r.Failed); {
		case r.Failed != nil:
			r.first = math.NaN()
		case !predicts && len(r.Times) > 0:
			slices.Sort(r.Times)
			r.first = r.Times[len(r.Times)/2]
		}
		seconds = append(seconds, r.first)
	}
	return seconds, failed, cmp.Or(ctx.Err(), err)
}

// timesRounds is how many samples Times takes of each answer.
const timesRounds = 7

// predictAll predicts trials of a field in their order, as many at once as there are cores,
// while there is more to do, and tells of each.
func (t *Tuner) predictAll(ctx context.Context, p backend.Predictor, j Job, field []*Trial, more func(i int) bool, tell func()) {
	next := make(chan *Trial)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range min(len(field), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for r := range next {
				prediction, err := p.Predict(ctx, r.Programs, r.params)
				mu.Lock()
				if r.first, r.Failed = prediction.Elapsed.Seconds(), err; err == nil {
					r.Failed = t.possible(ctx, j.Problem, r.first)
				}
				tell()
				mu.Unlock()
			}
		})
	}
	for i := 0; i < len(field) && more(i); i++ {
		next <- field[i]
	}
	close(next)
	wg.Wait()
}

// adjustPredicted predicts the block shape that was found with other parameters, from
// those that a step away are the fastest to those a step away from these, until no step
// is faster by what matters, and puts them into the row. What the job knows with
// parameters takes part. A backend names only parameters whose effect it predicts.
func (t *Tuner) adjustPredicted(ctx context.Context, p backend.Predictor, j Job, list []Candidate, a *allowance, row *tuned.Row) error {
	b, ok := t.Backend.(backend.Adjuster)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(list, func(c Candidate) bool { return c.Blocks == row.Blocks })
	plain := &Trial{Candidate: list[i], params: t.params(list[i]), first: row.Evidence.Seconds}
	s := &adjusting{t: t, j: j, backend: b, seen: map[string]bool{plain.look(): true}, plain: plain, best: plain}
	if err := s.knows(list); err != nil {
		return err
	}
	for field := s.known; ; field = nil {
		field = append(field, s.more(ctx, s.best)...)
		field = append(field, s.farther(ctx, s.best)...)
		if a.over(1) || len(field) == 0 {
			break
		}
		t.predictAll(ctx, p, j, field, func(int) bool { return true }, func() {})
		if err := ctx.Err(); err != nil {
			return err
		}
		before := s.best
		for _, r := range field {
			if r.Failed != nil {
				t.drop(r, r.Failed)
				continue
			}
			if s.tried++; r.first*(1+alike) < before.first && r.first < s.best.first {
				s.best = r
			}
		}
		if s.best == before {
			break
		}
	}
	s.put(row)
	return nil
}
