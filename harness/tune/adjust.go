package tune

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/stats/interval"
	"matladder/tile"
)

const (
	mostKeys       = 3    // that adjustments may add to the parameters
	mostTries      = 3    // of those that seem faster are confirmed, what the job knows apart
	inPairs        = 5    // of those that seem not to matter race in pairs
	adjustSittings = 2    // of a race of adjustments: executables are rebuilt for each
	adjustRounds   = 3    // of a sitting
	heat           = 16   // that take turns at a time: few, for a machine not to change much within a round
	farBehind      = 0.03 // an adjustment that is slower by more in every round is out of the race

	// leastConfirming is in rounds. It takes more than for block shapes to contradict a rule of
	// the backend: six rounds did so by 3 % at the time of a neighbour's noise, and never again.
	leastConfirming = 2 * interval.Enough
)

// adjusting is the search for parameters that make a block shape faster.
type adjusting struct {
	t         *Tuner
	j         Job
	allowance *allowance
	patience  *patience
	backend   backend.Adjuster
	launched  int // block shapes, for progress
	known     []*Trial
	seen      map[string]bool // by look
	seed      uint64
	plain     *Trial   // the block shape that was found, without
	best      *Trial   // what stays so far
	shown     []*Trial // plain and best with the samples of the confirmation that took best
	tried     int
}

// adjust races the block shape that was found against adjustments of it and what the
// job knows with parameters, and puts the parameters that are shown to be faster into
// the row with their evidence. Backends that are no Adjuster have none.
func (t *Tuner) adjust(ctx context.Context, j Job, list []Candidate, winner *Trial, a *allowance, row *tuned.Row) error {
	b, ok := t.Backend.(backend.Adjuster)
	if !ok {
		return nil
	}
	s := &adjusting{
		t: t, j: j, allowance: a, patience: t.patience(), backend: b, launched: row.Evidence.Launched,
		seen: map[string]bool{}, seed: j.seed("adjust "), plain: winner, best: winner,
	}
	if err := s.knows(list); err != nil {
		return err
	}
	if err := s.search(ctx); err != nil && ctx.Err() != nil {
		return ctx.Err()
	} // any other error is that of an adjustment: what was found before stands without it
	s.put(row)
	return nil
}

// look tells trials apart.
func (r *Trial) look() string { return r.Blocks.String() + " " + r.params.String() }

// knows makes trials of what the job knows with parameters.
func (s *adjusting) knows(list []Candidate) error {
	for _, answer := range s.j.Known {
		params, err := answer.AddTo(s.t.Params)
		if err != nil {
			return fmt.Errorf("known %s: %w", answer, err)
		}
		i := slices.IndexFunc(list, func(c Candidate) bool { return c.Blocks == answer.Blocks })
		r := &Trial{params: params}
		if i >= 0 && len(params.Extra) > len(s.t.Params.Extra) {
			r.Candidate = list[i]
			s.known = append(s.known, r)
			s.seen[r.look()] = true
		}
	}
	return nil
}

// search takes one adjustment after another, each beside those that were taken or a
// number farther than one of these, and where none alone is faster a pair.
func (s *adjusting) search(ctx context.Context) error {
	others := s.known
	for {
		if s.best != s.plain && s.t.AtOnce(s.j) < 3 {
			return nil // plain, best and another cannot be loaded together
		}
		field, err := s.race(ctx, slices.Concat(s.more(ctx, s.best), s.farther(ctx, s.best), others))
		if err != nil {
			return err
		}
		taken, err := s.take(ctx, field)
		if err == nil && !taken && s.best == s.plain {
			if field, err = s.race(ctx, s.pairs(ctx, field)); err != nil {
				return err
			}
			taken, err = s.take(ctx, field)
		}
		if err != nil || !taken {
			return err
		}
		others = nil
	}
}

// more are the adjustments of a trial by one more key, while it may have more.
func (s *adjusting) more(ctx context.Context, r *Trial) []*Trial {
	if len(r.params.Extra) >= len(s.t.Params.Extra)+mostKeys {
		return nil
	}
	return s.unseen(ctx, r, func(extra map[string]string) bool { return len(extra) > len(r.params.Extra) })
}

