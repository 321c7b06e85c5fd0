package builtin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/internal/libtpu"
	"matladder/backend/registry"
	"matladder/backend/worker"
	"matladder/backend/xla/pjrt"
	"matladder/internal/deadline"
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

// opener is by which a worker knows pjrt.Opener.
const opener = "pjrt"

// openLimit bounds how long a plugin may take to find its device.
const openLimit = time.Minute

// FindPlugin returns an installed PJRT plugin, if this build can load it.
func FindPlugin(name string) (plugins.Installed, error) {
	if err := pjrt.Available(); err != nil {
		return plugins.Installed{}, err
	}
	return plugins.Find(name)
}

// openWorker opens a plugin in a worker: one that crashes or hangs costs no more than its child
// process. o says all but which plugin.
func openWorker(ctx context.Context, p plugins.Installed, o pjrt.Options) (*worker.Backend, error) {
	o.Plugin, o.Version = p.Library(), p.Version
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	ctx, cancel := deadline.WithTimeout(ctx, openLimit)
	defer cancel()
	return worker.Open(ctx, worker.Options{Opener: opener, Config: config, Env: p.Environment()})
}

// OpenXLA opens XLA on the cores that host describes, in a worker, with a number of threads; o
// may say more.
func OpenXLA(ctx context.Context, host machine.Device, threads int, o pjrt.Options) (*worker.Backend, error) {
	p, err := FindPlugin("cpu")
	if err != nil {
		return nil, err
	}
	o.Name, o.Host, o.Threads = "xla-cpu", host, threads
	return openWorker(ctx, p, o)
}

// OpenVerifier opens XLA on this machine for what is predicted to be verified by: its times are
// of no interest.
func OpenVerifier(ctx context.Context) (backend.Backend, error) {
	return OpenXLA(ctx, machine.Device{}, 0, pjrt.Options{Method: pjrt.Wall})
}
