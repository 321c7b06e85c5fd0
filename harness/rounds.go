package harness

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"matladder/harness/measure"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/results"
	"matladder/stats"
)

// group is the execution of one Group.
type group struct {
	*run
	number   int
	rng      *rand.PCG
	limited  bool
	begin    time.Time // of what progress tells of: its share, or the time that is left in the end
	deadline time.Time // of its share of the time budget, if limited
	end      time.Time // of the time that is left in the end
	narrowed int       // Event.Narrowed
	halvings int       // of the length of its repetitions, where others had the processors
	weight   float64   // what its fewest rounds take in seconds, about
	before   float64   // progress of the sweep when it begins
	share    float64   // of the sweep

	wide    int           // medians that are not well known, as its share was over before
	last    time.Duration // that a round took
	opening time.Duration // that it takes to compile what is not settled
}

// order is the generator of a group's orders: a function of the seed and the problem alone.
func order(seed int64, p problem.Problem) *rand.PCG {
	h := fnv.New64a()
	a := p.Asked()
	h.Write([]byte(p.String() + string(a.Quant) + string(a.Epilogue) + a.Options + a.Precision.String()))
	return rand.NewPCG(uint64(seed), h.Sum64())
}

// measure takes the candidates through rounds until they are settled. Executables are
// closed when it returns.
func (g *group) measure(ctx context.Context, candidates []*candidate) (err error) {
	defer func() {
		for _, l := range candidates {
			err = errors.Join(err, l.exe.Close())
		}
	}()
	g.keep(candidates)
	if len(candidates) > 0 {
		g.watch.Current = stats.SymptomsOf(&candidates[0].row)
	}
	round := each.Most(candidates, func(l *candidate) int { return l.rounds })
	for range round { // a resumed group goes on with the orders it would have had
		if ctx.Err() != nil {
			return ctx.Err()
		}
		measure.Shuffled(rand.New(g.rng), candidates)
	}
	for g.more(candidates) {
		begin := g.now()
		if err := g.round(ctx, candidates, round); err != nil {
			return err
		}
		round++
		g.last = g.now().Sub(begin)
	}
	g.unsettled(candidates)
	if err := g.append(g.closeAll(candidates)); err != nil {
		return err
	}
	e := g.event(round, 0)
	e.Complete = true
	if g.narrowed == 0 {
		e.Done = g.before + g.share
	}
	g.observe(e)
	return ctx.Err()
}

// unsettled finds out whether more rounds would tell more, and what they take to begin.
func (g *group) unsettled(candidates []*candidate) {
	g.wide, g.opening = 0, 0
	for _, l := range candidates {
		if l.retired || g.rests(l) {
			continue
		}
		g.opening += time.Duration(l.row.CompileSeconds * float64(time.Second))
		if !g.settled(l) {
			g.wide++
		}
	}
}

// closeAll closes the candidates of a group that is settled. One that does not close
// has a row that says so; its figures stand.
func (g *group) closeAll(candidates []*candidate) []results.Record {
	var rows []results.Record
	for _, l := range candidates {
		if err := l.exe.Close(); err != nil {
			rows = append(rows, l.because(l.rounds, results.Failed, "close: "+err.Error()))
		}
	}
	return rows
}

// round is one pass over all candidates that go on. Its rows are written together or,
// if ctx is cancelled, not at all.
func (g *group) round(ctx context.Context, candidates []*candidate, round int) error {
	type turn struct {
		*candidate
		first, end int // of its rows
	}
	var turns []turn
	var rows []results.Record
	conditions, err := measure.Round(ctx, g.watch, rand.New(g.rng), candidates, func(place int, l *candidate) error {
		if l.retired || g.rests(l) {
			return nil
		}
		if l.Status != "" {
			l.retired, rows = true, append(rows, l.because(round, l.Status, l.Reason))
			return nil
		}
		if deaths := g.turns.begin(&l.row, round); deaths >= mostDeaths {
			l.retired, rows = true, append(rows, l.because(round, results.Crashed, fmt.Sprintf(
				"the process ended %d times in this point's turn of round %d, most likely killed for want of memory: passed over", deaths, round)))
			return nil
		}
		some, err := g.turn(ctx, l, round)
		if err != nil {
			return err
		}
		turns = append(turns, turn{l, len(rows), len(rows) + len(some)})
		rows = append(rows, some...)
		e := g.event(round, float64(place+1)/float64(len(candidates)))
		e.Kernel = l.Name()
		g.observe(e)
		return nil
	})
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Conditions = measure.During(conditions, rows[i].Conditions)
	}
	if err := g.append(rows); err != nil {
		return err
	}
	crowded := false
	for _, t := range turns {
		for i := range rows[t.first:t.end] {
			t.add(&rows[t.first+i])
		}
		crowded = g.crowded(t.candidate, rows[t.first:t.end]) || crowded
	}
	if crowded {
		g.halvings = min(g.halvings+2, mostHalvings)
	}
	e := g.event(round+1, 0)
	e.Rows = rows
	g.observe(e)
	return nil
}

