package tune

import (
	"context"
	"slices"

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
		t.predictAll(ctx, p, j, field, func(int) bool { return true }, func() {})
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
	s.put(row)
	return nil
}
