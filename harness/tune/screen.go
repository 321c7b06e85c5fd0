package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"matladder/stats/interval"
	"matladder/tile"
)

const (
	screeningPart = 0.5 // of a job's time, after which no other candidates are looked at

	trials     = 7   // that the screening leaves, those that are given apart
	tooSlow    = 1.5 // times the fastest in the screening: not in the race
	hopeless   = 3   // times the reference when it is warmed up: no sample
	glances    = 4   // of a candidate at most
	worthwhile = 1.3 // times the fastest: its neighbours are not worth a launch
)

// screening finds out which candidates are worth a race: those that are given, the first by their
// counts, and then, step by step, the neighbours of the fastest. Each is timed next to a
// reference, so that a slow moment of the machine is not held against it.
type screening struct {
	t         *Tuner
	j         Job
	all       []Candidate
	allowance *allowance
	reference *Trial               // open
	pace      float64              // seconds of a launch of it, the last time
	field     []*Trial             // looked at
	looked    map[tile.Blocks]bool // also those that cannot be launched
	others    int                  // of these, without those that are given
}

// screen looks at the candidates and returns those that are worth a race, closed,
// the fastest first, and how many were launched.
func (t *Tuner) screen(ctx context.Context, j Job, all []Candidate, a *allowance) ([]*Trial, int, error) {
	s := &screening{t: t, j: j, all: all, allowance: a, looked: map[tile.Blocks]bool{}}
	var err error
	if s.reference, s.pace, err = t.firstThatRuns(ctx, j, all); err != nil {
		return nil, 0, err
	}
	defer s.reference.exe.Close()
	if err := a.claim(s.leastShare()); err != nil {
		return nil, 0, err
	}
	for _, c := range givenFirst(all) {
		if c.given() || s.others < (t.Space.Most+1)/2 {
			if err := s.look(ctx, c); err != nil {
				return nil, 0, err
			}
		}
	}
	if err := s.climb(ctx); err != nil {
		return nil, 0, err
	}
	launched := len(s.field)
	if launched == 0 {
		return nil, 0, fmt.Errorf("%w a second time", ErrNone)
	}
	return s.best(), launched, nil
}

// look times one candidate between two samples of the reference, if it was not and there is time.
func (s *screening) look(ctx context.Context, c Candidate) error {
	if s.looked[c.Blocks] {
		return nil
	}
	t := s.t
	// Others are given up for want of time, those that are given are not.
	if !c.given() && s.allowance.over(screeningPart) {
		return nil
	}
	s.looked[c.Blocks] = true
	if !c.given() {
		s.others++
	}
	r := t.trial(c)
	err := s.glance(ctx, r)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		s.field = append(s.field, r)
	} else {
		t.drop(r, err)
	}
	t.observe(Event{Candidates: s.total(), Screened: len(s.looked), Racing: len(s.field)})
	return nil
}

// glance opens a trial for a sample, which is taken again if the reference is not as
// fast after it as it was before.
func (s *screening) glance(ctx context.Context, r *Trial) error {
	if err := s.t.open(ctx, s.j, r); err != nil {
		return err
	}
	defer r.exe.Close()
	if r.first = r.fastest / s.pace; r.first > hopeless {
		return nil
	}
	for range glances {
		seconds, err := s.t.sample(ctx, r, glance)
		if err != nil {
			return err
		}
		before := s.pace
		if s.pace, err = s.t.sample(ctx, s.reference, glance); err != nil {
			return err
		}
		r.first = 2 * seconds / (before + s.pace)
		if max(before, s.pace) < slowBy*min(before, s.pace) {
			break
		}
	}
	return nil
}

// total is how many candidates are looked at if time allows.
func (s *screening) total() int { return min(len(s.all), countGiven(s.all)+s.t.Space.Most) }

// leastShare is about how long a search takes that is just worth its row, by the times
// of the reference: all that are given and the least number of others are looked at, the
// race has its first rounds and the confirmation its fewest, and the output is verified.
// Adjustments are no part of it: a block shape is worth its row without.
func (s *screening) leastShare() time.Duration {
	t, r := s.t, s.reference
	sample := func(d time.Duration) time.Duration { return max(d, time.Duration(r.fastest*1e9)) }
	times := func(n int, d time.Duration) time.Duration { return time.Duration(n) * d }

	given := countGiven(s.all)
	looks := given + min(leastOthers, t.Space.Most, len(s.all)-given)
	screening := times(looks, r.opening+2*sample(glance))

	field := min(looks, given+trials, t.AtOnce(s.j))
	race := times(field, r.opening+times(stages[0].rounds, sample(sampleTime)))
	sitting := times(1+min(given, mostRivals), r.opening+times(confirmSitting, sample(sampleTime)))
	rest := race + times(interval.Enough/confirmSitting, sitting) + r.opening
	return max(time.Duration(float64(screening)/screeningPart), time.Duration(float64(rest)/(1-screeningPart)))
}

// climb looks at the neighbours of the fastest, then at those of the fastest whose
// neighbours are not known yet, and so on.
func (s *screening) climb(ctx context.Context) error {
	at := map[tile.Blocks]Candidate{}
	for _, c := range s.all {
		at[c.Blocks] = c
	}
	done := map[tile.Blocks]bool{}
	for s.others < s.t.Space.Most {
		var from *Trial
		fastest := math.Inf(1)
		for _, r := range s.field {
			fastest = min(fastest, r.first)
			if !done[r.Blocks] && (from == nil || r.first < from.first) {
				from = r
			}
		}
		if from == nil || from.first > worthwhile*fastest {
			return nil
		}
		done[from.Blocks] = true
		for _, b := range neighbours(s.all, from.Blocks) {
			if c, ok := at[b]; ok && s.others < s.t.Space.Most {
				if err := s.look(ctx, c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// neighbours are the block shapes one step away along one side; not all of them need
// be in the list, whose lengths are the steps.
func neighbours(list []Candidate, b tile.Blocks) []tile.Blocks {
	var out []tile.Blocks
	for i := range 3 {
		here := *lengthOf(&b, i)
		below, above := 0, math.MaxInt
		for _, c := range list {
			switch n := *lengthOf(&c.Blocks, i); {
			case n < here:
				below = max(below, n)
			case n > here:
				above = min(above, n)
			}
		}
		for _, n := range []int{below, above} {
			next := b
			*lengthOf(&next, i) = n
			out = append(out, next)
		}
	}
	return out
}

// best are the trials worth a race, the fastest first.
func (s *screening) best() []*Trial {
	slices.SortStableFunc(s.field, func(a, b *Trial) int { return cmp.Compare(a.first, b.first) })
	fastest := s.field[0].first
	others := 0
	field := slices.DeleteFunc(s.field, func(r *Trial) bool {
		if r.given() {
			return false
		}
		others++
		return others > trials || r.first > tooSlow*fastest
	})
	most := min(len(field), s.t.AtOnce(s.j))
	if i := slices.IndexFunc(field, func(r *Trial) bool { return r.given() }); i >= most {
		field[most-1] = field[i]
	}
	return field[:most]
}
