// Tuneaudit compares the tuner of tune with an exhaustive search:
//
//	go run ./tools/tuneaudit --time-budget 9m | go run ./tools/page audit docs/notebook/tuned.md
//	go run ./tools/tuneaudit --config my.yaml --rounds 6
//
// For each size of a sweep, with its kernels and dtypes in turn, it runs the tuner, then times
// every block shape that the tuner could have chosen. What both chose, the fastest of the
// kernel's own candidates, and the first of them then compete in interleaved rounds of fresh
// samples. All are shapes without adjustments. Costs are the time of launches, warm-ups
// included, and wall time.
//
// The report is a Markdown table and what it comes to, with the time of look-ups in the
// machine's table. No table is changed. Under --time-budget, shapes have fewer samples, at
// least six, or problems are left out. --csv has the rows, written after each problem.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"matladder/backend/registry"
	"matladder/backend/registry/builtin"
	"matladder/harness"
	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/stats"
)

func main() {
	builtin.Hook()
	cli.Main("tuneaudit", run)
}

// options are what the command line asks for.
type options struct {
	config, backend, csv        string
	threads, rounds, candidates int
	budget                      time.Duration

	saved bool // something is in the file csv
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	err := o.audit(ctx, args, stdout, stderr)
	interrupted := "interrupted before the first problem was audited: nothing to keep"
	if o.saved {
		interrupted = "interrupted; " + o.csv + " has what was measured"
	}
	return cli.End("tuneaudit", err, interrupted, stdout, stderr)
}

// parse reads the command line.
func (o *options) parse(args []string) error {
	f := cli.NewFlags("tuneaudit")
	f.StringVar(&o.config, "config", "heldout", "`SWEEP`: the path of a .yaml file, or one that comes with bench")
	f.StringVar(&o.backend, "backend", builtin.CPU, "`BACKEND` that measures")
	f.IntVar(&o.threads, "threads", 0, "`THREADS` of the CPU; 0 for one a core")
	f.IntVar(&o.candidates, "candidates", 24, "the tuner launches `N` block shapes besides the kernel's own")
	f.IntVar(&o.rounds, "rounds", 30, "`N` samples of each block shape of the exhaustive search")
	f.DurationVar(&o.budget, "time-budget", 0, "wall `TIME` of the whole execution; 0 for no limit")
	f.StringVar(&o.csv, "csv", filepath.Join("out", "audit.csv"), "`FILE` for what was measured")
	if err := cli.Parse(f, args, "usage: tuneaudit [flags]"); err != nil {
		return err
	}
	switch {
	case f.NArg() > 0:
		return cli.Usagef("unexpected argument %q: problems are those of --config", f.Arg(0))
	case o.budget < 0 || o.candidates < 0 || o.threads < 0:
		return cli.Usagef("--time-budget %s, --candidates %d, --threads %d: none may be negative", o.budget, o.candidates, o.threads)
	case o.rounds < 6:
		return cli.Usagef("--rounds %d: an interval takes 6", o.rounds)
	}
	return nil
}

// audit compares the tuner with exhaustive search on one job of each size.
func (o *options) audit(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	begin := time.Now()
	if err := o.parse(args); err != nil {
		return err
	}
	if err := cmp.Or(files.MakeFolder(o.csv), files.Writable(o.csv)); err != nil { // before minutes of measuring
		return err
	}
	a := Auditor{Rounds: o.rounds}
	d, jobs, err := o.open(ctx, &a.Tuner, stderr)
	if err != nil {
		return err
	}
	defer d.Close()
	table, err := tuned.ReadFile(filepath.Join("configs", "tuned", tuned.MachineName(d.Device(), d.Params.ISA, d.Params.Threads)+".yaml"))
	if errors.Is(err, os.ErrNotExist) {
		table, err = &tuned.Table{Machine: "none"}, nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: %s to audit\n", d.Summary, words.Count(len(jobs), "problem"))
	var audits []Audit
	failed := false
	for i, j := range jobs {
		what := fmt.Sprintf("[%d/%d] %s", i+1, len(jobs), j.Key())
		if o.budget > 0 {
			left := o.budget - time.Since(begin)
			if left <= 0 {
				fmt.Fprintf(stderr, "not done: %s: time is up\n", j.Key())
				continue
			}
			a.Budget = left / time.Duration(len(jobs)-i)
		}
		if answer, ok := table.Lookup(j.Key()); ok {
			j.Known = []tuned.Answer{answer}
		}
		audit, err := a.Audit(ctx, j)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = true
			fmt.Fprintf(stderr, "tuneaudit: %v\n", err)
			continue
		}
		fmt.Fprintf(stderr, "%s: %s, %.3f × as fast as %s of %s\n", what, audit.Tuner.Blocks,
			audit.OverExhaustive.Median, audit.Exhaustive.Blocks, words.Count(audit.Exhaustive.Candidates, "shape"))
		audits = append(audits, audit)
		if err := o.save(audits); err != nil {
			return err
		}
	}
	if len(audits) > 0 {
		if err := report(stdout, d.Device().Names[0], d.Device().Parallel, audits, table); err != nil {
			return err
		}
		fmt.Fprintln(stderr, o.csv)
	}
	if failed {
		return cli.ErrTold
	}
	return nil
}

