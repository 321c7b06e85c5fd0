package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"matladder/harness/tune"
	"matladder/internal/each"
	"matladder/stats/interval"
)

// heat is how many candidates take turns at a time, a reference apart: few enough
// for a machine not to change much within a round.
const heat = 16

// exhausted is what an exhaustive search found.
type exhausted struct {
	list      []tune.Candidate // the whole space
	best, own tune.Candidate   // the fastest of all, and of the kernel's own
	first     tune.Candidate   // of the kernel's own, in its order
	launched  int
	samples   int // of a candidate: the fewest
	spent     time.Duration
	short     time.Duration // until each candidate had interval.Enough samples
}

// standing is how a candidate did in its heat: its time over the reference's.
type standing struct {
	tune.Candidate
	over interval.Interval
}

// exhaust times every candidate of the space. They race in heats, each together with the same
// reference, so that heats compare; none leaves before it has all samples. Those whose interval
// reaches below the upper end of the fastest's then race on in one field of fresh samples, which
// one leaves only when its interval is clear of the leader. The winner's output is verified.
func (a *Auditor) exhaust(ctx context.Context, j tune.Job) (x exhausted, err error) {
	t := &a.Tuner
	space := t.Space
	space.Most = math.MaxInt
	if x.list, err = space.Candidates(j); err != nil {
		return x, err
	}
	reference, err := a.reference(ctx, j, x.list)
	if err != nil {
		return x, err
	}
	begin := a.clock()
	x.samples = math.MaxInt
	all := []standing{{reference, interval.Interval{Median: 1, Lo: 1, Hi: 1}}}
	rest := each.That(x.list, func(c tune.Candidate) bool { return c.Blocks != reference.Blocks })
	size := min(heat, t.AtOnce(j)-1)
	heats := max(1, (len(rest)+size-1)/size)
	for h := range heats {
		until := time.Time{}
		if a.Budget > 0 { // what is left, shared with the heats to come and the last race
			now := a.clock()
			until = now.Add((a.Budget - now.Sub(begin)) / time.Duration(heats-h+1))
		}
		field := slices.Concat([]tune.Candidate{reference}, rest[h*size:min(len(rest), (h+1)*size)])
		standings, err := a.heat(ctx, j, field, h, until, &x)
		if err != nil {
			return x, err
		}
		all = append(all, standings...)
		observe(t, tune.Event{Candidates: len(x.list), Screened: len(all)})
	}
	x.launched = len(all)
	slices.SortStableFunc(all, func(a, b standing) int { return cmp.Compare(a.over.Median, b.over.Median) })
	until := time.Time{}
	if a.Budget > 0 {
		until = begin.Add(a.Budget)
	}
	for len(all) > 0 {
		winner, wrong, err := a.last(ctx, j, all, until, &x)
		switch {
		case err != nil:
			return x, err
		case wrong:
			all = slices.DeleteFunc(all, func(s standing) bool { return s.Blocks == winner.Blocks })
			continue
		}
		x.best = winner
		i := slices.IndexFunc(all, func(s standing) bool { return s.Own })
		if i < 0 {
			return x, fmt.Errorf("%w of the kernel's own", tune.ErrNone)
		}
		x.own = all[i].Candidate
		for _, b := range slices.Backward(j.Kernel.Candidates(j.Problem, space.Model.Machine)) {
			if i := slices.IndexFunc(all, func(s standing) bool { return s.Blocks == b }); i >= 0 {
				x.first = all[i].Candidate
			}
		}
		return x, nil
	}
	return x, fmt.Errorf("%w: all outputs are wrong", tune.ErrNone)
}

// reference is the first of the candidates that can be launched, those that are taken where
// nothing is tuned before others.
func (a *Auditor) reference(ctx context.Context, j tune.Job, list []tune.Candidate) (c tune.Candidate, err error) {
	given := func(c tune.Candidate) bool { return c.Own || c.Known }
	others := func(c tune.Candidate) bool { return !given(c) }
	for _, c = range append(each.That(list, given), each.That(list, others)...) {
		if _, err = a.Tuner.Race(ctx, j, []tune.Candidate{c}, 1, 0, nil); err == nil || ctx.Err() != nil {
			break
		}
	}
	return c, err
}

// heat times a field, of which the first is the reference, and returns how the
// others that can be launched did. What the reference costs counts once.
func (a *Auditor) heat(ctx context.Context, j tune.Job, list []tune.Candidate, number int, until time.Time, x *exhausted) ([]standing, error) {
	u := a.Tuner
	m := newMeter(u.Backend)
	u.Backend = m
	spent := func() time.Duration {
		d := m.total()
		if number > 0 {
			d -= m.spent[list[0].Programs[0]]
		}
		return d
	}
	rounds := 0
	field, err := u.Race(ctx, j, list, a.rounds(), uint64(number), func(round int, live []*tune.Trial) ([]*tune.Trial, bool) {
		if rounds = round; round == interval.Enough {
			x.short += spent()
		}
		return live, round >= interval.Enough && !until.IsZero() && a.clock().After(until)
	})
	if err == nil {
		err = field[0].Failed
	}
	if err != nil {
		return nil, err
	}
	x.spent += spent()
	x.samples = min(x.samples, rounds)
	var out []standing
	for _, r := range field[1:] {
		if len(r.Times) > 0 {
			out = append(out, standing{r.Candidate, interval.OfRatios(r.Times, field[0].Times)})
		}
	}
	return out, nil
}

// last races those of a sorted list that may be the fastest, and verifies the output
// of the winner.
func (a *Auditor) last(ctx context.Context, j tune.Job, all []standing, until time.Time, x *exhausted) (winner tune.Candidate, wrong bool, err error) {
	u := a.Tuner
	m := newMeter(u.Backend)
	u.Backend = m
	var list []tune.Candidate
	for _, s := range all {
		if s.over.Lo <= all[0].over.Hi && len(list) < u.AtOnce(j) {
			list = append(list, s.Candidate)
		}
	}
	var left []*tune.Trial
	_, err = u.Race(ctx, j, list, a.rounds(), math.MaxUint64, func(round int, live []*tune.Trial) ([]*tune.Trial, bool) {
		first := leader(live)
		left = slices.DeleteFunc(live, func(r *tune.Trial) bool {
			over := interval.OfRatios(r.Times, first.Times)
			return r != first && over.Sure() && over.Lo > 1
		})
		observe(&u, tune.Event{Candidates: len(x.list), Screened: x.launched, Racing: len(left), Round: round})
		return left, len(left) == 1 || round >= interval.Enough && !until.IsZero() && a.clock().After(until)
	})
	if err != nil {
		return winner, false, err
	}
	first := leader(left)
	err = u.Verify(ctx, j, first)
	x.spent += m.total()
	return first.Candidate, err != nil, ctx.Err()
}

// leader is the fastest of trials that had the same rounds.
func leader(live []*tune.Trial) *tune.Trial {
	return slices.MinFunc(live, func(a, b *tune.Trial) int {
		return cmp.Compare(interval.OfRatios(a.Times, live[0].Times).Median, interval.OfRatios(b.Times, live[0].Times).Median)
	})
}

func observe(t *tune.Tuner, e tune.Event) {
	if t.Observe != nil {
		t.Observe(e)
	}
}
