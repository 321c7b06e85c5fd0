package builtin

import (
	"context"
	"errors"
	"fmt"

	"matladder/backend"
	"matladder/backend/internal/nvml"
	"matladder/backend/registry"
	"matladder/backend/worker"
	"matladder/backend/xla/pjrt"
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
	d, w, err := openPlugin(ctx, r, "gpu", "cuda", machine.GPU)
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
	if !pjrt.Present(machine.GPU) {
		return nil, backend.Gauge{}, errors.New("no GPU")
	}
	return nvml.Open(ctx, device)
}

// filled says that other processes hold much of a GPU ahead of the first array here; ""
// where they do not. A driver alone holds less than a hundredth.
func filled(g backend.Gauge) string {
	if g.UsedBytes*50 < g.MemoryBytes || g.MemoryBytes == 0 {
		return ""
	}
	return fmt.Sprintf("other processes hold %s of the GPU's %s: nvidia-smi lists them", backend.FormatBytes(g.UsedBytes), backend.FormatBytes(g.MemoryBytes))
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
