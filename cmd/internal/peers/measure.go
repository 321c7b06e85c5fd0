// Package peers is command peers: it measures kernels against the libraries that other people use.
package peers

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/foreign/process"
	"matladder/backend/registry"
	"matladder/backend/registry/builtin"
	"matladder/cmd/internal/sweepflag"
	"matladder/harness"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/problem"
	"matladder/results"
	"matladder/stats"
)

// measure takes the numbers of threads in turn, all into one file.
func measure(ctx context.Context, f *flags, stdout, stderr io.Writer) error {
	config, err := sweepflag.Read(f.set)
	if err != nil {
		return sweepflag.Mistake(err)
	}
	if f.accumulators && !f.set.Changed("sizes") {
		config.Sizes = harness.AccumulatorSizes
	}
	provenance := harness.NewProvenance(config.Name, time.Now(), config.Families()...)
	out := cmp.Or(f.out, filepath.Join("out", provenance.RunID+".csv"))
	begin, budget := time.Now(), config.TimeBudget
	var rows []results.Record
	var saved string
	for i, threads := range f.counts {
		config.Threads = threads
		if budget > 0 { // 0 would be no limit
			left := budget - time.Since(begin)
			config.TimeBudget = max(1, left/time.Duration(len(f.counts)-i))
		}
		opt := harness.Options{Provenance: provenance, Out: out, Resume: f.resume || i > 0}
		var o harness.Outcome
		if o, err = measureWith(ctx, f, config, opt, stdout, stderr); len(o.Rows) > 0 {
			rows, saved = o.Rows, o.Saved
		}
		if err != nil {
			break
		}
	}
	if f.accumulators {
		return err
	}
	again := cli.Command("peers", append(sweepflag.Args(f.set, "out", "resume"), "--resume", "--out", cmp.Or(saved, out))...)
	return conclude(stdout, stderr, cmp.Or(saved, out), again, rows, sweepflag.Out(err, out, f.resume))
}

// measureWith measures one number of threads.
func measureWith(ctx context.Context, f *flags, c harness.Config, opt harness.Options, stdout, stderr io.Writer) (harness.Outcome, error) {
	entry, err := registry.Find(builtin.CPU, registry.Measures)
	if err != nil {
		return harness.Outcome{}, err
	}
	host, err := entry.Start(ctx, registry.Request{Threads: c.Threads, Probe: true, Probing: cli.Probing(stderr)})
	if err != nil {
		return harness.Outcome{}, &cli.UsageError{Err: err}
	}
	defer host.Close()
	l, err := open(ctx, f, host.Params.Threads, host.Host)
	if err != nil {
		return harness.Outcome{}, err
	}
	defer l.close()
	for _, err := range l.broken {
		fmt.Fprintf(stderr, "peers: left out: %v\n", err)
	}
	if len(l.missing) > 0 {
		fmt.Fprintf(stderr, "peers: not found: %s (peers --list says how to install them)\n", strings.Join(l.missing, ", "))
	}
	c.Kernels = each.That(c.Kernels, func(n int) bool { return n != kernels.BaselineNumber })
	if slices.Contains(f.peers, xla) {
		if b, err := host.OpenBaseline(ctx); err == nil {
			defer b.Close()
			opt.Baseline = b
			c.Kernels = append(c.Kernels, kernels.BaselineNumber)
		} else {
			fmt.Fprintf(stderr, "peers: without XLA: %v\n", err)
		}
	}
	if len(l.backends) == 0 && opt.Baseline == nil {
		return harness.Outcome{}, errNone
	}
	if err := f.tune(&c, host); err != nil {
		return harness.Outcome{}, err
	}
	sweep, err := harness.Plan(ctx, c, host.Device(), host.Params)
	if err != nil {
		return harness.Outcome{}, &cli.UsageError{Err: err}
	}
	for _, b := range l.backends {
		sweep.Compare(b)
	}
	opt.Backend, opt.Prober, opt.Controller = host.Backend, host.Prober, host.Controller
	opt.Begin = func() {
		fmt.Fprintf(stderr, "%s, %s, %s: %s against %s\n", host.Device().Names[0], host.Params.ISA, words.Count(host.Params.Threads, "thread"),
			words.Count(len(sweep.Groups), "group"), strings.Join(opponents(l, opt.Baseline), ", "))
	}
	if f.accumulators {
		return harness.Outcome{}, harness.WriteAccumulators(ctx, stdout, sweep, opt)
	}
	opt.Observe = func(e harness.Event) { observe(stderr, e) }
	return harness.Run(ctx, sweep, opt)
}

