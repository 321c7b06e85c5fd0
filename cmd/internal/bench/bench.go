// Package bench is command bench: it measures a sweep and writes it as CSV.
package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/backend/timeline"
	"matladder/cmd/internal/sweepflag"
	"matladder/harness"
	"matladder/internal/cgroup"
	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/results"
	"matladder/stats"
)

// bench does what the flags say.
func bench(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseFlags(args)
	if err != nil {
		return err
	}
	if f.where.Asked() {
		return f.where.Help(stdout)
	}
	if f, err = f.recall(args); err != nil {
		return err
	}
	config, err := f.sweep()
	if err != nil {
		return err
	}
	if f.accumulators && !f.set.Changed("sizes") {
		config.Sizes = harness.AccumulatorSizes
	}
	x := execution{provenance: harness.NewProvenance(config.Name, time.Now(), config.Families()...), resume: f.resume}
	x.out = cmp.Or(f.out, filepath.Join("out", x.provenance.RunID+".csv"))
	for i, where := range f.each {
		one := *f
		one.where, x.last = where, i == len(f.each)-1
		if err := one.execute(ctx, config, x, stdout, stderr); err != nil {
			return err
		}
		x.resume = true // of the file that the first began
	}
	return nil
}

// An execution is of one sweep, on one device or for several chips, into one file.
type execution struct {
	provenance harness.Provenance
	out        string
	resume     bool
	last       bool // of the chips
}

// execute measures or predicts a sweep on the device that the flags say.
func (f *flags) execute(ctx context.Context, config harness.Config, x execution, stdout, stderr io.Writer) error {
	dev, err := f.open(ctx, config, stderr)
	if err != nil {
		return err
	}
	defer dev.Close()
	if f.machine {
		printMachine(ctx, stdout, dev, time.Now())
		return nil
	}
	if config.Tuned, err = f.tunedBlocks(dev); err != nil {
		return err
	}
	sweep, err := harness.Plan(ctx, config, dev.Device(), dev.Params)
	if err != nil {
		return err
	}
	if sweep.Predict = dev.Predicts; dev.Interprets {
		sweep.Lowering = results.Interpret
	}
	guests, err := f.guests(ctx, config, dev, sweep, stderr)
	for _, g := range guests {
		defer g.Close()
	}
	if err != nil {
		return err
	}
	if sweep.HasBaseline() {
		dev.findBaseline(ctx, !f.list && !f.dryRun)
	}
	if dev.noBaseline != nil {
		sweep.Skip(dev.noBaseline)
	}
	estimate := sweep.Estimate()
	switch {
	case f.list:
		return list(stdout, sweep)
	case f.dryRun:
		fmt.Fprintln(stdout, dev.Summary)
		printEstimate(stdout, estimate, dev.Predicts)
		return nil
	case f.accumulators:
		return harness.WriteAccumulators(ctx, stdout, sweep, harness.Options{Backend: dev.Backend, Baseline: dev.baseline})
	}
	out := x.out
	progress := newProgress(stderr)
	outcome, err := harness.Run(ctx, sweep, harness.Options{
		Backend: dev.Backend, Baseline: dev.baseline, Prober: dev.Prober, Controller: dev.Controller, Provenance: x.provenance, Out: out, Resume: x.resume, Fault: f.fault,
		Begin: func() {
			if err := sweepflag.WriteRecord(out, f.record, x.provenance.RunID); err != nil {
				fmt.Fprintf(stderr, "bench: --resume will want the flags of this sweep again: %v\n", err)
			}
			fmt.Fprintf(stderr, "%s: %s\n", dev.Summary, oneLine(estimate, dev.Predicts))
			if quota := quotaRemark(); quota != "" {
				fmt.Fprintln(stderr, quota)
			}
			if dev.Remark != "" {
				fmt.Fprintf(stderr, "%s\n", dev.Remark)
			}
			if dev.noBaseline != nil && ctx.Err() == nil { // an interrupted search for it says nothing
				fmt.Fprintf(stderr, "without XLA's line: %v\n", dev.noBaseline)
			}
		},
		Counters: f.countEvents(stderr),
		Observe:  progress.observe,
	})
	progress.finish()
	if err == nil && !x.last {
		return nil
	}
	if err == nil { // what cannot be noted is known from the rows alone
		sweepflag.EndRecord(out)
	}
	if len(outcome.Rows) == 0 && !x.resume {
		os.Remove(results.NoteFile(out)) // as the file, which was not kept
	}
	whole := err == nil
	err = f.conclude(stdout, stderr, out, outcome, sweepflag.Out(err, out, x.resume))
	if f.bundle != "" && whole {
		if err := f.writeBundle(ctx, dev, cmp.Or(outcome.Saved, out)); err != nil {
			return fmt.Errorf("--bundle: %w", err)
		}
		fmt.Fprintln(stdout, f.bundle)
	}
	if err != nil || f.trace == "" {
		return err
	}
	return f.writeTrace(ctx, stdout, dev, sweep)
}

