// Package tune is command tune: it finds the fastest block shape of a kernel on a problem.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/registry"
	"matladder/cmd/internal/sweepflag"
	"matladder/harness"
	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/model/blocking"
	"matladder/problem"
)

// tune tunes all jobs that are not done.
func (f *flags) tune(ctx context.Context, stdout, stderr io.Writer) error {
	begin := time.Now()
	dev, err := f.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer dev.Close()
	if err := f.checkTable(dev); err != nil {
		return err
	}
	all, err := f.jobs(ctx, dev)
	if err != nil {
		return err
	}
	path := f.path(dev.machine)
	table, err := f.load(path, dev.machine)
	if err != nil {
		return err
	}
	of := func(j tune.Job) state { return stateOf(j, table, dev.versions) }
	jobs := f.todo(all, of)
	if err = files.MakeFolder(path); err == nil {
		err = files.Writable(path) // told before minutes of measuring
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: %s to tune, %d in the table\n", dev.Summary, words.Count(len(jobs), "problem"), len(table.Rows))
	u := f.tuner(dev)
	done, err := f.each(ctx, begin, jobs, shares(jobs, of), stderr, func(_ string, j tune.Job, share, left time.Duration, observe func(tune.Event)) (func() error, error) {
		now, err := f.load(path, dev.machine) // another tune may have written rows of its own
		if err != nil {
			return nil, err
		}
		table = now
		before, _ := table.Row(j.Key())
		if !f.again && of(j) >= aged {
			return func() error {
				fmt.Fprintf(stdout, "%s: blocks %s, found by another tune meanwhile\n", j.Key(), choice(before))
				return nil
			}, nil
		}
		u.Budget, u.AtMost, u.Observe = share, left, observe
		if a, ok := table.Lookup(j.Key()); ok {
			j.Known = []tuned.Answer{a}
		}
		row, err := u.Tune(ctx, j)
		return func() error {
			if m := u.Machine; m.Repeated > 0 {
				fmt.Fprintf(stderr, "%s: the machine was slow or disturbed in %d of %s, which were measured again\n", row.Key, m.Repeated, words.Count(m.Rounds, "round"))
			}
			tellDropped(stderr, row.Key, u.Dropped)
			var taken bool
			if table, taken, err = f.keep(ctx, path, dev.machine, row, before); err != nil {
				return err
			}
			if !taken {
				old, _ := table.Row(row.Key)
				fmt.Fprintf(stdout, "%s: the row of %s stays, blocks %s: this time %s\n", row.Key, old.Evidence.Date, choice(old), searched(row.Evidence))
				return nil
			}
			fmt.Fprintf(stdout, "%s: %s\n", row.Key, verdict(j, row, u.Space.Model.Machine))
			return nil
		}, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %s%s\n", path, words.Count(len(table.Rows), "row"), f.remaining(all, table, done))
	if done.failed > 0 {
		return cli.ErrTold
	}
	return nil
}

// tellDropped says what the search for a row had to do without, and of the first why.
func tellDropped(w io.Writer, key tuned.Key, list []tune.Dropped) {
	if len(list) > 0 {
		fmt.Fprintf(w, "%s: %s out of the race: %s\n", key, words.Count(len(list), "candidate"), list[0])
	}
}

// tuner is the tuner that the flags ask for, without limits of time.
func (f *flags) tuner(dev *device) tune.Tuner {
	dev.Params.Prefetch = false // tables also serve launches that begin with all inputs in main memory
	return tune.Tuner{
		Backend: dev.Backend, Params: dev.Params, Dist: f.config.Inputs[0], Seed: uint64(f.config.Seed),
		Versions: dev.versions, Timeout: min(f.config.Timeout, compileLimit), Controller: dev.Controller, Prober: dev.Prober,
		Space: tune.Space{
			Device: dev.Device(), Model: blocking.Of(dev.Device(), blocking.Setup{VMEMBytes: dev.Params.VMEMBytes}), Workers: dev.Device().Parallel,
			Limit: dev.FastBytes, Most: f.most,
		},
	}
}

// jobs are the kernels and problems of the sweep whose blocks are a choice.
func (f *flags) jobs(ctx context.Context, dev *device) ([]tune.Job, error) {
	s, err := harness.Plan(ctx, f.config, dev.Device(), dev.Params)
	if err != nil {
		return nil, err
	}
	var jobs []tune.Job
	seen := map[tuned.Key]bool{}
	for p := range s.Points() {
		rung, ok := p.Contender.(harness.Rung)
		if !ok || rung.Source != harness.CandidateBlocks {
			continue
		}
		j := tune.Job{Kernel: rung.Kernel, Variant: p.Variant, Problem: p.Problem}
		if !seen[j.Key()] {
			seen[j.Key()] = true
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return nil, cli.Usagef("nothing to tune: none of the kernels chooses its blocks on these problems%s", deciders(s))
	}
	return jobs, nil
}

// deciders says which kernels of the sweep's family would choose.
func deciders(s harness.Sweep) string {
	choosing := each.That(kernels.Ladder(s.Config.Family), kernels.ChoosesBlocks)
	names := each.Of(choosing, func(k kernels.Kernel) string {
		short, _, _ := strings.Cut(k.Name(), "_")
		return short
	})
	return words.Between(" (", strings.Join(names, " and "), " do)")
}

// path is the table's file.
func (f *flags) path(machine string) string {
	return cmp.Or(f.out, filepath.Join("configs", "tuned", machine+".yaml"))
}

// checkTable refuses to fill the machine's table, which sweeps read that have all the fast
// memory there is, under a limit on it.
func (f *flags) checkTable(dev *device) error {
	if f.out == "" && dev.Params.VMEMBytes > 0 {
		return cli.Usagef("--param vmem_limit: %s is the table of sweeps without it; name one of its own with --out", f.path(dev.machine))
	}
	return nil
}

// load reads a machine's table; a missing file is an empty one.
func (f *flags) load(path, machine string) (*tuned.Table, error) {
	t, err := tuned.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &tuned.Table{Machine: machine}, nil
	case err != nil && f.out != "":
		return nil, cli.Input("out", err)
	case err != nil:
		return nil, err
	case t.Machine != machine:
		return nil, cli.Usagef("%s is the table of %s, this is %s; name another with --out", path, t.Machine, machine)
	}
	return t, nil
}

// keep offers a row to the table as it is by now, which no other tune can change before
// keep has written it, and returns that and whether the row was taken. The row's search
// knew before, the one that the table had for its problem, or zero.
func (f *flags) keep(ctx context.Context, path, machine string, row, before tuned.Row) (t *tuned.Table, taken bool, err error) {
	unlock, err := files.Lock(ctx, path)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	if t, err = f.load(path, machine); err != nil {
		return nil, false, err
	}
	now, _ := t.Row(row.Key)
	if !t.Offer(row, reflect.DeepEqual(now, before)) {
		return t, false, nil
	}
	return t, true, t.WriteFile(path)
}

// versions names what made the evidence.
func versions(b backend.Backend, f *problem.Family, isa string) string {
	s := "matladder " + harness.NewProvenance("tune", time.Now(), f).Version
	if plugged, ok := b.(backend.Plugged); ok {
		name, version := plugged.Plugin()
		return fmt.Sprintf("%s, %s %s", s, name, version)
	}
	return s + words.Between(", ", isa, "")
}

// Run is the program: results go to stdout, progress and errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f, err := parseFlags(args)
	switch {
	case err != nil:
	case f.where.Asked():
		err = f.where.Help(stdout)
	case f.list:
		err = f.show(ctx, stdout)
	case f.exports != "":
		err = f.export(ctx, stdout, stderr)
	case f.imports != "":
		err = f.compare(ctx, stdout, stderr)
	default:
		err = f.tune(ctx, stdout, stderr)
	}
	return cli.End("tune", sweepflag.Mistake(err), "interrupted; the same command goes on", stdout, stderr)
}

// opened is an open backend.
type opened = registry.Device

// device is an open backend and what names its table.
type device struct {
	*opened
	machine  string
	versions string
}

// compileLimit is how long one candidate may take to compile: one that takes longer is
// large, and rarely the fastest.
const compileLimit = 90 * time.Second

// open opens the backend that the flags ask for.
func (f *flags) open(ctx context.Context, stderr io.Writer) (*device, error) {
	d, err := f.where.Open(ctx, registry.Request{Threads: f.config.Threads, Probe: !f.list, Probing: cli.Probing(stderr), Limit: compileLimit})
	if err != nil {
		return nil, err
	}
	return &device{
		opened:   d,
		machine:  tuned.MachineName(d.Device(), d.Params.ISA, d.Params.Threads),
		versions: versions(d.Backend, f.config.Family, d.Params.ISA),
	}, nil
}
