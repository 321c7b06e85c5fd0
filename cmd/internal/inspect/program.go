package inspect

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"matladder/backend"
	"matladder/backend/foreign/program"
	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model/traverse"
	"matladder/results"
	"matladder/stats"
	"matladder/tile"

	"github.com/spf13/pflag"
)

// programWays are those in which a StableHLO program can be shown, the default first.
var programWays = []string{"table", "schedule", "timeline", "counts"}

// isFile reports whether an argument names a file rather than a kernel.
func isFile(arg string) bool {
	if _, err := kernels.Find(arg); err == nil {
		return false
	}
	_, err := os.Stat(arg)
	return err == nil || strings.ContainsRune(filepath.Base(arg), '.')
}

// fileKind takes a file's content in: text of tile programs as JSON, or into o.program
// StableHLO. What is wrong with a file that is to be StableHLO is told once it is shown.
func (o *options) fileKind(f *pflag.FlagSet, path string) {
	text, err := files.ReadRegular(path, largestFile)
	if trimmed := bytes.TrimSpace(text); err == nil && bytes.HasPrefix(trimmed, []byte("{")) || strings.HasSuffix(path, programFile) {
		return
	}
	if strings.HasSuffix(path, tritonFile) || bytes.Contains(text, []byte("tt.func")) && !bytes.Contains(text, []byte("func.func @")) {
		o.launched, o.wrong = tritonKernel(path, string(text))
	} else {
		o.program, o.wrong = program.Parse(text)
	}
	if err != nil {
		o.wrong = err
	} else if o.wrong != nil {
		o.wrong = fmt.Errorf("%s: %w", path, o.wrong)
	}
	base := filepath.Base(path)
	o.subject = subject{name: base, stem: strings.TrimSuffix(base, filepath.Ext(base)), dtype: tile.BFloat16}
	if !f.Changed("as") {
		o.as = programWays[0]
	}
}

// kernelsOn compiles for a chip, or knows from the cache, and predicts kernel by kernel.
func (o *options) kernelsOn(ctx context.Context, topology string, anew bool, use func(*aot.Backend, []aot.Kernel) error) (err error) {
	if o.wrong != nil {
		return o.wrong
	}
	foreign := o.program != ""
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: topology, Options: aot.Options{Limit: compileLimit, Parallel: 1, Foreign: foreign, Assume: o.assume}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	var list []aot.Kernel
	if foreign {
		list, err = b.Program(ctx, o.program, anew)
	} else {
		var steps []aot.Step
		steps, err = b.Steps(ctx, o.programs, backend.Params{})
		list = each.Of(steps, func(s aot.Step) aot.Kernel { return aot.Kernel{Explained: aot.Explained{Step: s}} })
	}
	if crash := (*aot.CrashError)(nil); errors.As(err, &crash) && foreign && !crash.Timeout {
		return fmt.Errorf("%s: libtpu ended its process over it, as it does over dynamic shapes and operations that it does not know: %w", o.name, err)
	} else if errors.As(err, new(*aot.AssumeError)) {
		return cli.Usagef("--assume: %s on %s: %w", o.name, topology, err)
	} else if err != nil {
		return fmt.Errorf("%s on %s: %w", o.name, topology, err)
	}
	if foreign {
		o.measured(list)
	}
	return use(b, list)
}

// measured makes the kernels of a program the subject: its FLOPs, and the dtype of most of them.
func (o *options) measured(list []aot.Kernel) {
	o.flops = 0
	by := map[string]int64{}
	for _, k := range list {
		o.flops += k.Work.FLOPs
		if by[k.Products] += k.Work.FLOPs; by[k.Products] > by[o.dtype.String()] {
			if d, err := tile.ParseDtype(k.Products); err == nil {
				o.dtype = d
			}
		}
	}
}

// A comparison is a table of several chips, as text or as CSV, that ends with the fastest.
type comparison struct {
	w       io.Writer
	sheet   *csv.Writer // nil for text
	fastest string
	least   float64 // seconds of it
	chips   int
}

// comparison begins one; header is that of CSV.
func (o *options) comparison(w io.Writer, header ...string) *comparison {
	c := &comparison{w: w}
	if o.format == "csv" {
		c.sheet = csv.NewWriter(w)
		c.sheet.Write(header)
	}
	return c
}

// took takes in how long a launch takes on a chip.
func (c *comparison) took(chip string, seconds float64) {
	if c.chips++; c.fastest == "" || seconds < c.least {
		c.fastest, c.least = chip, seconds
	}
}

func (c *comparison) end() error {
	if c.sheet != nil {
		c.sheet.Flush()
		return c.sheet.Error()
	}
	if c.chips > 1 {
		fmt.Fprintf(c.w, "fastest: %s, %s a launch\n", c.fastest, stats.FormatSeconds(c.least))
	}
	return nil
}

