package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
)

// state says how far a job is.
type state int

const (
	untuned state = iota
	short         // has a row whose search was ended by the budget
	aged          // has one of other versions
	done
)

// endedByBudget reports whether the search for a row was cut short.
func endedByBudget(r tuned.Row) bool { return r.Evidence.Ended == tuned.ByBudget }

// state is that of a job by its row in a table.
func stateOf(j tune.Job, table *tuned.Table, versions string) state {
	row, ok := table.Row(j.Key())
	switch {
	case !ok:
		return untuned
	case endedByBudget(row):
		return short
	case row.Evidence.Versions != versions:
		return aged
	}
	return done
}

// todo are the jobs that are not done, in the order of their states; with --again also
// the others.
func (f *flags) todo(all []tune.Job, of func(tune.Job) state) []tune.Job {
	jobs := slices.Clone(all)
	if !f.again {
		jobs = slices.DeleteFunc(jobs, func(j tune.Job) bool { return of(j) >= aged })
	}
	slices.SortStableFunc(jobs, func(a, b tune.Job) int { return cmp.Compare(of(a), of(b)) })
	return jobs
}

// shares says how what is left of the budget is shared by jobs in their order: alike by
// those of a state, before those of the next have any. One whose search was ended by the
// budget has half of what is left: as much as before would end as before.
func shares(jobs []tune.Job, of func(tune.Job) state) func(i int, left time.Duration) time.Duration {
	states := each.Of(jobs, of)
	return func(i int, left time.Duration) time.Duration {
		alike := slices.IndexFunc(states[i:], func(s state) bool { return s != states[i] })
		switch {
		case states[i] == short:
			alike = 2
		case alike < 0:
			alike = len(states) - i
		}
		return left / time.Duration(alike)
	}
}

// tally is what became of the jobs of a run.
type tally struct {
	done, failed, left int
	least              time.Duration // that one of those left for want of time needs; 0 if none says
}

// each measures one job after another while the time budget lasts: share is what one
// gets of it, and left what it may have if it needs more for its row to be worth
// keeping; 0 is no limit. What measure returns keeps the result, once progress is off
// the screen. Jobs that fail and those that no time was left for are told and counted.
func (f *flags) each(ctx context.Context, begin time.Time, jobs []tune.Job, shareOf func(i int, left time.Duration) time.Duration, stderr io.Writer,
	measure func(what string, j tune.Job, share, left time.Duration, observe func(tune.Event)) (keep func() error, err error),
) (t tally, err error) {
	p := &progress{w: stderr, tty: cli.Terminal(stderr)}
	for i, j := range jobs {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		var share, left time.Duration
		if f.budget > 0 {
			if left = f.budget - time.Since(begin); left <= 0 {
				t.left++
				fmt.Fprintf(stderr, "not done: %s: time is up\n", j.Key())
				continue
			}
			share = shareOf(i, left)
		}
		what := fmt.Sprintf("[%d/%d] %s", i+1, len(jobs), j.Key())
		keep, err := measure(what, j, share, left, p.observe(what))
		p.clear()
		var tooShort *tune.ShareError
		switch {
		case err == nil: // kept, also if interrupted just now
		case ctx.Err() != nil:
			return t, ctx.Err()
		case errors.As(err, &tooShort):
			t.left++
			if t.least == 0 || tooShort.Needed < t.least {
				t.least = tooShort.Needed
			}
			fmt.Fprintf(stderr, "not done: %v\n", err)
			continue
		default:
			t.failed++
			fmt.Fprintf(stderr, "tune: %v\n", err)
			continue
		}
		if err := keep(); err != nil {
			return t, err
		}
		t.done++
	}
	return t, nil
}

// remaining says what of all jobs is done, if some are not, and how to go on.
func (f *flags) remaining(all []tune.Job, table *tuned.Table, t tally) string {
	var rows []tuned.Row
	for _, j := range all {
		if row, ok := table.Row(j.Key()); ok {
			rows = append(rows, row)
		}
	}
	cut := len(each.That(rows, endedByBudget))
	of := words.Count(len(all), "problem")
	if f.again {
		return words.When(t.left > 0, "; %d of %s tuned again", t.done, of)
	}
	if t.left == 0 && cut == 0 {
		return ""
	}
	s := fmt.Sprintf("; %d of %s tuned", len(rows), of) + words.When(cut > 0, ", %d of them ended by the budget", cut)
	if t.done == 0 && t.least > 0 {
		return s + fmt.Sprintf("; run again with a --time-budget above %s to go on", t.least.Round(time.Second/10))
	}
	return s + "; run again to go on"
}
