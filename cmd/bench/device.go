package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"matladder/backend"
	"matladder/backend/pjrt"
	"matladder/chips"
	"matladder/internal/cli"
	"matladder/internal/pluginworker"
	"matladder/plugins"
	"matladder/results"
)

// openTPU opens a TPU, on which kernels run as such.
func openTPU(ctx context.Context, r request) (*device, error) {
	d, err := openPlugin(ctx, r, "tpu", chips.TPU)
	var missing *plugins.NotInstalledError
	var usage *cli.UsageError
	switch {
	case err == nil, errors.As(err, &missing), errors.As(err, &usage), ctx.Err() != nil:
		return d, err
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64": // where libtpu is not
		return nil, err
	}
	return nil, fmt.Errorf("%w (without a TPU, --backend aot --topology v5e predicts)", err)
}

// openGPU opens a GPU, on which kernels run as what they mean.
func openGPU(ctx context.Context, r request) (*device, error) {
	d, err := openPlugin(ctx, r, "cuda", chips.GPU)
	if err != nil {
		return nil, err
	}
	d.lowering = results.Interpret
	return d, nil
}

// openPlugin opens the device of a plugin. One that is not there costs no wait.
func openPlugin(ctx context.Context, r request, plugin, kind string) (*device, error) {
	params, err := r.pluginParams()
	if err != nil {
		return nil, err
	}
	p, err := pluginworker.Find(plugin)
	if err != nil {
		return nil, err
	}
	b, err := pluginworker.Open(ctx, p, pjrt.Options{Name: r.name, Device: params.device, Method: params.method})
	if err != nil && !pjrt.Present(kind) {
		err = fmt.Errorf("this machine shows no %s: %w", strings.ToUpper(r.name), err)
	}
	if err != nil {
		return nil, err
	}
	d := &device{Backend: b, params: backend.Params{VMEMBytes: params.vmemBytes}, summary: b.Device().Names[0]}
	if params.operands == pjrt.OperandsAny { // what is the default has no word in the rows
		d.params.Extra = map[string]string{"operands": params.operands}
	}
	return d, nil
}
