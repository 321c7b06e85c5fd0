package main

import (
	"context"
	"fmt"
	"io"

	"matladder/backend/cpu"
	"matladder/internal/cli"
)

// openCPU makes this machine the device: as --threads, --param and MATLADDER_CPU say.
// Its peaks are not measured.
func (o *options) openCPU(params []string) error {
	pairs, err := cli.Pairs("--param", params)
	if err != nil {
		return err
	}
	if o.params, err = cpu.ParseParams(pairs); err != nil {
		return cli.Usagef("--param %w", err)
	}
	b, err := cpu.Open(cpu.Options{Threads: o.threads, ISA: o.params.ISA, NoProbe: true})
	if err != nil {
		return err
	}
	o.cpu, o.device = b, b.Device()
	return nil
}

// plan writes what the CPU backend makes of the programs.
func (o *options) plan(ctx context.Context, w io.Writer) error {
	p, err := o.cpu.Explain(ctx, o.programs, o.params)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: %s in a launch\n%s", o.title(), cli.Plural(len(p.Programs), "program"), p)
	return err
}
