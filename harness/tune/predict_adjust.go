package tune

import (
	"context"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"

	"matladder/backend"
	"matladder/harness/tuned"
)

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
	plain := &racer{Candidate: list[i], params: t.params(list[i]), first: row.Evidence.Seconds}
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
		t.predictAll(ctx, p, j, field)
		if err := ctx.Err(); err != nil {
			return err
		}
		before := s.best
		for _, r := range field {
			if r.failed != nil {
				t.drop(r, r.failed)
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
	s.putPredicted(row)
	return nil
}

// predictAll predicts a field, as many at once as there are cores.
func (t *Tuner) predictAll(ctx context.Context, p backend.Predictor, j Job, field []*racer) {
	next := make(chan *racer)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range min(len(field), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for r := range next {
				prediction, err := p.Predict(ctx, r.Programs, r.params)
				r.first, r.failed = prediction.Elapsed.Seconds(), err
				if err == nil {
					mu.Lock()
					r.failed = t.possible(ctx, j.Problem, r.first)
					mu.Unlock()
				}
			}
		})
	}
	for _, r := range field {
		next <- r
	}
	close(next)
	wg.Wait()
}

// putPredicted writes what was found into the row.
func (s *adjusting) putPredicted(row *tuned.Row) {
	e := &row.Evidence
	e.Adjusted.Tried = s.tried
	if s.best == s.plain {
		return
	}
	if s.best.Blocks != row.Blocks {
		rebase(e, s.best.Blocks)
		row.Blocks = s.best.Blocks
	}
	added := maps.Clone(s.best.params.Extra)
	maps.DeleteFunc(added, func(k, _ string) bool { _, own := s.t.Params.Extra[k]; return own })
	row.Params = backend.Params{Extra: added}.String()
	e.Seconds, e.Low, e.High = s.best.first, s.best.first, s.best.first
	gain := math.Max(1, round(s.plain.first/s.best.first))
	e.Adjusted.Gain, e.Adjusted.Low, e.Adjusted.High = gain, gain, gain
}
