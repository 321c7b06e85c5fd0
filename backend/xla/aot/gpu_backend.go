package aot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/internal/each"
	"matladder/lower/triton"
	"matladder/machine"
	"matladder/model"
	"matladder/tile"
)

// GPUBackend predicts executions on a GPU; none is used. It predicts no baseline, as XLA chooses
// among cuBLAS's kernels and its own by timing them on the GPU: Published has one.
type GPUBackend struct {
	compiler *GPUCompiler // of NVIDIA's GPUs
	amd      *amdCompiler // of AMD's; one of the two is nil
	cache    cache
	gpu      GPU
	target   triton.Target
	device   machine.Device
	noCache  error
}

var (
	_ backend.Backend           = (*GPUBackend)(nil)
	_ backend.Predictor         = (*GPUBackend)(nil)
	_ backend.BaselinePredictor = (*GPUBackend)(nil)
	_ backend.Plugged           = (*GPUBackend)(nil)
	_ backend.Adjuster          = (*GPUBackend)(nil)
)

// OpenGPUBackend returns a backend for one GPU; o.Topology is one of GPUs. Errors are
// those of OpenGPU, and of a GPU that is not known.
func OpenGPUBackend(o BackendOptions) (*GPUBackend, error) {
	b := &GPUBackend{}
	var err error
	if b.gpu, err = FindGPU(o.Topology); err != nil {
		return nil, err
	}
	if b.device, err = b.gpu.Device(); err != nil {
		return nil, err
	}
	b.device.Arch = b.gpu.Arch
	b.target = triton.TargetOf(b.device.Key, int64(b.device.FastBytes.Value))
	if b.gpu.major == 0 {
		if b.amd, err = openAMD(o.Options); err != nil {
			return nil, err
		}
		name, version := b.amd.Plugin()
		b.cache, b.noCache = openCache(o.Cache, name+" "+version)
		return b, nil
	}
	if b.compiler, err = OpenGPU(o.Options); err != nil {
		return nil, err
	}
	b.cache, b.noCache = openCache(o.Cache, b.compiler.about("XLA for GPUs"))
	return b, nil
}

// Name is aot-gpu.
func (*GPUBackend) Name() string { return "aot-gpu" }

// Device is the GPU as the chip table has it.
func (b *GPUBackend) Device() machine.Device { return b.device }

// Plugin names XLA's plugin for GPUs, or Triton.
func (b *GPUBackend) Plugin() (name, version string) {
	if b.amd != nil {
		return b.amd.Plugin()
	}
	return "xla_cuda_plugin", b.compiler.options.version
}

// Kept returns why outcomes are not kept on disk, nil if they are.
func (b *GPUBackend) Kept() error { return b.noCache }

// Close ends the compiler's processes.
func (b *GPUBackend) Close() error {
	if b.amd != nil {
		return b.amd.Close()
	}
	return b.compiler.Close()
}

// GPUStep is one kernel of a launch, compiled and predicted.
type GPUStep struct {
	Kernel GPUKernel
	Work   model.GPUWork
	Layout model.GPULayout
	Params triton.Params
	Time   model.GPUTime
}

// Predict predicts one launch of programs.
func (b *GPUBackend) Predict(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Prediction, error) {
	steps, err := b.Steps(ctx, programs, params)
	if err != nil {
		return backend.Prediction{}, err
	}
	var seconds, least, most float64
	for _, s := range steps {
		unit := cmp.Or(s.Layout.Unit, model.GPUFMA)
		low, _ := model.GPUFit.Band(s.Time.Seconds, unit)
		_, high := model.GPUFit.Band(s.Time.Slowest, unit)
		seconds, least, most = seconds+s.Time.Seconds, least+low, most+high
	}
	return predicted(b, seconds, least, most), nil
}

// Steps compiles programs, unless it is known what XLA makes of them, and predicts the
// kernels of one launch in order. What does not fit a multiprocessor is a
// *backend.TooBigError, what the GPU lacks backend.ErrUnsupported, text that ends the
// compiler a *backend.CrashError.
func (b *GPUBackend) Steps(ctx context.Context, programs []*tile.Program, params backend.Params) ([]GPUStep, error) {
	launch, kernels, err := b.lowered(ctx, programs, params)
	if err == nil && len(kernels) != len(launch.Kernels) {
		err = fmt.Errorf("%w: XLA runs %d kernels for %d programs: how long those of its own take is not known", backend.ErrUnsupported, len(kernels), len(launch.Kernels))
	}
	if err != nil {
		return nil, err
	}
	steps, turned := make([]GPUStep, len(kernels)), false
	for i := range kernels {
		p := launch.Kernels[i].Program
		s := GPUStep{Kernel: kernels[i], Params: launch.Kernels[i].Params}
		if launch.Kernels[i].Turns {
			r := p.Refs[0]
			s.Time = model.GPUFit.Copy(r.ArrayBytes(), b.device)
			steps[i], turned = s, true
			continue
		}
		if s.Work, err = model.GPUWorkOf(p); err != nil {
			return nil, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
		}
		s.Layout = model.GPULayout{
			BlocksPerCore: b.gpu.blocksPerCore(s.Kernel), Group: s.Params.Group, Threads: s.Kernel.Threads,
			SpillBytes: s.Kernel.SpillBytes, AlongK: turned, Own: true, Unit: unitOf(s.Kernel),
		}
		if s.Layout.BlocksPerCore == 0 {
			return nil, &backend.TooBigError{What: "registers", Needed: int64(4 * s.Kernel.Registers * s.Kernel.Threads), Limit: int64(4 * b.gpu.registers())}
		}
		dtype, precision := product(p)
		dtype, precision = multiplied(s.Kernel, dtype, precision)
		if s.Time, err = model.GPUFit.On(s.Work, b.device, s.Layout, dtype, precision); err != nil {
			return nil, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
		}
		steps[i] = s
	}
	return steps, nil
}