// farther are the adjustments of a trial by another number of a key that it has, and the
// tuner's parameters have not: a backend names numbers near those that it would take,
// and the best may be beyond. Of words it names all at once.
func (s *adjusting) farther(ctx context.Context, r *Trial) []*Trial {
	if r == s.plain {
		return nil
	}
	return s.unseen(ctx, r, func(extra map[string]string) bool {
		for k, v := range extra {
			if r.params.Extra[k] != v {
				_, own := s.t.Params.Extra[k]
				_, err := strconv.Atoi(v)
				return !own && err == nil && len(extra) == len(r.params.Extra)
			}
		}
		return false
	})
}

// unseen are the adjustments of a trial that were not looked at yet, of those that are wanted.
func (s *adjusting) unseen(ctx context.Context, r *Trial, wanted func(extra map[string]string) bool) []*Trial {
	list, err := s.backend.Adjustments(ctx, r.Programs, r.params)
	if err != nil {
		return nil
	}
	var out []*Trial
	for _, params := range list {
		with := &Trial{Candidate: r.Candidate, params: params}
		if wanted(params.Extra) && !s.seen[with.look()] {
			s.seen[with.look()] = true
			out = append(out, with)
		}
	}
	return out
}

// pairs are adjustments of adjustments, of the fastest of a field: both alone are in it.
func (s *adjusting) pairs(ctx context.Context, field []*Trial) []*Trial {
	field = slices.DeleteFunc(slices.Clone(field), func(r *Trial) bool {
		return r.Blocks != s.best.Blocks || len(r.params.Extra) > len(s.best.params.Extra)+1 // known, and more than that
	})
	field = field[:min(len(field), inPairs)]
	var out []*Trial
	for _, r := range field {
		for _, both := range s.more(ctx, r) {
			if slices.ContainsFunc(field, func(o *Trial) bool {
				return o != r && both.hasAll(o.params.Extra)
			}) {
				out = append(out, both)
			}
		}
	}
	return out
}

// hasAll reports whether the trial has all of some parameters.
func (r *Trial) hasAll(extra map[string]string) bool {
	for k, v := range extra {
		if r.params.Extra[k] != v {
			return false
		}
	}
	return true
}

// race times a field against the best so far, in heats if not all can be loaded at
// once, and returns those that are not clearly slower, the fastest first.
func (s *adjusting) race(ctx context.Context, all []*Trial) ([]*Trial, error) {
	var left []*Trial
	for list := range slices.Chunk(all, min(heat, s.t.AtOnce(s.j)-1)) {
		if s.allowance.over(1) {
			break
		}
		reference, live := fresh(s.best), slices.Clone(list)
		for n := 0; n < adjustSittings && len(live) > 0; n++ {
			if n > 0 && s.allowance.over(1) {
				break
			}
			if err := s.rounds(ctx, append([]*Trial{reference}, live...), adjustRounds, n*adjustRounds); err != nil {
				return nil, err
			}
			if reference.Failed != nil {
				return nil, reference.Failed
			}
			if n == 0 {
				s.tried += len(slices.DeleteFunc(slices.Clone(live), func(r *Trial) bool { return len(r.Times) == 0 }))
			}
			live = slices.DeleteFunc(live, func(r *Trial) bool {
				// It cannot be launched, or is far behind in every round.
				return len(r.Times) < len(reference.Times) || interval.OfRatios(r.Times, reference.Times).Lo > 1+farBehind
			})
		}
		for _, r := range live {
			r.first = r.over(reference)
		}
		left = append(left, live...)
	}
	slices.SortStableFunc(left, func(a, b *Trial) int { return cmp.Compare(a.first, b.first) })
	return left, nil
}

// rounds interleaves a field for some rounds, after those that are over.
func (s *adjusting) rounds(ctx context.Context, field []*Trial, most, over int) error {
	s.seed++
	return s.t.interleave(ctx, s.j, field, most, s.seed, s.patience, func(round int, live []*Trial) ([]*Trial, bool) {
		s.t.observe(Event{Candidates: s.launched, Screened: s.launched, Racing: len(live), Round: over + round, Adjusting: true})
		return live, false
	})
}