// open opens the backend, sets the tuner up as tune does, and returns one job of each size.
func (o *options) open(ctx context.Context, t *tune.Tuner, stderr io.Writer) (*registry.Device, []tune.Job, error) {
	text, file, err := harness.ReadSweep(o.config)
	if err != nil {
		return nil, nil, cli.Usagef("--config: %w", err)
	}
	c, err := harness.Parse(file, text)
	if err != nil {
		return nil, nil, err
	}
	c.AllBlocks, c.Blocks = true, nil
	e, err := registry.Find(o.backend, registry.Measures)
	if err != nil {
		return nil, nil, &cli.UsageError{Err: err}
	}
	d, err := e.Start(ctx, registry.Request{Threads: cmp.Or(o.threads, c.Threads), Probe: true, Probing: cli.Probing(stderr)})
	if err != nil {
		return nil, nil, err
	}
	d.Params.Prefetch = false
	*t = tune.Tuner{
		Backend: d.Backend, Params: d.Params, Dist: c.Inputs[0], Seed: uint64(c.Seed),
		Versions: "matladder " + harness.NewProvenance("tune", time.Now(), c.Family).Version, Timeout: c.Timeout, Controller: d.Controller, Prober: d.Prober,
		Space: tune.Space{
			Device: d.Device(), Model: blocking.Of(d.Device(), blocking.Setup{}), Workers: d.Device().Parallel,
			Limit: d.FastBytes, Most: o.candidates,
		},
	}
	if isa := d.Params.ISA; isa != "" {
		t.Versions += ", " + isa
	}
	s, err := harness.Plan(ctx, c, d.Device(), d.Params)
	if err != nil {
		d.Close()
		return nil, nil, err
	}
	var jobs []tune.Job
	seen := map[tuned.Key]bool{}
	for p := range s.Points() {
		if rung, ok := p.Contender.(harness.Rung); ok && rung.Source == harness.CandidateBlocks {
			if j := (tune.Job{Kernel: rung.Kernel, Variant: p.Variant, Problem: p.Problem}); !seen[j.Key()] {
				seen[j.Key()] = true
				jobs = append(jobs, j)
			}
		}
	}
	if len(jobs) == 0 {
		d.Close()
		return nil, nil, cli.Usagef("--config %s: none of its kernels chooses its blocks", o.config)
	}
	return d, deal(jobs), nil
}

// deal takes one job of each size: those of a size are the kernels and dtypes, and
// sizes take them in turn.
func deal(jobs []tune.Job) []tune.Job {
	var sizes []problem.Sizes
	of := map[problem.Sizes][]tune.Job{}
	for _, j := range jobs {
		s := j.Problem.Sizes()
		if of[s] == nil {
			sizes = append(sizes, s)
		}
		of[s] = append(of[s], j)
	}
	var out []tune.Job
	for i, s := range sizes {
		out = append(out, of[s][i%len(of[s])])
	}
	return out
}

// save writes what was measured so far.
func (o *options) save(audits []Audit) error {
	var text bytes.Buffer
	if err := writeAudits(&text, audits); err != nil {
		return err
	}
	if err := files.Replace(o.csv, text.Bytes()); err != nil {
		return err
	}
	o.saved = true
	return nil
}

// report writes the table of all audits and what they come to, with the time of look-ups
// in the machine's table with their rows.
func report(w io.Writer, machine string, threads int, audits []Audit, table *tuned.Table) error {
	made := audits[0].Row.Evidence
	fmt.Fprintf(w, "Measured on %s, %s, %s, %s.\n\n", made.Date, machine, words.Count(threads, "thread"), made.Versions)
	if err := writeReport(w, audits); err != nil {
		return err
	}
	var rows []tuned.Row
	for _, a := range audits {
		rows = append(rows, a.Row)
		table.Put(a.Row)
	}
	work, err := os.MkdirTemp("", "audit")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	path := filepath.Join(work, "table.yaml")
	if err := table.WriteFile(path); err != nil {
		return err
	}
	times, err := timeLookups(path, rows)
	if err != nil {
		return err
	}
	slices.Sort(times)
	format := func(d time.Duration) string { return stats.FormatSeconds(d.Seconds()) }
	_, err = fmt.Fprintf(w, "- a later run has the block shape from a table of %s in %s in the median of %s, %s at most: the file is read each time\n",
		words.Count(len(table.Rows), "row"), format(times[len(times)/2]), words.Count(len(times), "look-up"), format(times[len(times)-1]))
	return err
}
