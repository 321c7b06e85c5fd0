package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"matladder/harness/tuned"
	"matladder/stats/interval"
	"matladder/tile"
)

const (
	confirmSitting = 2  // rounds with the same executables
	mostConfirming = 24 // rounds
	mostRivals     = 3
)

// confirm races the winner of a race against what is taken without it, the best of the candidates
// that are given, in paired rounds of fresh samples: those of the race are the ones that the
// winner was chosen for. Where these do not show that it is faster, the best that is given is
// kept. It returns which of them stays, with the evidence of the race and of this.
func (t *Tuner) confirm(ctx context.Context, j Job, order []*Trial, launched int, a *allowance, p *patience) (*Trial, tuned.Evidence, error) {
	winner := order[0]
	c := contest{winner: fresh(winner), given: winner.given()}
	var first *Trial // of those that are given
	if c.given {
		first = winner
	}
	for _, r := range order[1:] {
		if r.given() && len(c.rivals) < mostRivals && (first == nil || !r.clearlyBehind(first)) {
			c.rivals = append(c.rivals, fresh(r))
			first = cmp.Or(first, r)
		}
	}
	c.open = slices.Clone(c.rivals)
	for n := 0; len(c.open) > 0 && n < mostConfirming; n += confirmSitting {
		field := append([]*Trial{c.winner}, c.open...)
		if err := t.interleave(ctx, j, field, confirmSitting, j.seed("confirm ")+uint64(n), p, nil); err != nil {
			return nil, tuned.Evidence{}, err
		}
		if c.winner.Failed != nil {
			return winner, tuned.Evidence{}, c.winner.Failed
		}
		done := n + confirmSitting
		t.observe(Event{Candidates: launched, Screened: launched, Racing: len(field), Round: done})
		if done%interval.Enough != 0 { // few verdicts: each has its chance of being wrong
			continue
		}
		if c.judge() || len(c.open) > 0 && done < mostConfirming && a.over(1) {
			break
		}
	}
	kept := c.kept()
	e := c.evidence(kept, order)
	e.Launched = launched
	return kept, e, nil
}

// fresh is a trial without samples.
func fresh(r *Trial) *Trial {
	return &Trial{Candidate: r.Candidate, params: r.params, problem: r.problem, fastest: r.fastest, first: r.first}
}

// clearlyBehind reports whether the race showed a trial to be slower than another.
func (r *Trial) clearlyBehind(other *Trial) bool {
	if min(len(r.Times), len(other.Times)) == 0 {
		return r.first > clearly*other.first
	}
	over := interval.OfRatios(r.Times, other.Times)
	return over.Lo > clearly || over.Sure() && over.Lo > 1
}

// contest is a winner against those that are given.
type contest struct {
	winner *Trial
	given  bool // the winner is given itself
	rivals []*Trial
	open   []*Trial // of these: the winner is not clearly faster yet
}

// judge drops the rivals that are surely slower, and reports whether one is surely not.
func (c *contest) judge() (over bool) {
	c.open = slices.DeleteFunc(c.open, func(r *Trial) bool {
		ratio := interval.OfRatios(r.Times, c.winner.Times)
		switch {
		case r.Failed != nil: // cannot be launched any more
			return true
		case !ratio.Sure():
		case c.given:
			over = over || ratio.Hi < 1
			return ratio.Lo > 1-alike
		default:
			over = over || ratio.Hi < 1+alike || ratio.Median < 1 && len(r.Times) >= 2*interval.Enough
			return ratio.Lo > 1 && ratio.Median > 1+alike/2
		}
		return false
	})
	return over
}

// kept is who stays: a rival that the winner is not clearly faster than, or, of two
// that are given, the faster.
func (c *contest) kept() *Trial {
	kept, least := c.winner, math.Inf(1)
	if c.given {
		least = 1
	}
	for _, r := range c.open {
		if over := r.over(c.winner); over < least {
			kept, least = r, over
		}
	}
	return kept
}

// evidence is that of the race, in terms of who was kept and with the fresh samples
// where there are some.
func (c *contest) evidence(kept *Trial, order []*Trial) tuned.Evidence {
	winner := order[0]
	scale := 1.0 // the winner's time over that of who was kept
	if kept != c.winner {
		scale = c.winner.over(kept)
	}
	e := tuned.Evidence{Mode: tuned.Measured, Tried: map[tile.Blocks]float64{}}
	for _, r := range order {
		if len(r.Times) > 0 || r == winner {
			e.Tried[r.Blocks] = round(scale * r.over(winner))
		}
	}
	for _, r := range append([]*Trial{c.winner}, c.rivals...) {
		if len(r.Times) > 0 {
			e.Tried[r.Blocks] = round(r.over(kept))
		}
	}
	e.Tried[kept.Blocks] = 1
	samples := kept.Times
	if len(samples) == 0 {
		samples = winner.Times
	}
	if len(samples) == 0 { // it had no rival
		samples = []float64{winner.fastest}
	}
	times := interval.Of(samples)
	e.Seconds, e.Low, e.High, e.Samples = times.Median, times.Lo, times.Hi, times.N
	e.RunnerUp, e.Behind = runnerUp(kept.Blocks, e.Tried)
	others := c.rivals
	if kept != c.winner {
		others = []*Trial{c.winner}
	}
	others = slices.DeleteFunc(slices.Clone(others), func(r *Trial) bool { return len(r.Times) == 0 })
	if len(others) > 0 {
		rival := slices.MinFunc(others, func(a, b *Trial) int { return cmp.Compare(a.over(kept), b.over(kept)) })
		ratio := interval.OfRatios(rival.Times, kept.Times)
		e.Confirmed = tuned.Confirmation{Rival: rival.Blocks, Ratio: round(ratio.Median), Low: round(ratio.Lo), High: round(ratio.Hi), Rounds: ratio.N}
	}
	return e
}

// runnerUp is the fastest beside the winner, and how far it is behind.
func runnerUp(winner tile.Blocks, tried map[tile.Blocks]float64) (second tile.Blocks, behind float64) {
	for b, ratio := range tried {
		if d := round(ratio - 1); b != winner && (second == (tile.Blocks{}) || d < behind || d == behind && b.String() < second.String()) {
			second, behind = b, d
		}
	}
	return second, behind
}

// round leaves four digits after the point: more is noise.
func round(ratio float64) float64 { return math.Round(ratio*1e4) / 1e4 }