// because is a row that says what became of a candidate in a round.
func (l *candidate) because(round int, status results.Status, reason string) results.Record {
	row := l.row
	row.Round, row.Status, row.Reason = round, status, reason
	return row
}

// more reports whether another round is needed and there is time for it. A point
// without a row always gets a round.
func (g *group) more(candidates []*candidate) bool {
	open, settled := 0, 0
	for _, l := range candidates {
		switch {
		case l.retired:
			continue
		case l.rounds == 0:
			return true
		}
		open++
		if g.settled(l) {
			settled++
		}
	}
	if open == settled {
		return false
	}
	return !g.limited || !g.now().Add(g.last).After(g.deadline)
}

// keep marks the candidates that stay open from round to round: as many as fit half of the free
// memory beside the largest of the others, which are reopened in each round.
func (g *group) keep(candidates []*candidate) {
	limit := g.sweep.Memory / 2 // the rest is for whatever else runs here
	bytes := func(l *candidate) int64 { return l.bytes }
	largest := each.Most(candidates, bytes)
	if limit == 0 || each.Sum(candidates, bytes) <= limit {
		largest = 0
	}
	sum := int64(0)
	for _, l := range candidates {
		if limit == 0 || sum+l.bytes+largest <= limit {
			l.resident = true
			sum += l.bytes
		}
	}
}

// event is the state after a number of rounds and a part of the next. How many
// there will be is not known: as many as the time is for, and the fewest at least.
func (g *group) event(rounds int, part float64) Event {
	e := Event{
		Group: g.number + 1, Groups: len(g.sweep.Groups), Problem: g.sweep.Groups[g.number].Problem,
		Round: rounds, Narrowed: g.narrowed,
	}
	of := func(end time.Time) float64 { return ratio(g.now().Sub(g.begin).Seconds(), end.Sub(g.begin).Seconds()) }
	if g.narrowed > 0 {
		e.Done = of(g.end)
		return e
	}
	done := min(1, (float64(rounds)+part)/float64(g.sweep.Config.MinRounds))
	if g.limited && g.deadline.After(g.begin) {
		done = min(done, of(g.deadline))
	}
	e.Done = g.before + done*g.share
	return e
}

// Where other programs want the processors, a thread keeps one for a few milliseconds at a
// time. A repetition of measure.Shortest then hardly ever has all that it needs, and a short
// one often: on two threads, beside four busy processes on four cores, 1 of 100 of the former
// ran undisturbed, and 55 of 100 of the latter (EPYC Zen 5, 2026-11-23). So repetitions become a quarter as long, and
// then half of that.
//
// All of a group become shorter together, and as many launches as ever go ahead of each, or
// the result would depend on who was disturbed. Four threads that a pause has put to sleep
// take some milliseconds until each has a core of its own. Behind 5 ms of launches, 0.5 ms of
// 256×256×256 took 96 µs a launch, as 5 ms did, and 180 µs behind no more than 0.5 ms
// (EPYC Zen 3, 2026-11-24).
const mostHalvings = 3

// crowded reports whether others had the processors in all repetitions of a candidate's turn, and
// whether these can be shorter. If launches are much shorter than they seemed, calibrating
// was disturbed too: the next repetitions have as many as they have room for.
func (g *group) crowded(l *candidate, rows []results.Record) bool {
	c := &l.counts
	if c.Longer > 0 || g.sweep.Config.Cache == results.Cold || l.retired || len(rows) == 0 {
		return false
	}
	fastest, beside := c.Each, c.Halved(g.halvings).Launches > 1
	for i := range rows {
		fastest = min(fastest, time.Duration(rows[i].Seconds/float64(rows[i].Launches)*float64(time.Second)))
		beside = beside && g.watch.Disturbances.Of(stats.SymptomsOf(&rows[i]))&stats.Waited != 0
	}
	if fastest <= c.Each/2 {
		c.Expect(fastest)
		g.settle(l)
	}
	return beside
}
