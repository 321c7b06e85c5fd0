package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"matladder/backend"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/results"
	"matladder/tile"
	"matladder/tune"
	"matladder/tuned"
)

// tune tunes all jobs that are not in the table.
func (f *flags) tune(ctx context.Context, stdout, stderr io.Writer) error {
	begin := time.Now()
	dev, err := f.open()
	if err != nil {
		return err
	}
	defer dev.Close()
	jobs, err := f.jobs(dev)
	if err != nil {
		return err
	}
	path := f.path(dev.machine)
	table, err := load(path, dev.machine)
	if err != nil {
		return err
	}
	if !f.again {
		jobs = slices.DeleteFunc(jobs, func(j tune.Job) bool {
			_, source, ok := table.Lookup(j.Key())
			return ok && source == tuned.Exact
		})
	}
	fmt.Fprintf(stderr, "%s: %s to tune, %d in the table\n", dev.summary, cli.Plural(len(jobs), "problem"), len(table.Rows))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	u := f.tuner(dev)
	failed, err := f.each(ctx, begin, jobs, "left for the same command", stderr, func(_ string, j tune.Job, budget time.Duration, observe func(tune.Event)) (func() error, error) {
		u.Budget, u.Observe = budget, observe
		j.Known = known(table, j)
		row, err := u.Tune(ctx, j)
		return func() error {
			table.Put(row)
			if err := table.WriteFile(path); err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%s: %s\n", row.Key, verdict(j, row, u.Space.Machine))
			return nil
		}, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %s\n", path, cli.Plural(len(table.Rows), "row"))
	if failed > 0 {
		return errJobs
	}
	return nil
}

// each measures one job after another while the time budget lasts, of which every
// job that is left gets an equal share; 0 is no limit. What measure returns keeps
// the result, once progress is off the screen. Jobs that fail are told and counted;
// left says what becomes of those that no time was left for.
func (f *flags) each(ctx context.Context, begin time.Time, jobs []tune.Job, left string, stderr io.Writer,
	measure func(what string, j tune.Job, budget time.Duration, observe func(tune.Event)) (keep func() error, err error),
) (failed int, err error) {
	p := newProgress(stderr)
	for i, j := range jobs {
		var share time.Duration
		if f.budget > 0 {
			rest := f.budget - time.Since(begin)
			if rest <= 0 {
				fmt.Fprintf(stderr, "time is up: %s %s\n", cli.Plural(len(jobs)-i, "problem"), left)
				break
			}
			share = rest / time.Duration(len(jobs)-i)
		}
		what := fmt.Sprintf("[%d/%d] %s", i+1, len(jobs), j.Key())
		keep, err := measure(what, j, share, p.observe(what))
		p.clear()
		switch {
		case ctx.Err() != nil:
			return failed, ctx.Err()
		case err != nil:
			failed++
			fmt.Fprintf(stderr, "tune: %v\n", err)
			continue
		}
		if err := keep(); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// tuner is the tuner that the flags ask for, without limits of time.
func (f *flags) tuner(dev *device) tune.Tuner {
	return tune.Tuner{
		Backend: dev.Backend, Params: dev.params, Dist: f.config.Dist, Seed: uint64(f.config.Seed),
		Versions: dev.versions,
		Space: tune.Space{
			Device: dev.Device(), Machine: harness.Machine(dev.Device()), Workers: dev.Device().Parallel,
			Limit: dev.limit, Most: f.most,
		},
	}
}

// jobs are the kernels and problems of the sweep whose blocks are a choice.
func (f *flags) jobs(dev *device) ([]tune.Job, error) {
	s, err := harness.Plan(f.config, dev.Device(), dev.params)
	if err != nil {
		return nil, err
	}
	var jobs []tune.Job
	seen := map[tuned.Key]bool{}
	for p := range s.Points() {
		if p.BlockSource != harness.CandidateBlocks {
			continue
		}
		j := tune.Job{Kernel: p.Kernel, Variant: p.Variant, Problem: p.Problem}
		if !seen[j.Key()] {
			seen[j.Key()] = true
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return nil, cli.Usagef("nothing to tune: none of the kernels chooses its blocks on these problems (v4 and v5 do)")
	}
	return jobs, nil
}

// known is what the table answers for a job as things stand.
func known(table *tuned.Table, j tune.Job) []tile.Blocks {
	if b, _, ok := table.Lookup(j.Key()); ok {
		return []tile.Blocks{b}
	}
	return nil
}

// path is the table's file.
func (f *flags) path(machine string) string {
	if f.out != "" {
		return f.out
	}
	return filepath.Join("configs", "tuned", machine+".yaml")
}

// load reads a machine's table; a file that is not there is an empty one.
func load(path, machine string) (*tuned.Table, error) {
	t, err := tuned.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &tuned.Table{Machine: machine}, nil
	case err != nil:
		return nil, err
	case t.Machine != machine:
		return nil, cli.Usagef("%s is the table of %s, this is %s; name another with --out", path, t.Machine, machine)
	}
	return t, nil
}

// verdict says what was gained over the kernel's own candidates, and how sure the
// choice is.
func verdict(j tune.Job, r tuned.Row, m tile.Machine) string {
	s := fmt.Sprintf("blocks %s, %s", r.Blocks, results.FormatSeconds(r.Evidence.Seconds))
	if r.Evidence.Mode == tuned.Predicted {
		s += " predicted"
	}
	best, own := 0.0, tile.Blocks{}
	for _, b := range j.Kernel.Candidates(j.Problem, m) {
		if ratio, ok := r.Evidence.Tried[b]; ok && (best == 0 || ratio < best) {
			best, own = ratio, b
		}
	}
	switch {
	case own == r.Blocks:
		s += ", the kernel's own"
	case best > 0:
		s += fmt.Sprintf(", %.3f × the kernel's own %s", best, own)
	}
	return s + confirmed(r) + then(r.Evidence)
}

// confirmed says how the choice was made between the fastest and what would be taken
// without it.
func confirmed(r tuned.Row) string {
	c := r.Evidence.Confirmed
	switch {
	case c.Rounds == 0:
		return ""
	case c.Low > 1:
		return fmt.Sprintf("; confirmed: %s takes %.3f × as long (%.3f to %.3f, %s)", c.Rival, c.Ratio, c.Low, c.High, cli.Plural(c.Rounds, "round"))
	}
	return fmt.Sprintf("; kept: %s, at %.3f × the time (%.3f to %.3f, %s), is not clearly faster", c.Rival, c.Ratio, c.Low, c.High, cli.Plural(c.Rounds, "round"))
}

// then names the runner-up.
func then(e tuned.Evidence) string {
	if e.RunnerUp == (tile.Blocks{}) {
		return ""
	}
	return fmt.Sprintf("; then %s at %+.1f %%", e.RunnerUp, 100*e.Behind)
}

// versions names what made the evidence.
func versions(b backend.Backend, isa string) string {
	s := "matladder " + harness.NewProvenance("tune", time.Now()).Version
	if plugged, ok := b.(backend.Plugged); ok {
		name, version := plugged.Plugin()
		return fmt.Sprintf("%s, %s %s", s, name, version)
	}
	if isa != "" {
		s += ", " + isa
	}
	return s
}
