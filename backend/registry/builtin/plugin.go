package builtin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"matladder/backend/internal/libtpu"
	"matladder/backend/registry"
	"matladder/backend/worker"
	"matladder/backend/xla/pjrt"
	"matladder/machine"
	"matladder/plugins"
)

// pluginParams are those of every backend on a PJRT plugin.
var pluginParams = []registry.Param{
	registry.Number("device", "which of several devices", "0", 0, math.MaxInt),
	registry.Choice("method", "how launches are timed: by loops inside one program, one after another each on what the last one returned, or one at a time each waited for", pjrt.Loop, pjrt.Methods()...),
}

// vmemLimit is a parameter of TPUs, there or not.
var vmemLimit = registry.Size("vmem_limit", "how much fast memory a kernel may take, XLA's own too", "the compiler's own limit")

// pluginOptions are the options that a request's parameters stand for.
func pluginOptions(name string, r registry.Request) pjrt.Options {
	device, _ := strconv.Atoi(r.Params["device"]) // checked; 0 where it is not given
	return pjrt.Options{Name: name, Device: device, Method: r.Params["method"]}
}

// tpuEntry is a TPU, which runs the kernels themselves.
var tpuEntry = registry.Entry{
	Name: "tpu", Help: "a TPU: the kernels, and XLA's own matmul", Can: registry.Measures | registry.Baseline | registry.Programs,
	Params: append(pluginParams[:len(pluginParams):len(pluginParams)],
		registry.Choice("operands", "where operands of a loop may be kept: in HBM, or wherever the compiler likes", pjrt.OperandsHBM, pjrt.OperandsHBM, pjrt.OperandsAny),
		vmemLimit,
	),
	Open: openTPU,
}

func openTPU(ctx context.Context, r registry.Request) (*registry.Device, error) {
	if _, err := libtpu.UserFlags(); err != nil {
		return nil, err
	}
	d, _, err := openPlugin(ctx, r, "tpu", "tpu", machine.TPU)
	if err == nil {
		return d, recordFlags(d)
	}
	switch {
	case errors.As(err, new(*plugins.NotInstalledError)), ctx.Err() != nil:
		return d, err
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64": // where libtpu is not
		return nil, err
	}
	return nil, fmt.Errorf("%w (without a TPU, --backend %s --topology v5e predicts)", err, AOT)
}

// recordFlags has the rows say which flags libtpu finds in the user's environment.
func recordFlags(d *registry.Device) error {
	flags, err := libtpu.UserFlags()
	if err != nil || flags == "" {
		return err
	}
	d.Params = d.Params.With("libtpu_flags", strings.Join(strings.Fields(flags), ","))
	return nil
}

// openPlugin opens the device of a plugin. A missing one costs no wait.
func openPlugin(ctx context.Context, r registry.Request, name, plugin, kind string) (*registry.Device, *worker.Backend, error) {
	p, err := FindPlugin(plugin)
	if err != nil {
		return nil, nil, err
	}
	b, err := openWorker(ctx, p, pluginOptions(name, r))
	if err != nil && !pjrt.Present(kind) {
		err = fmt.Errorf("this machine shows no %s: %w", strings.ToUpper(name), err)
	}
	if err != nil {
		return nil, nil, err
	}
	d := &registry.Device{Backend: b, Summary: b.Device().CommonName()}
	d.FastBytes = int64(b.Device().FastDefaultBytes.Value)
	if size := r.Params["vmem_limit"]; size != "" {
		d.Params.VMEMBytes, _ = registry.ParseSize(size) // checked
		d.FastBytes = d.Params.VMEMBytes
	}
	if r.Params["operands"] == pjrt.OperandsAny { // rows do not name the default
		d.Params.Extra = map[string]string{"operands": pjrt.OperandsAny}
	}
	return d, b, nil
}