// tune puts the table of block shapes that were tuned for the machine in place of those
// of the sweep, unless flags name others, and where there is none the kernels' own first
// choice, if they know more of the machine than its number of cores.
func (f *flags) tune(c *harness.Config, host *registry.Device) error {
	if f.set.Changed("blocks") {
		return nil
	}
	if host.Device().Blocking != nil {
		c.Blocks, c.FirstBlocks = nil, true
	}
	if f.tuned == noTable {
		return nil
	}
	table, err := tuned.OfMachine(host.Device(), host.Params)
	if table != nil {
		c.Blocks, c.Tuned = nil, table
	}
	return err
}

// opponents names the peers with their versions.
func opponents(l *libraries, baseline backend.Backend) []string {
	names := each.Of(l.backends, func(b *process.Backend) string {
		_, version := b.Plugin()
		return b.Name() + " " + version
	})
	if baseline != nil {
		names = append(names, xla)
	}
	return names
}

// observe prints a line for each group, and one for each point that goes wrong.
func observe(w io.Writer, e harness.Event) {
	for _, r := range e.Rows {
		if harness.Bad(r.Status) {
			fmt.Fprintf(w, "%s %s: %s: %s\n", r.Kernel, problem.Title(e.Problem), r.Status, r.Reason)
		}
	}
	if e.Complete {
		fmt.Fprintf(w, "[%d/%d] %s: %s\n", e.Group, e.Groups, problem.Title(e.Problem), words.Count(e.Round, "round"))
	}
}

// conclude prints the ladder and the comparison of what is in the file, whatever ended the sweep.
func conclude(stdout, stderr io.Writer, out, again string, rows []results.Record, err error) error {
	if len(rows) > 0 {
		summaries := stats.Best(stats.Summarize(rows))
		lost := stats.WriteTable(stdout, "text", summaries)
		fmt.Fprintln(stdout)
		if lost = cmp.Or(lost, stats.WriteContests(stdout, "text", summaries)); err == nil { // else what ended the sweep is told
			err = lost
		}
		fmt.Fprintf(stdout, "%s: %s\n", out, words.Count(len(rows), "row"))
	}
	return sweepflag.Ended(stderr, err, again, rows)
}

// Run is the program: results go to stdout, progress and errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("peers", peers(ctx, args, stdout, stderr), "", stdout, stderr)
}

// peers does what the flags say.
func peers(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseFlags(args)
	if err != nil {
		return err
	}
	switch {
	case len(f.report) > 0:
		return report(ctx, f.report, stdout)
	case f.list:
		return list(ctx, f, stdout)
	}
	return measure(ctx, f, stdout, stderr)
}

// report writes the comparison of what is in files as Markdown, each under the name
// of its sweep, numbered where one comes again.
func report(ctx context.Context, names []string, stdout io.Writer) error {
	var text bytes.Buffer
	runs := map[string]int{} // of a sweep
	for i, name := range names {
		file, err := results.ReadFileContext(ctx, name)
		if err != nil {
			return cli.Input("report", err)
		}
		if len(file.Rows) == 0 {
			return fmt.Errorf("%s has no rows; measure some with: go run ./cmd/peers", name)
		}
		if i > 0 {
			fmt.Fprintln(&text)
		}
		if of := strings.Join(sweeps(file.Rows), " and "); of != "" {
			runs[of]++
			fmt.Fprintf(&text, "## Sweep %s%s\n\n", of, words.When(runs[of] > 1, ", run %d", runs[of]))
		}
		fmt.Fprintf(&text, "%s\n\n", origin(file.Rows))
		if err := stats.WriteContests(&text, "md", stats.Best(stats.Summarize(file.Rows))); err != nil {
			return err
		}
	}
	_, err := stdout.Write(text.Bytes())
	return err
}

// started is what the name of a run ends with, behind that of its sweep.
var started = regexp.MustCompile(`-\d{8}T\d{6}-\d{6}$`)

// sweeps lists the sweeps that rows are of, as their runs name them. Runs that are
// named otherwise are left out.
func sweeps(rows []results.Record) []string {
	var names []string
	for i := range rows {
		if name := started.ReplaceAllString(rows[i].RunID, ""); name != rows[i].RunID {
			names = each.With(names, name)
		}
	}
	return names
}

// origin says when, on what and with which program rows were measured.
func origin(rows []results.Record) string {
	var days, devices, versions []string
	for i := range rows {
		r := &rows[i]
		days = each.With(days, r.StartedAt.UTC().Format("2006-01-02"))
		devices, versions = each.With(devices, r.Device), each.With(versions, r.MatladderVersion)
	}
	all := func(list []string) string { return words.Joined(" and ", list...) }
	return fmt.Sprintf("Measured on %s, %s, matladder %s.", all(days), all(devices), all(versions))
}
