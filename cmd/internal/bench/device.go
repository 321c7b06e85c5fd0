package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/registry"
	"matladder/backend/registry/builtin"
	"matladder/harness"
	"matladder/harness/measure"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/internal/words"
	"matladder/machine"
)

// opened is an open backend.
type opened = registry.Device

// device is an open backend, and the one that measures the baseline beside it.
type device struct {
	*opened
	baseline   backend.Backend // nil if the backend measures it, or nothing does
	noBaseline error           // why nothing does
}

// open opens the backend that the flags ask for.
func (f *flags) open(ctx context.Context, c harness.Config, stderr io.Writer) (*device, error) {
	e, err := f.where.Entry()
	predicts := err == nil && e.Can&registry.Predicts != 0
	switch {
	case c.Pin && f.where.Name() != builtin.CPU:
		return nil, cli.Usagef("--pin binds threads of backend %s, and kernels run on %s", builtin.CPU, f.where.Name())
	case c.Cache != "" && predicts:
		return nil, cli.Usagef("--cache %s is for measuring, and backend %s predicts", c.Cache, e.Name)
	case predicts && (f.set.Changed("inputs") || len(c.Inputs) > 1):
		return nil, cli.Usagef("--inputs %s is for measuring: what backend %s predicts does not depend on inputs", strings.Join(c.Inputs, ","), e.Name)
	case predicts && (len(c.Duty) > 0 || c.Cool > 0):
		return nil, cli.Usagef("--duty and --cool are for measuring, and backend %s predicts", e.Name)
	case f.set.Changed("window") && (len(c.Duty) == 0 || c.Window == 0):
		return nil, cli.Usagef("--window %s: want a time above 0, and --duty beside it", c.Window)
	}
	d, err := f.where.Open(ctx, registry.Request{Threads: c.Threads, Pin: c.Pin, Probe: true, Anew: f.probe, Probing: cli.Probing(stderr), Limit: c.Timeout})
	if err != nil {
		return nil, err
	}
	if c.Cache != "" {
		if err := harness.CanCool(d.Backend); err != nil {
			d.Close()
			return nil, cli.Usagef("--cache %s: %w", c.Cache, err)
		}
	}
	return &device{opened: d}, nil
}

// Close closes all that is open.
func (d *device) Close() error {
	if d.baseline != nil {
		d.baseline.Close()
	}
	return d.opened.Close()
}

// findBaseline looks for the baseline of a backend that has none of its own, and opens it
// if it is to run.
func (d *device) findBaseline(ctx context.Context, open bool) {
	if d.FindBaseline == nil {
		return
	}
	err := d.FindBaseline()
	if err == nil && open {
		var b backend.Backend
		if b, err = d.OpenBaseline(ctx); err == nil {
			d.baseline = b
		}
	}
	d.noBaseline = err
}

// checkWhere refuses what makes no sense where the flags ask to run.
func (f *flags) checkWhere() error {
	if f.where.Asked() {
		return nil
	}
	e, err := f.where.Entry()
	switch {
	case err != nil:
		return err
	case e.Can&registry.Predicts == 0 && (f.predict || f.where.Topology != ""):
		return cli.Usagef("--backend %s measures: --predict and --topology are for --backend %s, which can go on with the same file (--out FILE --resume)", e.Name, builtin.AOT)
	case e.Can&(registry.Measures|registry.Interpreted) == 0 && f.fault != "":
		return cli.Usagef("--fault damages outputs, and --backend %s has none: it runs nothing", e.Name)
	case e.Can&(registry.Measures|registry.Interpreted) == 0 && f.accumulators:
		return cli.Usagef("--accumulators runs kernels, and --backend %s runs nothing", e.Name)
	}
	return f.where.Check()
}

// printMachine writes what is known of a device: each figure with its source and, where
// it was measured, its age.
func printMachine(ctx context.Context, w io.Writer, d *device, now time.Time) {
	m := d.Device()
	fmt.Fprintf(w, "%s\n", d.Summary)
	line := func(name, value string, f machine.Figure) {
		if !f.Known() {
			value = "not known"
		}
		age := words.When(f.Measured && !f.At.IsZero(), ", %s (%s)", ago(now.Sub(f.At)), f.At.Format(time.DateOnly))
		fmt.Fprintf(w, "  %-24s %-14s %s%s\n", name, value, cmp.Or(f.Source, f.Why), age)
	}
	fmt.Fprintf(w, "  %-24s %s\n", "chip", m.Key)
	if m.Cores > 0 {
		fmt.Fprintf(w, "  %-24s %d\n", "cores", m.Cores)
	}
	for _, dtype := range m.Dtypes() {
		f := m.Peak[dtype]
		unit := "TFLOP/s"
		if strings.HasPrefix(dtype, "int") {
			unit = "TOP/s"
		}
		line("peak, "+dtype, fmt.Sprintf("%.3g %s", f.Value/1e12, unit), f)
	}
	f := m.BandwidthBytesPerSecond
	line("bandwidth of memory", fmt.Sprintf("%.3g GB/s", f.Value/1e9), f)
	for _, b := range []struct {
		name string
		f    machine.Figure
	}{{"memory", m.MemoryBytes}, {"last-level cache", m.LastLevelCacheBytes}, {"fast memory", m.FastBytes}} {
		line(b.name, backend.FormatBytes(int64(b.f.Value)), b.f)
	}
	if !d.Predicts {
		source, err := measure.Energy(ctx, d.Backend)
		if err != nil {
			source = "not known: " + err.Error()
		}
		fmt.Fprintf(w, "  %-24s %s\n", "energy", source)
	}
	if d.ProbeFile != "" {
		fmt.Fprintf(w, "measured figures are kept in %s; --probe measures them again\n", d.ProbeFile)
	}
}

// ago says in words how long something is past.
func ago(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int(d / u.size); n > 0 {
			return words.Count(n, u.name) + " ago"
		}
	}
	return "just now"
}

// noTable is the value of --tuned that leaves kernels to their own candidates.
const noTable = "none"

// tunedBlocks reads the table of tuned blocks that the flags ask for: a file, or the
// one that comes with bench for the machine; nil if there is none.
func (f *flags) tunedBlocks(dev *device) (*tuned.Table, error) {
	switch f.tuned {
	case "":
		return tuned.OfMachine(dev.Device(), dev.Params)
	case noTable:
		return nil, nil
	}
	t, err := tuned.ReadFile(f.tuned)
	if err != nil {
		return nil, cli.Input("tuned", err)
	}
	if machine := tuned.MachineName(dev.Device(), dev.Params.ISA, dev.Params.Threads); t.Machine != machine {
		return nil, cli.Usagef("--tuned: %s is the table of %s, this is %s", f.tuned, t.Machine, machine)
	}
	return t, nil
}
