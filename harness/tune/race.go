package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/internal/each"
	"matladder/stats/interval"
)

const (
	alike   = 0.01 // differences below it do not matter
	clearly = 1.15 // a ratio that needs no more rounds to be believed
)

// stages of the race: after how many rounds how many of the field go on. After the first,
// executables are rebuilt, so that no block shape has the luck of one place in memory.
var stages = []struct{ rounds, stay int }{{3, 5}, {6, 3}, {9, 2}, {12, 1}}

// measure screens the candidates, races the best and confirms the winner.
func (t *Tuner) measure(ctx context.Context, j Job, list []Candidate, a *allowance) (winner *Trial, e tuned.Evidence, err error) {
	field, launched, err := t.screen(ctx, j, list, a)
	if err != nil {
		return nil, e, err
	}
	p := t.patience()
	for {
		order, err := t.race(ctx, j, field, launched, a, p)
		if err != nil {
			return nil, e, err
		}
		winner, e, err := t.confirm(ctx, j, order, launched, a, p)
		if err == nil && e.Samples >= interval.Enough {
			err = t.possible(ctx, j.Problem, e.High)
		}
		if err == nil {
			err = t.Verify(ctx, j, winner)
		}
		if ctx.Err() != nil {
			return nil, e, ctx.Err()
		}
		if err == nil {
			return winner, e, nil
		}
		t.drop(winner, err)
		field = slices.DeleteFunc(field, func(r *Trial) bool { return r.Blocks == winner.Blocks || r.Failed != nil })
		if len(field) == 0 {
			return nil, e, fmt.Errorf("%w: %s: %w", ErrNone, winner.Blocks, err)
		}
	}
}

// race takes the field through interleaved rounds until the leader is clear of the rest. It
// returns all that took part, the leader first and the others by their time over the leader's.
func (t *Tuner) race(ctx context.Context, j Job, field []*Trial, launched int, a *allowance, p *patience) ([]*Trial, error) {
	for _, r := range field {
		r.Times = nil // of an earlier race, whose winner was wrong
	}
	live := slices.Clone(field)
	rounds, over := 0, len(field) == 1
	after := func(int, []*Trial) ([]*Trial, bool) {
		rounds++
		live = slices.DeleteFunc(live, func(r *Trial) bool { return len(r.Times) < rounds }) // cannot be launched any more
		if len(live) == 0 {
			return nil, true
		}
		live = cut(live)
		for _, s := range stages {
			if rounds == s.rounds {
				live = staying(live, s.stay)
			}
		}
		t.observe(Event{Candidates: launched, Screened: launched, Racing: len(live), Round: rounds})
		over = settled(live) || rounds >= stages[0].rounds && a.over(1)
		return live, over
	}
	last := 0
	for i, most := range []int{stages[0].rounds, stages[len(stages)-1].rounds} {
		if over {
			break
		}
		if err := t.interleave(ctx, j, live, most-last, j.seed("")+uint64(i), p, after); err != nil {
			return nil, err
		}
		last = most
	}
	if len(live) == 0 {
		return nil, fmt.Errorf("%w to the end: %w", ErrNone, field[0].Failed)
	}
	first := foremost(live, 1)[0]
	rest := slices.DeleteFunc(slices.Clone(field), func(r *Trial) bool { return r == first })
	slices.SortStableFunc(rest, func(a, b *Trial) int { return cmp.Compare(a.over(first), b.over(first)) })
	return append([]*Trial{first}, rest...), nil
}

// staying returns who goes on: the fastest, and while it is too early to let one of
// them go, those that are given.
func staying(live []*Trial, most int) []*Trial {
	var out []*Trial
	for i, r := range foremost(live, len(live)) {
		if i < most || r.given() && len(r.Times) < interval.Enough {
			out = append(out, r)
		}
	}
	return out
}

// foremost returns the fastest of those that are still in the race, the leader first.
func foremost(live []*Trial, most int) []*Trial {
	pace := make([]float64, 0, len(live[0].Times)) // of each round: what slow seconds change
	for n := range live[0].Times {
		logs := each.Sum(live, func(r *Trial) float64 { return math.Log(r.Times[n]) })
		pace = append(pace, math.Exp(logs/float64(len(live))))
	}
	at := map[*Trial]float64{}
	for _, r := range live {
		at[r] = interval.OfRatios(r.Times, pace).Median
	}
	live = slices.Clone(live)
	slices.SortStableFunc(live, func(a, b *Trial) int { return cmp.Compare(at[a], at[b]) })
	return live[:min(len(live), most)]
}

// over is the trial's time over another's, in the rounds that both took part in.
func (r *Trial) over(other *Trial) float64 {
	if min(len(r.Times), len(other.Times)) == 0 {
		return r.first / other.first
	}
	return interval.OfRatios(r.Times, other.Times).Median
}

// cut drops trials whose paired ratio to the leader is clearly above 1, and, while there are too
// few samples to be sure, those that are far behind in each of them: farther if they are given.
func cut(live []*Trial) []*Trial {
	first := foremost(live, 1)[0]
	return slices.DeleteFunc(live, func(r *Trial) bool {
		if r == first {
			return false
		}
		over := interval.OfRatios(r.Times, first.Times)
		far := clearly
		if r.given() {
			far = 2
		}
		return over.Sure() && over.Lo > 1 && over.Median > 1+alike/2 || len(r.Times) >= 3 && over.Lo > far
	})
}

// settled reports whether more rounds would not change what matters: none of those that are left
// can be faster than the leader by more than a difference that does not matter.
func settled(live []*Trial) bool {
	first := foremost(live, 1)[0]
	return !slices.ContainsFunc(live, func(r *Trial) bool {
		over := interval.OfRatios(r.Times, first.Times)
		return r != first && (!over.Sure() || over.Lo < 1-alike)
	})
}

// Verify runs a trial once more and checks its output.
func (t *Tuner) Verify(ctx context.Context, j Job, r *Trial) error {
	if err := t.open(ctx, j, r); err != nil {
		return err
	}
	defer r.exe.Close()
	res, err := r.exe.Check(ctx, backend.CheckSpec{InputSpec: t.inputs(j)})
	if err == nil && !res.OK {
		err = errors.New("wrong: " + res.Detail)
	}
	return err
}
