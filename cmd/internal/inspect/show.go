// Package inspect is command inspect: it shows what a kernel does before it runs.
package inspect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/backend/timeline"
	"matladder/backend/xla/aot"
	"matladder/check"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/model"
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
	if o.out == "" && (o.format == "text" || o.format == "csv") {
		return o.write(ctx, stdout)
	}
	path := cmp.Or(o.out, filepath.Join("out", fmt.Sprintf("%s_%s.%s", o.as, o.stem, o.format)))
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
	views := map[string]func(context.Context, io.Writer) error{
		"counts": o.counts, "schedule": o.schedule, "table": o.table, "plan": o.plan, "asm": o.assembly,
		"anatomy": o.anatomy, "timeline": o.timeline, "accumulator": o.accumulator,
	}
	if o.launched != nil {
		views["table"] = o.tritonTable
	}
	if view := views[o.as]; view != nil {
		return view(ctx, w)
	}
	switch {
	case o.as == "tile":
		for _, p := range o.programs {
			fmt.Fprintln(w, p)
		}
		return nil
	case o.as == "json":
		return tile.WritePrograms(w, o.programs)
	case o.as == "mosaic" || o.as == "stablehlo":
		return o.lowered(w)
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
	}
	return r.WriteHTML(w)
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

// counts writes what one launch costs, and where it stands under the roofline of the device.
func (o *options) counts(ctx context.Context, w io.Writer) error {
	c, err := o.count(ctx)
	if err != nil {
		return err
	}
	c.FLOPs = cmp.Or(c.FLOPs, o.flops) // no products: the problem's own
	type row struct{ name, value, note string }
	whole := func(n int64) string { return fmt.Sprint(n) }
	rows := []row{
		{"kernel", o.name, ""},
		{"grid steps", whole(c.GridSteps), ""},
		{"FLOPs", whole(c.FLOPs), ""},
		{"bytes at least", whole(c.BytesMin), traverse.Bytes(c.BytesMin) + ", every array once"},
		{"bytes moved", whole(c.BytesMoved), traverse.Bytes(c.BytesMoved)},
		{"fast memory", whole(c.FastBytes), traverse.FastMemory(c.FastBytes) + o.fits(c.FastBytes)},
		{"intensity", fmt.Sprintf("%.1f", c.Intensity()), "FLOPs per byte moved"},
		{"at most", fmt.Sprintf("%.1f", c.MinimumIntensity()), "FLOPs per byte, if every array moved once"},
		{"chip", o.device.Key, ""},
	}
	if o.program != "" {
		rows[3].note = traverse.Bytes(c.BytesMin) + ", what each kernel cannot do without"
	}
	if o.kernel != nil {
		rows = slices.Insert(rows, 1, row{"problem", o.asked, ""}, row{"blocks", o.blocks.String(), o.kernel.Family().BlockForm()})
	}
	if r, ok := c.At(o.device, o.dtype.String(), o.precision.String()); ok {
		rows = append(rows,
			row{"ridge", fmt.Sprintf("%.1f", r.Ridge), "FLOPs per byte where the roofs meet"},
			row{"roof", string(r.Limit), "what holds it back"},
			row{"attainable", fmt.Sprintf("%.4g", r.Attainable/1e12), fmt.Sprintf("TFLOP/s, %.1f %% of the %s peak", 100*r.Attainable/o.device.PeakAt(o.dtype.String(), "").Value, o.dtype)},
			row{"seconds", fmt.Sprintf("%.4g", r.Seconds), "at that rate"},
		)
	} else {
		rows = append(rows, row{"roof", "unknown", fmt.Sprintf("%s publishes no peak for %s, or no bandwidth", o.device.Key, o.dtype)})
	}
	if o.format == "csv" {
		t := csv.NewWriter(w)
		t.Write([]string{"quantity", "value", "note"})
		for _, r := range rows {
			t.Write([]string{r.name, r.value, r.note})
		}
		t.Flush()
		return t.Error()
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%-16s  %s%s\n", r.name, r.value, words.Between("  (", r.note, ")"))
	}
	return nil
}

// count counts a launch: tile programs by themselves, a program of XLA by what the compiler
// makes of it. Of the latter the bytes at least are those that its kernels cannot do without.
func (o *options) count(ctx context.Context) (c model.Counts, err error) {
	if o.program == "" && o.wrong == nil {
		return model.Count(o.programs)
	}
	err = o.kernelsOn(ctx, o.topology, false, func(_ *aot.Backend, list []aot.Kernel) error {
		for _, k := range list {
			c.GridSteps += k.Work.Steps
			c.FLOPs += k.Work.FLOPs
			c.BytesMoved += k.Work.Bytes
			c.BytesMin += k.LeastBytes
			c.FastBytes = max(c.FastBytes, k.VMEM)
		}
		return nil
	})
	return c, err
}

// fits compares with the device's fast memory.
func (o *options) fits(need int64) string {
	limit := o.device.FastDefaultBytes
	switch {
	case !limit.Known():
		return ""
	case float64(need) > limit.Value:
		return fmt.Sprintf(", does not fit %s of %s", traverse.FastMemory(int64(limit.Value)), o.device.Key)
	}
	return fmt.Sprintf(" of %s on %s", traverse.FastMemory(int64(limit.Value)), o.device.Key)
}

// timeline writes what happens when in a launch: recorded on the device at hand, or
// predicted for a TPU.
func (o *options) timeline(ctx context.Context, w io.Writer) (err error) {
	var list []*timeline.Timeline
	if o.open == nil {
		list, err = o.predicted(ctx)
	} else {
		list, err = o.recorded(ctx)
	}
	if err != nil {
		return err
	}
	switch o.format {
	case "json":
		return timeline.Chrome(w, list...)
	case "svg":
		return timeline.SVG(w, list...)
	}
	return timeline.Text(w, list...)
}

func (o *options) predicted(ctx context.Context) (list []*timeline.Timeline, err error) {
	err = o.explain(ctx, func(_ *aot.Backend, parts []aot.Explained) error {
		list = each.Of(parts, func(p aot.Explained) *timeline.Timeline {
			return p.Timeline(fmt.Sprintf("%s: %s on %s", o.title(), o.short(p.Kernel), o.device.CommonName()))
		})
		return nil
	})
	return list, err
}

// recorded runs the programs on the open device: a problem's inputs are those of seed 0,
// those of a file's programs zeros.
func (o *options) recorded(ctx context.Context) (list []*timeline.Timeline, err error) {
	e, err := backend.Compile(ctx, o.open.Backend, o.programs, o.open.Params)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	tracer, ok := e.(backend.Tracer)
	if !ok {
		return nil, fmt.Errorf("--as timeline: backend %s does not tell what happens in a launch", o.open.Name())
	}
	if o.problem != nil {
		err = seeded.Of(e, o.programs, &seeded.References{}).LoadSeeded(ctx, backend.InputSpec{Problem: o.problem, Dist: check.Uniform})
	} else {
		var bound tile.Bindings
		if bound, err = tile.Bind(o.programs); err != nil {
			return nil, err
		}
		in := each.Of(bound.In, func(r *tile.Ref) tile.Tensor { return tile.NewTensor(r.Dtype, r.Array...) })
		err = e.Load(in...)
	}
	if err != nil {
		return nil, err
	}
	t, err := tracer.Trace(ctx)
	if err != nil {
		return nil, err
	}
	t.Title = o.title()
	return append(list, t), nil
}
