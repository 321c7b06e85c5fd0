package builtin

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/registry"
	"matladder/backend/xla/aot"
	"matladder/internal/each"
	"matladder/lower/triton"
)

// aheadEntry compiles ahead of time, for a chip that this machine need not have, and
// predicts from the compiler's schedule.
var aheadEntry = registry.Entry{
	Name: AOT, Help: "nowhere: libtpu compiles for the TPU of --topology, and its speed is predicted", Can: registry.Predicts | registry.Baseline | registry.Programs,
	Params: []registry.Param{
		vmemLimit,
		registry.Number("p_state", "power state, which sets the clock of a v7x: libtpu's --xla_tpu_dvfs_p_state", "the chip's default", 0, 7),
		registry.Choice("prefetch", "whether an operand of v5 may come to fast memory behind the launch before, as one of XLA's own matmul does", "on", "on", "off"),
		registry.Text("assume", "NAME=TRIPS, of several joined by commas", "how often a loop of a program runs that data decides (--assume)", "such loops are unsupported", func(text string) error {
			_, err := aot.ParseAssumptions(strings.Split(text, ","))
			return err
		}),
	},
	Chips: func() []string { return each.Of(aot.Topologies(), func(t aot.Topology) string { return t.Name }) },
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
	if text := r.Params["p_state"]; text != "" {
		state, _ := strconv.Atoi(text) // checked
		if err := b.Pace(state); err != nil {
			b.Close()
			return nil, &registry.RequestError{Err: fmt.Errorf("--param %w", err)}
		}
		d.Params = d.Params.With("p_state", text)
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

// AheadGPU is the name of the backend that compiles for a GPU which this machine need not have.
const AheadGPU = "aot-gpu"

// aheadGPUEntry compiles for a GPU without using one, and predicts.
var aheadGPUEntry = registry.Entry{
	Name: AheadGPU, Help: "nowhere: XLA compiles for the GPU of --topology, Triton for AMD's, and its speed is predicted", Can: registry.Predicts,
	Params: tritonParams,
	Chips:  func() []string { return each.Of(aot.GPUs(), func(g aot.GPU) string { return g.Name }) },
	Open:   openAheadGPU,
}

// tritonParams are those of kernels on a GPU.
var tritonParams = []registry.Param{
	registry.Number("num_warps", "warps of 32 threads, on AMD's 64, that run one program, a power of two", "by the block's size", 1, 32),
	registry.Number("num_stages", "blocks of an operand that are on their way or at work at once", "what shared memory holds, at most 4", 1, 16),
	registry.Number("group", "programs along m that go along n together, to share what they load", "8", 1, 1024),
	registry.Number("split_k", "parts of k that programs of their own sum, a divisor of its blocks", "1", 1, 1024),
}

// kernelParams are the given ones of tritonParams, as compilations take them.
func kernelParams(given map[string]string) (map[string]string, error) {
	extra := map[string]string{}
	for _, p := range tritonParams {
		if v := given[p.Name]; v != "" {
			extra[p.Name] = v
		}
	}
	if _, err := triton.ParseParams(extra); err != nil {
		return nil, &registry.RequestError{Err: fmt.Errorf("--param: %s", strings.TrimPrefix(err.Error(), "triton: "))}
	}
	if len(extra) == 0 {
		return nil, nil
	}
	return extra, nil
}

func openAheadGPU(_ context.Context, r registry.Request) (*registry.Device, error) {
	extra, err := kernelParams(r.Params)
	if err != nil {
		return nil, err
	}
	b, err := aot.OpenGPUBackend(aot.BackendOptions{Topology: r.Chip, Options: aot.Options{Limit: r.Limit}})
	if err != nil {
		return nil, err
	}
	d := &registry.Device{Backend: b, Params: backend.Params{Extra: extra}, FastBytes: int64(b.Device().FastBytes.Value)}
	d.OpenBaseline = func(context.Context) (backend.Backend, error) { return aot.OpenPublished(b.Device()) }
	d.FindBaseline = func() error { _, err := aot.OpenPublished(b.Device()); return err }
	return predicting(d, b), nil
}
