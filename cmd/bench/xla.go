package main

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/pjrt"
	"matladder/chips"
	"matladder/internal/cli"
	"matladder/internal/pluginworker"
	"matladder/results"
)

// openXLA opens XLA on the cores of this machine: the baseline, and kernels as
// what they mean.
func openXLA(ctx context.Context, r request) (*device, error) {
	params, err := r.pluginParams()
	if err != nil {
		return nil, err
	}
	host, err := openCPU(ctx, request{threads: r.threads, probe: r.probe})
	if err != nil {
		return nil, err
	}
	defer host.Close()
	b, err := openHost(ctx, host, params)
	if err != nil {
		return nil, err
	}
	return &device{
		Backend: b, params: backend.Params{Threads: host.params.Threads}, lowering: results.Interpret,
		summary: fmt.Sprintf("%s, XLA, %s", host.Device().Names[0], cli.Plural(host.params.Threads, "thread")),
		prober:  host.prober,
	}, nil
}

// openHost opens XLA on the cores that host is, with as many threads.
func openHost(ctx context.Context, host *device, params pluginParams) (backend.Backend, error) {
	return pluginworker.OpenXLA(ctx, host.Device(), host.params.Threads, pjrt.Options{Device: params.device, Method: params.method})
}

// compareWithXLA finds the baseline of a backend that has none of its own, and
// opens it if it is to run.
func (d *device) compareWithXLA(ctx context.Context, open bool) {
	if d.Device().Kind != chips.CPU || d.lowering != "" {
		return
	}
	_, err := pluginworker.Find("cpu")
	if err == nil && open {
		var b backend.Backend
		if b, err = openHost(ctx, d, pluginParams{}); err == nil {
			d.baseline = b
		}
	}
	if err != nil {
		d.noBaseline = err.Error()
	}
}
