package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"matladder/backend"
	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/stats/interval"
	"matladder/tile"
)

// Auditor compares the tuner with an exhaustive search of the space that it draws
// its candidates from.
type Auditor struct {
	Tuner  tune.Tuner    // as it is; its Budget is that of its own search
	Rounds int           // samples of each candidate of the exhaustive search; 0 for thirty
	Budget time.Duration // of the exhaustive search of one job, in which each candidate has its fewest samples; 0 for no limit

	now func() time.Time // the clock; nil for the real one
}

func (a *Auditor) clock() time.Time {
	if a.now != nil {
		return a.now()
	}
	return time.Now()
}

// Search is what a search for the fastest block shape found and cost.
type Search struct {
	Blocks     tile.Blocks
	Candidates int           // block shapes that were launched
	Launching  time.Duration // of all launches, warm-ups included, as the backend timed them
	Elapsed    time.Duration // wall time: compiling, making inputs and verifying included
}

// Audit is what an audit of one job found. How many times as fast one block shape is as another is
// the interval of the ratios of interleaved samples: 1, of none, if both are the same shape.
type Audit struct {
	Row               tuned.Row // the tuner's
	Tuner, Exhaustive Search
	Default           tile.Blocks       // of the kernel's own candidates the fastest in the exhaustive search
	First             tile.Blocks       // of those that can be launched the first: what is taken where nothing is tuned and none is raced
	Samples           int               // of a candidate of the exhaustive search: the fewest
	Short             time.Duration     // launches of an exhaustive search that stops at the fewest samples that have a 95 % interval
	OverExhaustive    interval.Interval // the tuner's block shape against that of the exhaustive search
	OverDefault       interval.Interval // and against Default
	OverFirst         interval.Interval // that of the exhaustive search against First: how many times as long First takes
}

// comparisons is how many sittings the last race has: executables are rebuilt for
// each, so that no block shape has the luck of one place in memory.
const comparisons = 3

// Audit runs the tuner on a job, then the exhaustive search, and races the block shapes that they
// chose, the kernel's own best and its first against each other in rounds of fresh samples.
// Backends that predict are refused: their tuner compares all that it compiles.
func (a *Auditor) Audit(ctx context.Context, j tune.Job) (Audit, error) {
	t := &a.Tuner
	if _, ok := t.Backend.(backend.Predictor); ok {
		return Audit{}, errors.New("nothing to race: this backend predicts")
	}
	var out Audit
	var err error
	u := *t
	m := newMeter(t.Backend)
	u.Backend = m
	begin := a.clock()
	if out.Row, err = u.Tune(ctx, j); err != nil {
		return Audit{}, err
	}
	out.Tuner = Search{out.Row.Blocks, len(m.spent), m.total(), a.clock().Sub(begin)}

	begin = a.clock()
	x, err := a.exhaust(ctx, j)
	if err != nil {
		return Audit{}, fmt.Errorf("%s: exhaustive: %w", j.Key(), err)
	}
	out.Exhaustive = Search{x.best.Blocks, x.launched, x.spent, a.clock().Sub(begin)}
	out.Default, out.First, out.Samples, out.Short = x.own.Blocks, x.first.Blocks, x.samples, x.short

	i := slices.IndexFunc(x.list, func(c tune.Candidate) bool { return c.Blocks == out.Row.Blocks })
	if err := a.compare(ctx, j, &out, x.list[i], x); err != nil {
		return Audit{}, fmt.Errorf("%s: %w", j.Key(), err)
	}
	return out, nil
}

// compare races the tuner's block shape and those of an exhaustive search, of which some may
// be the same, in interleaved rounds.
func (a *Auditor) compare(ctx context.Context, j tune.Job, out *Audit, ours tune.Candidate, x exhausted) error {
	times := map[tile.Blocks][]float64{}
	var list []tune.Candidate
	for _, c := range []tune.Candidate{ours, x.best, x.own, x.first} {
		if !slices.ContainsFunc(list, func(o tune.Candidate) bool { return o.Blocks == c.Blocks }) {
			list = append(list, c)
		}
	}
	each := (max(a.rounds(), 2*interval.Enough) + comparisons - 1) / comparisons
	for sitting := range comparisons {
		if len(list) == 1 {
			break
		}
		field, err := a.Tuner.Race(ctx, j, list, each, uint64(sitting), nil)
		if err != nil {
			return err
		}
		for _, r := range field {
			if r.Failed != nil {
				return fmt.Errorf("%s cannot be launched any more: %w", r.Blocks, r.Failed)
			}
			times[r.Blocks] = append(times[r.Blocks], r.Times...)
		}
	}
	out.OverExhaustive = paired(times, x.best.Blocks, ours.Blocks)
	out.OverDefault = paired(times, x.own.Blocks, ours.Blocks)
	out.OverFirst = paired(times, x.first.Blocks, x.best.Blocks)
	return nil
}

// paired is how many times as long samples of one shape are as those of another.
func paired(times map[tile.Blocks][]float64, long, short tile.Blocks) interval.Interval {
	if long == short {
		return interval.Interval{Median: 1, Lo: 1, Hi: 1}
	}
	return interval.OfRatios(times[long], times[short])
}

// rounds is how many samples a candidate has.
func (a *Auditor) rounds() int { return max(interval.Enough, cmp.Or(a.Rounds, 30)) }
