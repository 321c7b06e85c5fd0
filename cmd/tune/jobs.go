package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"matladder/internal/cli"
	"matladder/tune"
	"matladder/tuned"
)

// todo are the jobs that are not done, those without a row before those whose row was
// ended by the budget; with --again also the others, of other versions first.
func (f *flags) todo(all []tune.Job, table *tuned.Table, versions string) []tune.Job {
	const done = 2
	state := func(j tune.Job) int {
		row, ok := table.Row(j.Key())
		switch {
		case !ok:
			return 0
		case row.Evidence.Ended == tuned.ByBudget:
			return 1
		case row.Evidence.Versions != versions:
			return done
		}
		return done + 1
	}
	jobs := slices.Clone(all)
	if !f.again {
		jobs = slices.DeleteFunc(jobs, func(j tune.Job) bool { return state(j) >= done })
	}
	slices.SortStableFunc(jobs, func(a, b tune.Job) int { return cmp.Compare(state(a), state(b)) })
	return jobs
}

// tally is what became of the jobs of a run.
type tally struct {
	done, failed, left int
	least              time.Duration // that one of those left for want of time needs; 0 if none says
}

// each measures one job after another while the time budget lasts, of which every job
// that is left gets an equal share, and one that needs more for its row to be worth
// keeping as much as it needs if so much is left; 0 is no limit. What measure returns
// keeps the result, once progress is off the screen. Jobs that fail and those that no
// time was left for are told and counted.
func (f *flags) each(ctx context.Context, begin time.Time, jobs []tune.Job, stderr io.Writer,
	measure func(what string, j tune.Job, share, left time.Duration, observe func(tune.Event)) (keep func() error, err error),
) (t tally, err error) {
	p := newProgress(stderr)
	for i, j := range jobs {
		var share, left time.Duration
		if f.budget > 0 {
			if left = f.budget - time.Since(begin); left <= 0 {
				t.left++
				fmt.Fprintf(stderr, "not done: %s: time is up\n", j.Key())
				continue
			}
			share = left / time.Duration(len(jobs)-i)
		}
		what := fmt.Sprintf("[%d/%d] %s", i+1, len(jobs), j.Key())
		keep, err := measure(what, j, share, left, p.observe(what))
		p.clear()
		var short *tune.ShareError
		switch {
		case ctx.Err() != nil:
			return t, ctx.Err()
		case errors.As(err, &short):
			t.left++
			if t.least == 0 || short.Need < t.least {
				t.least = short.Need
			}
			fmt.Fprintf(stderr, "not done: %v\n", err)
			continue
		case err != nil:
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
	rows, short := 0, 0
	for _, j := range all {
		if row, ok := table.Row(j.Key()); ok {
			rows++
			if row.Evidence.Ended == tuned.ByBudget {
				short++
			}
		}
	}
	of := cli.Plural(len(all), "problem")
	if f.again {
		if t.left == 0 {
			return ""
		}
		return fmt.Sprintf("; %d of %s tuned again", t.done, of)
	}
	var s string
	switch {
	case t.left == 0 && short == 0:
		return ""
	case short > 0:
		s = fmt.Sprintf("; %d of %s tuned, %d of them ended by the budget", rows, of, short)
	default:
		s = fmt.Sprintf("; %d of %s tuned", rows, of)
	}
	if t.done == 0 && t.least > 0 {
		return s + fmt.Sprintf("; run again with a --time-budget above %s to go on", t.least.Round(time.Second/10))
	}
	return s + "; run again to go on"
}