// table writes a program kernel by kernel for each chip, and which of them is the fastest.
func (o *options) table(ctx context.Context, w io.Writer) error {
	c := o.comparison(w, "chip", "kernel", "seconds", "low", "high", "limit", "flops", "bytes", "vmem", "bundles", "trips", "times", "unsupported", "note")
	for _, topology := range o.topologies {
		err := o.kernelsOn(ctx, topology, false, func(b *aot.Backend, list []aot.Kernel) error {
			sum := b.Sum(list)
			c.took(topology, sum.Elapsed.Seconds())
			if c.sheet != nil {
				for _, k := range list {
					c.sheet.Write(strings.Split(fmt.Sprintf("%s\x00%s\x00%.4g\x00%.4g\x00%.4g\x00%s\x00%d\x00%d\x00%d\x00%d\x00%d\x00%d\x00%s\x00%s", topology, k.Kernel, k.Time.Seconds, k.Least, k.Most,
						k.Time.Limit, k.Work.FLOPs, k.Work.Bytes, k.VMEM, k.Bundles, k.Trips, k.Times, k.Unsupported, k.Note), "\x00"))
				}
				c.sheet.Write([]string{topology, "sum", fmt.Sprintf("%.4g", sum.Elapsed.Seconds()), fmt.Sprintf("%.4g", sum.Low.Seconds()), fmt.Sprintf("%.4g", sum.High.Seconds()), "", fmt.Sprint(o.flops), "", "", "", "", "", "", ""})
				return nil
			}
			return o.chipTable(w, b, list, sum)
		})
		if err != nil {
			return err
		}
	}
	return c.end()
}

// chipTable writes the kernels on one chip, and their sum.
func (o *options) chipTable(w io.Writer, b *aot.Backend, list []aot.Kernel, sum backend.Prediction) error {
	device := b.Device()
	fmt.Fprintf(w, "%s on %s, predicted from the schedule of %s\n", o.title(), device.CommonName(), sum.Source)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "kernel\ttime\tband\tlimit\tFLOPs\tbytes\tVMEM\tbundles × trips")
	var unknown int64
	notes, uncounted := "", false
	for _, k := range list {
		time, band, limit := stats.FormatSeconds(k.Time.Seconds), stats.FormatSeconds(k.Least)+" … "+stats.FormatSeconds(k.Most), string(k.Time.Limit)
		if k.Unsupported != "" {
			unknown++
			time, band, limit = "unsupported", "at least "+stats.FormatSeconds(k.Least), ""
			notes += fmt.Sprintf("unsupported: %s: %s\n", k.Kernel, k.Unsupported)
		} else if k.Note != "" {
			notes += fmt.Sprintf("note: %s: %s\n", k.Kernel, k.Note)
		}
		flops := fmt.Sprintf("%.4g", float64(k.Work.FLOPs))
		if k.Uncounted {
			flops, uncounted = "unknown", true
		}
		code, vmem := "", ""
		if k.VMEM > 0 {
			vmem = traverse.FastMemory(k.VMEM)
		}
		if k.Bundles > 0 {
			code = fmt.Sprintf("%d × %d", k.Bundles, max(1, k.Trips)) + words.When(k.Times > 1, ", %d times", k.Times)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Kernel, time, band, limit, flops, traverse.Bytes(k.Work.Bytes), vmem, code)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, notes)
	if unknown > 0 {
		_, err := fmt.Fprintf(w, "launch: at least %s, %s being unsupported\n\n", stats.FormatSeconds(sum.Low.Seconds()), words.Count(unknown, "kernel"))
		return err
	}
	if uncounted {
		o.flops = 0 // or the rate would be that of a part
	}
	peak, of := b.Peak(o.dtype.String(), o.precision.String())
	return o.rated(w, sum, peak, of)
}

// rated writes how long a launch takes, and at what part of a peak it runs.
func (o *options) rated(w io.Writer, sum backend.Prediction, peak machine.Figure, of string) error {
	seconds := sum.Elapsed.Seconds()
	fmt.Fprintf(w, "launch: %s predicted, %s … %s", stats.FormatSeconds(seconds), stats.FormatSeconds(sum.Low.Seconds()), stats.FormatSeconds(sum.High.Seconds()))
	if o.flops > 0 {
		o.writeRate(w, seconds, peak, of)
	}
	_, err := fmt.Fprint(w, "\n\n")
	return err
}

// writeRate writes the rate of a launch, and at what part of a peak it is.
func (o *options) writeRate(w io.Writer, seconds float64, peak machine.Figure, of string) {
	rate := float64(o.flops) / seconds
	unit, divisor := results.RateUnit(rate, results.Operations(o.dtype.IsInteger()))
	fmt.Fprintf(w, ", %.4g %s", rate/divisor, unit)
	if peak.Known() {
		fmt.Fprintf(w, ", %.1f %% of the %s peak of %.4g %s", 100*rate/peak.Value, of, peak.Value/divisor, unit)
	}
}
