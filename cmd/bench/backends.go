package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/harness"
	"matladder/internal/cli"
)

// device is an open backend and what its parameters stand for.
type device struct {
	backend.Backend
	params   backend.Params
	summary  string // of the machine, for people
	lowering string // how it runs kernels, if not as kernels
	predict  bool   // it predicts, and runs nothing
	remark   string // what people should know of it; "" for nothing

	baseline   backend.Backend // measures XLA's matmul beside Backend; nil if Backend does, or nothing does
	noBaseline string          // why nothing does

	prober backend.Prober // measures the machine's figures once more; nil if none is measured
}

// Close closes all that is open.
func (d *device) Close() error {
	if d.baseline != nil {
		d.baseline.Close()
	}
	return d.Backend.Close()
}

// request is what the flags ask of a backend.
type request struct {
	name     string
	topology string // to compile for
	threads  int
	params   map[string]string
	probe    bool          // its peaks are wanted
	timeout  time.Duration // of one compilation
}

// A opener opens one backend.
type opener struct {
	name string
	open func(context.Context, request) (*device, error)
}

// openers are the backends of this build, that of no --backend first.
var openers = []opener{{"cpu", openCPU}, {"xla-cpu", openXLA}, {"tpu", openTPU}, {"gpu", openGPU}, {aheadOfTime, openAhead}}

func known() string {
	var names []string
	for _, o := range openers {
		names = append(names, o.name)
	}
	return strings.Join(names, ", ")
}

// open opens the backend that the flags ask for.
func (f *flags) open(ctx context.Context, c harness.Config, probe bool) (*device, error) {
	i := 0
	if name := f.backendName(); name != "" {
		i = slices.IndexFunc(openers, func(o opener) bool { return o.name == name })
	}
	if i < 0 {
		return nil, cli.Usagef("--backend: this build has no backend %q (known: %s)", f.backend, known())
	}
	params, err := cli.Pairs("--param", f.params)
	if err != nil {
		return nil, err
	}
	return openers[i].open(ctx, request{openers[i].name, f.topology, c.Threads, params, probe, c.Timeout})
}

func openCPU(_ context.Context, r request) (*device, error) {
	params, err := cpu.ParseParams(r.params)
	if err != nil {
		return nil, cli.Usagef("--param %w", err)
	}
	b, err := cpu.Open(cpu.Options{Threads: r.threads, ISA: params.ISA, NoProbe: !r.probe})
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	return &device{
		Backend: b,
		params:  backend.Params{Threads: b.Threads(), ISA: b.ISA(), Extra: params.Extra},
		summary: b.Device().Names[0] + ", " + b.Device().Note,
		prober:  b,
	}, nil
}
