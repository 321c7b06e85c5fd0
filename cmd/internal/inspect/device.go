package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"matladder/backend"
	"matladder/backend/registry"
	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/machine"

	"github.com/spf13/pflag"
)

// findDevice takes the device that flags name: a chip from the table, by --chip or
// --topology, or this machine's, by --backend, which --as plan and asm take to be the CPU if it
// is not given. That backend stays open in o.open until close.
func (o *options) findDevice(f *pflag.FlagSet, chip string) error {
	hand := o.as == "plan" || o.as == "asm" || o.as == "timeline" && o.where.Topology == "" && !f.Changed("chip")
	switch {
	case f.Changed("threads") && !hand:
		return errors.New("--threads is for --as plan and asm, and for --as timeline of this machine")
	case f.Changed("param") && !hand:
		return errors.New("--param is for --as plan and asm, and for --as timeline of this machine")
	case o.threads < 0:
		return fmt.Errorf("--threads %d is negative", o.threads)
	case (o.as == "plan" || o.as == "asm") && (f.Changed("chip") || o.where.Topology != ""):
		return fmt.Errorf("--as %s is about a device at hand: leave --chip and --topology out", o.as)
	case o.where.Backend != "" && f.Changed("chip"):
		return errors.New("--backend names the device: leave --chip out")
	}
	entry, err := o.where.Entry()
	if err != nil {
		return err
	}
	if !hand && o.where.Backend == "" || entry.Chips != nil { // nothing to open
		o.topology = o.where.Topology
		return o.findChip(chip, f.Changed("chip"))
	}
	if o.open, err = o.where.Open(context.Background(), registry.Request{Threads: o.threads, Probe: o.as == "counts"}); err != nil {
		return err
	}
	o.device = o.open.Device()
	if _, ok := o.open.Backend.(backend.Planner); o.as == "plan" && !ok {
		return fmt.Errorf("--as plan: backend %s does not tell what it makes of a program", o.open.Name())
	}
	if _, ok := o.open.Backend.(backend.Assembler); o.as == "asm" && !ok {
		return fmt.Errorf("--as asm: backend %s has no inner loops in assembly", o.open.Name())
	}
	return nil
}

// findChip takes the device that --topology names, or else --chip, from which the topology
// follows. given says whether --chip was.
func (o *options) findChip(chip string, given bool) (err error) {
	if o.topology == "" {
		if o.device, err = machine.Find(chip); err != nil {
			return fmt.Errorf("--chip: %w", err)
		}
		o.topology = strings.TrimPrefix(o.device.Key, machine.TPU+"_")
		if _, err := aot.FindTopology(o.topology); (o.as == "schedule" || o.as == "table" || o.as == "timeline") && err != nil {
			return fmt.Errorf("--as "+o.as+" needs a TPU, and --chip %s is none that libtpu compiles for: %w", chip, err)
		}
		return nil
	}
	if given {
		return errors.New("--topology names the chip: leave --chip out")
	}
	t, err := aot.FindTopology(o.topology)
	if err == nil {
		o.device, err = t.Device()
	}
	if err != nil {
		return fmt.Errorf("--topology: %w", err)
	}
	return nil
}

// plan writes what the backend makes of the programs.
func (o *options) plan(ctx context.Context, w io.Writer) error {
	var text strings.Builder
	if err := o.open.Backend.(backend.Planner).WritePlan(ctx, &text, o.programs, o.open.Params); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: %s in a launch\n%s", o.title(), cli.Plural(len(o.programs), "program"), text.String())
	return err
}

// close closes what findDevice opened.
func (o *options) close() {
	if o.open != nil {
		o.open.Close()
	}
}
