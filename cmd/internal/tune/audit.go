package tune

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/problem"
	"matladder/stats"
)

// auditMarks is the name of the marks around the report in a page.
const auditMarks = "audit"

// runAudit compares the tuner with exhaustive search on one job of each size.
func (f *flags) runAudit(ctx context.Context, stdout, stderr io.Writer) error {
	begin := time.Now()
	if err := f.putReport(nil, io.Discard, false); err != nil { // before minutes of measuring
		return err
	}
	if err := prepare(f.csv); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "audit")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	dev, err := f.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer dev.Close()
	jobs, err := f.jobs(ctx, dev)
	if err != nil {
		return err
	}
	jobs = deal(jobs)
	path := f.path(dev.machine)
	table, err := f.load(path, dev.machine)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: %s to audit\n", dev.Summary, words.Count(len(jobs), "problem"))
	a := tune.Auditor{Tuner: f.tuner(dev), Rounds: f.rounds}
	var audits []tune.Audit
	alike := func(i int, left time.Duration) time.Duration { return left / time.Duration(len(jobs)-i) }
	done, err := f.each(ctx, begin, jobs, alike, stderr, func(what string, j tune.Job, budget, _ time.Duration, observe func(tune.Event)) (func() error, error) {
		a.Budget, a.Tuner.Observe = budget, observe
		j.Known = known(table, j)
		audit, err := a.Audit(ctx, j)
		return func() error {
			fmt.Fprintf(stderr, "%s: %s, %.3f × as fast as %s of %s\n", what, audit.Tuner.Blocks,
				audit.OverExhaustive.Center, audit.Exhaustive.Blocks, words.Count(audit.Exhaustive.Candidates, "shape"))
			audits = append(audits, audit)
			return f.writeCSV(audits)
		}, err
	})
	if err != nil {
		return err
	}
	if len(audits) > 0 {
		text, err := f.report(dev, audits, table, work)
		if err != nil {
			return err
		}
		if err := f.putReport(text, stdout, true); err != nil {
			return err
		}
		fmt.Fprintln(stdout, f.csv)
	}
	if done.failed > 0 {
		return cli.ErrTold
	}
	return nil
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

// writeCSV writes what was measured so far.
func (f *flags) writeCSV(audits []tune.Audit) error {
	var text bytes.Buffer
	if err := tune.WriteAudits(&text, audits); err != nil {
		return err
	}
	if err := files.Replace(f.csv, text.Bytes()); err != nil {
		return err
	}
	f.audited = true
	return nil
}

// report is the table of all audits and what they come to, with the time of look-ups
// in the machine's table, which is written into the folder work for that.
func (f *flags) report(dev *device, audits []tune.Audit, table *tuned.Table, work string) ([]byte, error) {
	var text bytes.Buffer
	if f.note != "" {
		fmt.Fprintf(&text, "%s\n\n", f.note)
	}
	fmt.Fprintf(&text, "Measured on %s, %s, %s, %s.\n\n", audits[0].Row.Evidence.Date, dev.Device().Names[0], words.Count(dev.Device().Parallel, "thread"), dev.versions)
	if err := tune.WriteReport(&text, audits); err != nil {
		return nil, err
	}
	var rows []tuned.Row
	for _, a := range audits {
		rows = append(rows, a.Row)
		table.Put(a.Row)
	}
	path := filepath.Join(work, "table.yaml")
	if err := table.WriteFile(path); err != nil {
		return nil, err
	}
	times, err := tune.TimeLookups(path, rows)
	if err != nil {
		return nil, err
	}
	slices.Sort(times)
	format := func(d time.Duration) string { return stats.FormatSeconds(d.Seconds()) }
	fmt.Fprintf(&text, "- a later run has the block shape from a table of %s in %s in the median of %s, %s at most: the file is read each time\n",
		words.Count(len(table.Rows), "row"), format(times[len(times)/2]), words.Count(len(times), "look-up"), format(times[len(times)-1]))
	return text.Bytes(), nil
}

// putReport writes the report to stdout, or between the marks of the page if one is
// named; without write it finds out only whether that could be done.
func (f *flags) putReport(text []byte, stdout io.Writer, write bool) error {
	if f.page == "" {
		_, err := stdout.Write(text)
		return err
	}
	whole, err := cli.Fill("page", f.page, auditMarks, text)
	if err != nil {
		return err
	}
	if !write {
		return files.Writable(f.page)
	}
	if err := files.Replace(f.page, whole); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, f.page)
	return err
}
