package builtin

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/registry"
)

// xlaEntry is XLA on the cores of this machine: the baseline, and kernels in plain array
// operations (registry.Interpreted).
var xlaEntry = registry.Entry{
	Name: "xla-cpu", Help: "XLA on those cores: the baseline, and kernels as variant interpret", Can: registry.Interpreted | registry.Baseline | registry.Programs,
	Params: pluginParams, Open: openXLA,
}

func openXLA(ctx context.Context, r registry.Request) (*registry.Device, error) {
	host, err := openCPU(ctx, registry.Request{Threads: r.Threads, Probe: r.Probe, Probing: r.Probing, Anew: r.Anew})
	if err != nil {
		return nil, err
	}
	defer host.Close()
	b, err := OpenXLA(ctx, host.Host, host.Params.Threads, pluginOptions("", r))
	if err != nil {
		return nil, err
	}
	return &registry.Device{
		Backend: b, Params: backend.Params{Threads: host.Params.Threads}, Prober: host.Prober, ProbeFile: host.ProbeFile, Controller: host.Controller,
		Summary: fmt.Sprintf("%s, XLA, threads: %d", host.Host.Names[0], host.Params.Threads),
	}, nil
}