// take confirms those of a field that seem faster, one after another, and takes the
// first that is, if its output is right.
func (s *adjusting) take(ctx context.Context, field []*Trial) (taken bool, err error) {
	for i, r := range field {
		if i >= mostTries && !slices.Contains(s.known, r) {
			continue
		}
		if r.first > 1-alike/2 || s.allowance.over(1) {
			return false, nil
		}
		samples, err := s.confirm(ctx, r)
		if err != nil {
			return false, err
		}
		if samples == nil {
			continue
		}
		err = s.t.possible(ctx, s.j.Problem, interval.Of(samples[1].Times).Hi)
		if err == nil {
			err = s.t.Verify(ctx, s.j, r)
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil {
			s.t.drop(r, err)
			continue
		}
		s.best, s.shown = r, samples
		return true, nil
	}
	return false, nil
}

// confirm races an adjustment against the best so far and against the block shape
// without any, in paired rounds of fresh samples: those of the race are the ones that it
// was chosen for. It returns the last and the first with their samples if these show the
// adjustment to be faster than both by what matters, and nil if not.
func (s *adjusting) confirm(ctx context.Context, r *Trial) ([]*Trial, error) {
	plain, next := fresh(s.plain), fresh(r)
	best, field := plain, []*Trial{plain, next}
	if s.best != s.plain {
		best = fresh(s.best)
		field = append(field, best)
	}
	for done := 1; done <= mostConfirming; done++ {
		// Executables are rebuilt for each round, in turns first and last: the luck of
		// their places in memory is most of what could deceive.
		slices.Reverse(field)
		if err := s.rounds(ctx, field, 1, done-1); err != nil {
			return nil, err
		}
		if min(len(next.Times), len(best.Times)) < done { // cannot be launched any more
			return nil, nil
		}
		if done%interval.Enough != 0 { // few verdicts: each has its chance of being wrong
			continue
		}
		faster, slower := true, false
		for _, other := range field {
			if other == next {
				continue
			}
			over := interval.OfRatios(other.Times, next.Times)
			faster = faster && over.Sure() && over.Lo > 1+alike
			slower = slower || over.Sure() && over.Hi < 1+alike || over.Median < 1 // or not by what matters
		}
		switch {
		case faster && done >= leastConfirming:
			return []*Trial{plain, next}, nil
		case slower || done < mostConfirming && s.allowance.over(1):
			return nil, nil
		}
	}
	return nil, nil
}

// put writes what was found into the row.
func (s *adjusting) put(row *tuned.Row) {
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
	if s.shown == nil { // predicted
		gain := max(1, round(s.plain.first/s.best.first))
		e.Seconds, e.Low, e.High = s.best.first, s.best.first, s.best.first
		e.Adjusted.Gain, e.Adjusted.Low, e.Adjusted.High = gain, gain, gain
		return
	}
	plain, best := s.shown[0], s.shown[1]
	times, gain := interval.Of(best.Times), interval.OfRatios(plain.Times, best.Times)
	e.Seconds, e.Low, e.High, e.Samples = times.Median, times.Lo, times.Hi, times.N
	e.Adjusted.Gain, e.Adjusted.Low, e.Adjusted.High, e.Adjusted.Rounds = round(gain.Median), round(gain.Lo), round(gain.Hi), len(best.Times)
}

// rebase makes evidence that of another block shape: one that is known, and faster with
// its parameters than the one that was found, with those that it could have.
func rebase(e *tuned.Evidence, b tile.Blocks) {
	tried := map[tile.Blocks]float64{}
	if scale, ok := e.Tried[b]; ok {
		for other, ratio := range e.Tried {
			tried[other] = round(ratio / scale)
		}
	}
	tried[b] = 1
	e.Tried, e.Confirmed = tried, tuned.Confirmation{}
	e.RunnerUp, e.Behind = runnerUp(b, tried)
}
