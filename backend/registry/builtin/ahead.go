package builtin

import (
	"context"
	"fmt"
	"strings"

	"matladder/backend"
	"matladder/backend/registry"
	"matladder/backend/xla/aot"
	"matladder/internal/known"
)

// aheadEntry compiles ahead of time, for a chip that this machine need not have, and
// predicts from the compiler's schedule.
var aheadEntry = registry.Entry{
	Name: AOT, Help: "nowhere: libtpu compiles for the TPU of --topology, and its speed is predicted", Can: registry.Predicts | registry.Baseline | registry.Programs,
	Params: []registry.Param{
		vmemLimit,
		registry.Choice("prefetch", "whether an operand of v5 may come to fast memory behind the launch before, as one of XLA's own matmul does", "on", "on", "off"),
		registry.Text("assume", "NAME=TRIPS, of several joined by commas", "how often a loop of a program runs that data decides (--assume)", "such loops are unsupported", func(text string) error {
			_, err := aot.ParseAssumptions(strings.Split(text, ","))
			return err
		}),
	},
	Chips: func() []string { return known.Names(aot.Topologies(), func(t aot.Topology) string { return t.Name }) },
	Open:  openAhead,
}

func openAhead(_ context.Context, r registry.Request) (*registry.Device, error) {
	o := aot.Options{Limit: r.Limit}
	assumed := r.Params["assume"]
	if assumed != "" {
		o.Assume, _ = aot.ParseAssumptions(strings.Split(assumed, ",")) // checked
	}
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: r.Chip, Options: o})
	if err != nil {
		return nil, err
	}
	d := &registry.Device{Backend: b, FastBytes: int64(b.Device().FastDefaultBytes.Value)}
	d.Params.Prefetch = r.Params["prefetch"] != "off"
	if assumed != "" {
		d.Params = d.Params.With("assume", assumed)
	}
	if err := recordFlags(d); err != nil {
		b.Close()
		return nil, err
	}
	if text := r.Params["vmem_limit"]; text != "" {
		n, _ := registry.ParseSize(text) // checked
		if most := b.MostVMEM(); n > most {
			b.Close()
			return nil, &registry.RequestError{Err: fmt.Errorf("--param vmem_limit=%s: %s has %s", text, r.Chip, backend.FormatBytes(most))}
		}
		d.Params.VMEMBytes, d.FastBytes = n, n
	}
	return predicting(d, b), nil
}

// predicting fills in the description of a backend that compiles ahead of time.
func predicting(d *registry.Device, b interface {
	backend.Plugged
	Kept() error
}) *registry.Device {
	name, version := b.Plugin()
	d.Summary = fmt.Sprintf("%s, predicted: %s", d.Device().CommonName(), strings.TrimSpace(name+" "+version))
	if err := b.Kept(); err != nil {
		d.Remark = err.Error()
	}
	return d
}
