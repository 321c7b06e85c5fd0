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
	"matladder/backend/internal/nvml"
	"matladder/backend/registry"
	"matladder/backend/worker"
	"matladder/backend/xla/pjrt"
	"matladder/internal/deadline"
	"matladder/internal/words"
	"matladder/machine"
	"matladder/plugins"
	"matladder/tile"
)

// gpuEntry is a GPU, on which kernels run as such.
var gpuEntry = registry.Entry{
	Name: "gpu", Help: "an NVIDIA GPU: the kernels, and XLA's own matmul", Can: registry.Measures | registry.Baseline | registry.Programs,
	Params: append(append(pluginParams[:len(pluginParams):len(pluginParams)],
		registry.Choice("operands", "where launches find their operands: in HBM, as they take copies in turn that the L2 cache does not hold, or wherever the same ones are left", pjrt.OperandsHBM, pjrt.OperandsHBM, pjrt.OperandsAny),
	), tritonParams...),
	Open: openGPU,
}

func openGPU(ctx context.Context, r registry.Request) (*registry.Device, error) {
	extra, err := kernelParams(r.Params)
	if err != nil {
		return nil, err
	}
	// Ahead of the plugin, which takes most of the GPU's memory for itself.
	reader, before, unread := openReader(ctx, pluginOptions("", r).Device)
	d, w, err := openPlugin(ctx, r, "gpu", "cuda")
	if err == nil {
		operands := d.Params.Extra["operands"]
		if d.Params.Extra = extra; operands != "" {
			d.Params = d.Params.With("operands", operands)
		}
		d.Backend = gpu{w, reader}
		if d.Remark = filled(before); d.Remark == "" && unread != nil {
			d.Remark = fmt.Sprintf("clock, heat and other processes of the GPU are not known: %v", unread)
		}
		return d, nil
	}
	reader.Close()
	if errors.As(err, new(*plugins.NotInstalledError)) || ctx.Err() != nil {
		return nil, err
	}
	if driver := plugins.Driver("cuda"); driver != "" {
		err = fmt.Errorf("%w (driver %s)", err, driver)
	}
	if remark := filled(before); remark != "" {
		err = fmt.Errorf("%w (%s)", err, remark)
	}
	return nil, fmt.Errorf("%w (without a GPU, --topology h100 predicts)", err)
}

// openReader opens what tells how a GPU fares.
func openReader(ctx context.Context, device int) (*nvml.Reader, backend.Gauge, error) {
	if plugins.MissingDevice("cuda") != "" {
		return nil, backend.Gauge{}, errors.New("no GPU")
	}
	return nvml.Open(ctx, device)
}

// filled says that other processes hold much of a GPU ahead of the first array here; ""
// where they do not. A driver alone holds less than a hundredth.
func filled(g backend.Gauge) string {
	much := g.MemoryBytes > 0 && g.UsedBytes*50 >= g.MemoryBytes
	return words.When(much, "other processes hold %s of the GPU's %s: nvidia-smi lists them", backend.FormatBytes(g.UsedBytes), backend.FormatBytes(g.MemoryBytes))
}

// gpu is a GPU in a worker, whose kernels have parameters to be tuned.
type gpu struct {
	*worker.Backend
	reader *nvml.Reader // nil where nothing can be read
}

var (
	_ backend.Adjuster = gpu{}
	_ backend.Plugged  = gpu{}
	_ backend.Gauged   = gpu{}
)

// Adjustments lists parameters of the kernels; nothing is asked of the worker.
func (b gpu) Adjustments(_ context.Context, programs []*tile.Program, params backend.Params) ([]backend.Params, error) {
	return pjrt.GPUAdjustments(b.Device(), programs, params)
}

// Gauge reads how the GPU fares.
func (b gpu) Gauge(ctx context.Context) (backend.Gauge, bool) { return b.reader.Gauge(ctx) }

// Close ends the worker and the reader.
func (b gpu) Close() error { return errors.Join(b.Backend.Close(), b.reader.Close()) }

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
	d, _, err := openPlugin(ctx, r, "tpu", "tpu")
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
func openPlugin(ctx context.Context, r registry.Request, name, plugin string) (*registry.Device, *worker.Backend, error) {
	p, err := FindPlugin(plugin)
	if err != nil {
		return nil, nil, err
	}
	b, err := openWorker(ctx, p, pluginOptions(name, r))
	if err != nil && plugins.MissingDevice(plugin) != "" {
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
