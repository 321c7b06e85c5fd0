package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"matladder/internal/each"
	"matladder/stats/interval"
)

// heat is how many candidates take turns at a time, a reference apart: few enough
// for a machine not to change much within a round.
const heat = 16

// exhausted is what an exhaustive search found.
type exhausted struct {
	list      []Candidate // the whole space
	best, own Candidate   // the fastest of all, and of the kernel's own
	first     Candidate   // of the kernel's own, in its order
	launched  int
	samples   int // of a candidate: the fewest
	spent     time.Duration
	short     time.Duration // until each candidate had interval.Enough samples
}

// standing is how a candidate did in its heat: its time over the reference's.
type standing struct {
	Candidate
	over interval.Interval
}

// exhaust times every candidate of the space. They race in heats, each together with the same
// reference, so that heats compare; none leaves before it has all samples. Those whose interval
// reaches below the upper end of the fastest's then race on in one field of fresh samples, which
// one leaves only when its interval is clear of the leader. The winner's output is verified.
func (a *Auditor) exhaust(ctx context.Context, j Job) (x exhausted, err error) {
	t := &a.Tuner
	space := t.Space
	space.Most = math.MaxInt
	if x.list, err = space.Candidates(j); err != nil {
		return x, err
	}
	first, _, err := t.firstThatRuns(ctx, j, x.list)
	if err != nil {
		return x, err
	}
	first.exe.Close()
	reference := first.Candidate
	begin := t.clock()
	x.samples = math.MaxInt
	all := []standing{{reference, interval.Interval{Center: 1, Lo: 1, Hi: 1}}}
	rest := each.That(x.list, func(c Candidate) bool { return c.Blocks != reference.Blocks })
	size := min(heat, t.atOnce(j)-1)
	heats := max(1, (len(rest)+size-1)/size)
	for h := range heats {
		until := time.Time{}
		if a.Budget > 0 { // what is left, shared with the heats to come and the last race
			now := t.clock()
			until = now.Add((a.Budget - now.Sub(begin)) / time.Duration(heats-h+1))
		}
		field := slices.Concat([]Candidate{reference}, rest[h*size:min(len(rest), (h+1)*size)])
		standings, err := a.heat(ctx, j, field, h, until, &x)
		if err != nil {
			return x, err
		}
		all = append(all, standings...)
		t.observe(Event{Candidates: len(x.list), Screened: len(all)})
	}
	x.launched = len(all)
	slices.SortStableFunc(all, func(a, b standing) int { return cmp.Compare(a.over.Center, b.over.Center) })
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
			return x, fmt.Errorf("%w of the kernel's own", ErrNone)
		}
		x.own = all[i].Candidate
		for _, b := range slices.Backward(j.Kernel.Candidates(j.Problem, space.Model.Machine)) {
			if i := slices.IndexFunc(all, func(s standing) bool { return s.Blocks == b }); i >= 0 {
				x.first = all[i].Candidate
			}
		}
		return x, nil
	}
	return x, fmt.Errorf("%w: all outputs are wrong", ErrNone)
}

// heat times a field, of which the first is the reference, and returns how the
// others that can be launched did. What the reference costs counts once.
func (a *Auditor) heat(ctx context.Context, j Job, list []Candidate, number int, until time.Time, x *exhausted) ([]standing, error) {
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
	field := u.field(list)
	rounds := 0
	err := u.interleave(ctx, j, field, a.rounds(), uint64(number), nil, func(round int, live []*trial) ([]*trial, bool) {
		if rounds = round; round == interval.Enough {
			x.short += spent()
		}
		return live, round >= interval.Enough && !until.IsZero() && u.clock().After(until)
	})
	if err == nil {
		err = field[0].failed
	}
	if err != nil {
		return nil, err
	}
	x.spent += spent()
	x.samples = min(x.samples, rounds)
	var out []standing
	for _, r := range field[1:] {
		if len(r.times) > 0 {
			out = append(out, standing{r.Candidate, interval.OfRatios(r.times, field[0].times)})
		}
	}
	return out, nil
}

// last races those of a sorted list that may be the fastest, and verifies the output
// of the winner.
func (a *Auditor) last(ctx context.Context, j Job, all []standing, until time.Time, x *exhausted) (winner Candidate, wrong bool, err error) {
	u := a.Tuner
	m := newMeter(u.Backend)
	u.Backend = m
	var list []Candidate
	for _, s := range all {
		if s.over.Lo <= all[0].over.Hi && len(list) < u.atOnce(j) {
			list = append(list, s.Candidate)
		}
	}
	left := u.field(list)
	err = u.interleave(ctx, j, left, a.rounds(), math.MaxUint64, nil, func(round int, live []*trial) ([]*trial, bool) {
		if left = live; len(live) == 0 {
			return nil, true
		}
		first := foremost(live, 1)[0]
		left = slices.DeleteFunc(live, func(r *trial) bool {
			over := interval.OfRatios(r.times, first.times)
			return r != first && over.Sure() && over.Lo > 1
		})
		u.observe(Event{Candidates: len(x.list), Screened: x.launched, Racing: len(left), Round: round})
		return left, len(left) == 1 || round >= interval.Enough && !until.IsZero() && u.clock().After(until)
	})
	if err == nil && len(left) == 0 {
		err = fmt.Errorf("%w to the end", ErrNone)
	}
	if err != nil {
		return winner, false, err
	}
	first := foremost(left, 1)[0]
	err = u.verify(ctx, j, first)
	x.spent += m.total()
	return first.Candidate, err != nil, ctx.Err()
}
