package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"matladder/backend"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/sweepflag"
	"matladder/results"
)

// bench does what the flags say.
func bench(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseFlags(args, stdout)
	if err != nil {
		return err
	}
	if f.where.Asked() {
		return f.where.Help(stdout)
	}
	config, err := f.sweep()
	if err != nil {
		return err
	}
	dev, err := f.open(ctx, config, !f.list)
	if err != nil {
		return err
	}
	defer dev.Close()
	if config.Tuned, err = f.tunedBlocks(dev); err != nil {
		return err
	}
	sweep, err := harness.Plan(config, dev.Device(), dev.Params)
	if err != nil {
		return err
	}
	if sweep.Predict = dev.Predicts; dev.Interprets {
		sweep.Lowering = results.Interpret
	}
	if sweep.HasBaseline() {
		dev.findBaseline(ctx, !f.list && !f.dryRun)
	}
	if dev.noBaseline != "" {
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
	}
	provenance := harness.NewProvenance(config.Name, time.Now())
	out := f.out
	if out == "" {
		out = filepath.Join("out", provenance.RunID+".csv")
	}
	progress := newProgress(stderr)
	outcome, err := harness.Run(ctx, sweep, harness.Options{
		Backend: dev.Backend, Baseline: dev.baseline, Prober: dev.Prober, Provenance: provenance, Out: out, Resume: f.resume, Fault: f.fault,
		Begin: func() {
			fmt.Fprintf(stderr, "%s: %s\n", dev.Summary, oneLine(estimate, dev.Predicts))
			if dev.Remark != "" {
				fmt.Fprintf(stderr, "%s\n", dev.Remark)
			}
			if dev.noBaseline != "" && ctx.Err() == nil { // an interrupted search for it says nothing
				fmt.Fprintf(stderr, "without XLA's line: %s\n", dev.noBaseline)
			}
		},
		Observe: progress.observe,
	})
	progress.finish()
	return conclude(stdout, stderr, out, outcome, sweepflag.Out(err, out, f.resume))
}

// list prints one point a line.
func list(w io.Writer, s harness.Sweep) error {
	buf := bufio.NewWriter(w)
	for p := range s.Points() {
		fmt.Fprintln(buf, p)
	}
	return buf.Flush()
}

// conclude prints the table of what is in the file and the file's name, whatever
// ended the sweep.
func conclude(stdout, stderr io.Writer, out string, o harness.Outcome, err error) error {
	if o.Repair.Bytes > 0 {
		fmt.Fprintf(stderr, "%s: dropped %s after the last whole round\n", out, backend.FormatBytes(o.Repair.Bytes))
	}
	if len(o.Rows) > 0 {
		summaries := results.Best(results.Summarize(o.Rows))
		if lost := results.WriteTable(stdout, "text", summaries); err == nil { // else what ended the sweep is told
			err = lost
		}
		fmt.Fprintf(stdout, "%s: %s\n", out, cli.Plural(len(o.Rows), "row"))
	}
	sweepflag.Interrupted(stderr, err, out, len(o.Rows))
	if err != nil {
		return err
	}
	for _, r := range o.Rows {
		if harness.Bad(r.Status) {
			return errPoints
		}
	}
	return nil
}