// Adjustments lists the parameters of lower/triton a step away, but num_stages: how much
// of the latency of memory more of them hide is not in the model.
func (b *GPUBackend) Adjustments(_ context.Context, programs []*tile.Program, params backend.Params) ([]backend.Params, error) {
	chosen, err := triton.ParseParams(params.Extra)
	if err != nil {
		return nil, err
	}
	all, err := triton.Adjustments(programs, triton.Options{Target: b.target, Params: chosen})
	if err != nil {
		return nil, refusal(err)
	}
	all = slices.DeleteFunc(all, func(a triton.Adjustment) bool { return a.Name == "num_stages" })
	return each.Of(all, func(a triton.Adjustment) backend.Params { return params.With(a.Name, a.Value) }), nil
}

// lowered writes programs as Triton text and compiles them: each kernel of the launch
// as it was written, and what XLA made of it.
func (b *GPUBackend) lowered(ctx context.Context, programs []*tile.Program, params backend.Params) (*triton.Launch, []GPUKernel, error) {
	chosen, err := triton.ParseParams(params.Extra)
	if err != nil {
		return nil, nil, err
	}
	launch, err := triton.Lower(programs, triton.Options{Target: b.target, Params: chosen})
	if err != nil {
		return nil, nil, refusal(err)
	}
	texts := each.Of(launch.Kernels, func(k triton.Kernel) tritonText {
		return tritonText{k.Name, k.Body, [3]int{int(k.Programs), 1, 1}, k.Params.Warps, k.Params.Stages}
	})
	kernels, err := b.compile(ctx, source{module: func() (string, error) { return launch.Module(), nil }, kernels: texts})
	return launch, kernels, err
}

// units are the opcodes of products, those of the fastest unit first.
var units = []struct{ unit, opcodes string }{
	{model.GPUTCGen05, "UTCHMMA UTCQMMA UTCIMMA UTCOMMA tcgen05"},
	{model.GPUWGMMA, "HGMMA QGMMA IGMMA wgmma"},
	{model.GPUMFMA, "v_mfma"},
	{model.GPUMMA, "HMMA QMMA IMMA OMMA mma mma.mxf4 mma.mxf8f6f4"},
}

// unitOf tells by its instructions which unit a kernel multiplies with.
func unitOf(k GPUKernel) string {
	for _, u := range units {
		for _, opcode := range strings.Fields(u.opcodes) {
			if k.Instructions[opcode] > 0 {
				return u.unit
			}
		}
	}
	return model.GPUFMA
}

// compile asks the compiler, or the cache, what kernels a program becomes.
func (b *GPUBackend) compile(ctx context.Context, s source) (all []GPUKernel, err error) {
	ever := func(outcome) bool { return true }
	if b.amd != nil {
		for _, t := range s.kernels {
			about := fmt.Sprintf("%s\n%v %d warps, %d stages", b.gpu.Arch, t.grid, t.warps, t.stages)
			o, err := b.cache.outcome(b.cache.file(about, t.ttir, nil), maker{name: tritonAMD}, ever, func() (outcome, error) {
				k, err := b.amd.compile(ctx, b.gpu, t)
				return outcome{Kernels: []GPUKernel{k}}, err
			})
			if err != nil {
				return nil, err
			}
			if need := o.Kernels[0].SharedBytes; need > b.gpu.SharedBytes {
				return nil, &backend.TooBigError{What: "shared memory", Needed: int64(need), Limit: int64(b.gpu.SharedBytes)}
			}
			all = append(all, o.Kernels...)
		}
		return all, nil
	}
	config, err := b.gpu.config()
	if err != nil {
		return nil, err
	}
	program, err := s.module()
	if err != nil {
		return nil, err
	}
	o, err := b.cache.outcome(b.cache.file(b.gpu.Name+"\n"+config, program, nil), b.compiler.options.maker, ever, func() (o outcome, err error) {
		compiled, err := b.compiler.Compile(ctx, b.gpu, program)
		if err == nil {
			o.Kernels = compiled.Kernels
		}
		return o, err
	})
	return o.Kernels, err
}