// countEvents says what of --counters cannot be counted, in one line; nil if nothing is to be.
func (f *flags) countEvents(stderr io.Writer) func(error) {
	if !f.counters {
		return nil
	}
	return func(missing error) {
		if missing != nil {
			fmt.Fprintf(stderr, "--counters: %v\n", missing)
		}
	}
}

// quotaRemark says that the machine lets this process have less than its cores; "" if it does not.
func quotaRemark() string {
	cores, limited := cgroup.Cores()
	return words.When(limited && cores < float64(runtime.NumCPU()),
		"a control group allows this process %.3g of %s: it is stopped whenever it has had that share, and so are its launches", cores, words.Count(runtime.NumCPU(), "core"))
}

// list prints one point a line.
func list(w io.Writer, s harness.Sweep) error {
	buf := bufio.NewWriter(w)
	for p := range s.Points() {
		fmt.Fprintln(buf, p)
	}
	return buf.Flush()
}

// exports writes the table to the files of --export.
func (f *flags) exports(stdout io.Writer, all []stats.Summary) error {
	for _, path := range f.export {
		var text bytes.Buffer
		format := strings.TrimPrefix(filepath.Ext(path), ".")
		if err := stats.WriteTable(&text, format, stats.Shown(format, all), f.columns...); err != nil {
			return err
		}
		if err := files.Write(path, text.Bytes()); err != nil {
			return err
		}
		fmt.Fprintln(stdout, path)
	}
	return nil
}

// conclude prints the table of what is in the file and the file's name, whatever ended the sweep.
func (f *flags) conclude(stdout, stderr io.Writer, out string, o harness.Outcome, err error) error {
	if o.Repair.Bytes > 0 {
		kept := words.Between(", which is kept in ", o.Repair.Kept, "")
		fmt.Fprintf(stderr, "%s: dropped %s after the last whole round%s\n", out, backend.FormatBytes(o.Repair.Bytes), kept)
	}
	if len(o.Rows) > 0 {
		all := stats.Summarize(o.Rows)
		summaries := stats.Shown("text", all)
		// Say what ended the sweep before what is lost of the tables.
		err = cmp.Or(err, stats.WriteTable(stdout, "text", summaries, f.columns...), stats.WriteLayers(stdout, summaries), f.exports(stdout, all))
		fmt.Fprintf(stdout, "%s: %s\n", cmp.Or(o.Saved, out), words.Count(len(o.Rows), "row"))
	}
	return sweepflag.Ended(stderr, err, cli.Command("bench", "--resume", "--out", cmp.Or(o.Saved, out)), o.Rows)
}

// Run is the program: results go to stdout, progress and errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("bench", sweepflag.Mistake(bench(ctx, args, stdout, stderr)), "", stdout, stderr)
}

// mostTraced bounds the points of a trace: it is to be looked at.
const mostTraced = 64

// writeTrace records one launch of each kernel of the sweep, after it, and writes them as one
// file for Perfetto.
func (f *flags) writeTrace(ctx context.Context, stdout io.Writer, dev *device, sweep harness.Sweep) error {
	var list []*timeline.Timeline
	for p := range sweep.Points() {
		rung, ok := p.Contender.(harness.Rung)
		if !ok || p.Status != "" {
			continue
		}
		if len(list) == mostTraced {
			fmt.Fprintf(stdout, "%s: the first %d points; a trace is limited to them\n", f.trace, mostTraced)
			break
		}
		t, err := traced(ctx, dev, rung, p, uint64(sweep.Config.Seed))
		if err != nil {
			return fmt.Errorf("--trace: %s: %w", p, err)
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return fmt.Errorf("--trace %s: no point of the sweep can be recorded", f.trace)
	}
	var b bytes.Buffer
	if err := timeline.Chrome(&b, list...); err != nil {
		return err
	}
	if err := files.MakeFolder(f.trace); err != nil {
		return err
	}
	if err := files.Replace(f.trace, b.Bytes()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "%s: one launch of %s, for ui.perfetto.dev or chrome://tracing\n", filepath.ToSlash(f.trace), words.Count(len(list), "point"))
	return err
}

func traced(ctx context.Context, dev *device, rung harness.Rung, p harness.Point, seed uint64) (*timeline.Timeline, error) {
	programs, err := rung.Build(p.Problem, p.Variant, rung.Blocks)
	if err != nil {
		return nil, err
	}
	e, err := backend.Compile(ctx, dev.Backend, programs, p.Params)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	tracer, ok := e.(backend.Tracer)
	if !ok {
		return nil, fmt.Errorf("backend %s does not tell what happens in a launch: %w", dev.Name(), backend.ErrUnsupported)
	}
	if err := seeded.Of(e, programs, &seeded.References{}).LoadSeeded(ctx, backend.InputSpec{Problem: p.Problem, Seed: seed, Dist: p.Inputs}); err != nil {
		return nil, err
	}
	t, err := tracer.Trace(ctx)
	if err == nil {
		t.Title = p.String()
	}
	return t, err
}
