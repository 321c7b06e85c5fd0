package bench

import (
	"context"
	"io"

	"matladder/backend"
	"matladder/backend/registry"
	"matladder/backend/registry/builtin"
	"matladder/harness"
	"matladder/internal/cli"
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
	if c.Pin && f.where.Name() != builtin.CPU {
		return nil, cli.Usagef("--pin binds threads of backend %s, and kernels run on %s", builtin.CPU, f.where.Name())
	}
	if e, err := f.where.Entry(); err == nil && c.Cache != "" && e.Can&registry.Predicts != 0 {
		return nil, cli.Usagef("--cache %s is for measuring, and backend %s predicts", c.Cache, e.Name)
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
	if err != nil {
		d.noBaseline = err
	}
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
