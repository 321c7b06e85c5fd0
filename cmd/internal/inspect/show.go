// Package inspect is command inspect: it shows what a kernel does before it runs.
package inspect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
)

// show writes what was asked for: pictures to a file, whose path is printed, and
// tables to stdout or a file.
func (o *options) show(ctx context.Context, stdout io.Writer) error {
	steps := each.Sum(o.programs, (*tile.Program).Steps)
	if (o.as == "steps" || o.as == "traverse") && steps > maxWalked {
		return fmt.Errorf("%d grid steps take too long to walk, at most %d: choose larger blocks, or --as counts", steps, maxWalked)
	}
	path := o.out
	if path == "" {
		switch o.format {
		case "text", "csv":
			return o.write(ctx, stdout)
		}
		path = filepath.Join("out", fmt.Sprintf("%s_%s.%s", o.as, o.stem, o.format))
	}
	var b bytes.Buffer
	if err := o.write(ctx, &b); err != nil {
		return err
	}
	if err := files.Write(path, b.Bytes()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stdout, filepath.ToSlash(path))
	return err
}

func (o *options) write(ctx context.Context, w io.Writer) error {
	switch {
	case o.as == "tile":
		for _, p := range o.programs {
			fmt.Fprintln(w, p)
		}
		return nil
	case o.as == "json":
		return tile.WritePrograms(w, o.programs)
	case o.as == "counts":
		return o.counts(ctx, w)
	case o.as == "mosaic" || o.as == "stablehlo":
		return o.lowered(w)
	case o.as == "schedule":
		return o.schedule(ctx, w)
	case o.launched != nil:
		return o.tritonTable(ctx, w)
	case o.as == "table":
		return o.table(ctx, w)
	case o.as == "plan":
		return o.plan(ctx, w)
	case o.as == "asm":
		return o.assembly(ctx, w)
	case o.as == "timeline":
		return o.timeline(ctx, w)
	case o.as == "accumulator":
		return o.accumulator(ctx, w)
	case o.as == "traverse" && o.format == "text":
		return traverse.WriteMaps(ctx, w, o.programs, nil)
	case o.format == "text":
		return traverse.WriteText(ctx, w, o.programs, nil, o.steps)
	case o.format == "csv":
		return traverse.WriteCSV(ctx, w, o.programs, nil, o.steps)
	}
	r, err := traverse.Record(ctx, o.title(), o.programs, nil, o.steps)
	switch {
	case err != nil:
		return err
	case o.format == "json":
		return r.WriteJSON(w)
	case o.format == "html":
		return r.WriteHTML(w)
	}
	return animate(ctx, w, r)
}

// accumulator writes how the programs add, found by running them on the open device.
func (o *options) accumulator(ctx context.Context, w io.Writer) error {
	if _, ok := o.problem.(problem.Matmul); !ok {
		return fmt.Errorf("--as accumulator is for kernels of matrix products, which %s is not", o.name)
	}
	point := harness.Point{Contender: harness.Rung{Kernel: o.kernel, Blocks: o.blocks}, Problem: o.problem, Variant: o.variant, Params: o.open.Params}
	sweep := harness.Sweep{Config: harness.Config{Timeout: time.Hour}, Groups: []harness.Group{{Points: []harness.Point{point}}}}
	return harness.WriteAccumulators(ctx, w, sweep, harness.Options{Backend: o.open.Backend})
}

// Run is the program: what was asked for goes to stdout, mistakes to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	defer o.close()
	switch {
	case err == nil && o.where.Asked():
		return cli.Status(o.where.Help(stdout))
	case err != nil:
		return cli.End("inspect", cli.Input("", err), "interrupted", stdout, stderr)
	}
	return cli.End("inspect", o.show(ctx, stdout), "interrupted", stdout, stderr)
}
