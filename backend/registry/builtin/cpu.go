package builtin

import (
	"context"
	"fmt"
	"os"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/registry"
	"matladder/backend/xla/pjrt"
	"matladder/machine"
)

// cpuEntry is the cores of this machine, beside which XLA runs the baseline.
var cpuEntry = registry.Entry{
	Name: CPU, Help: "the cores of this machine; the default", Can: registry.Measures,
	Params: cpuParams(), Open: openCPU,
}

// cpuParams are those of package cpu, whose list says which words or numbers each takes:
// a new one is added there.
func cpuParams() []registry.Param {
	var list []registry.Param
	for _, p := range cpu.Parameters {
		const byDefault = "by rule, or by a tuned table"
		switch {
		case p.Key == "isa":
			list = append(list, registry.Choice(p.Key, p.Help, "the best that runs here", p.Values...))
		case p.Values != nil:
			list = append(list, registry.Choice(p.Key, p.Help, byDefault, p.Values...))
		default:
			list = append(list, registry.Number(p.Key, p.Help, byDefault, 1, cpu.MostChosen))
		}
	}
	return list
}

func openCPU(ctx context.Context, r registry.Request) (*registry.Device, error) {
	params, err := cpu.ParseParams(r.Params)
	if err != nil {
		return nil, &registry.RequestError{Err: err}
	}
	b, err := cpu.Open(cpu.Options{Threads: r.Threads, ISA: params.ISA, Pin: r.Pin, NoProbe: !r.Probe, Probing: r.Probing})
	if err != nil {
		return nil, &registry.RequestError{Err: err}
	}
	if r.Probe && os.Getenv(cpu.MachineVariable) != "" {
		return nil, &registry.RequestError{Err: fmt.Errorf("%s is set: programs are planned for that machine (inspect --as plan), and nothing is measured", cpu.MachineVariable)}
	}
	if r.Probe && r.Anew {
		b.ProbeAnew(ctx)
	}
	d := &registry.Device{
		Backend: b, Prober: b, ProbeFile: b.ProbeFile(), Controller: b, Host: hostOf(b, r.Probe),
		Params:  backend.Params{Threads: b.Threads(), ISA: b.ISA(), Extra: params.Extra},
		Summary: b.Device().Names[0] + ", " + b.Device().Note,
	}
	d.FindBaseline = func() error {
		_, err := FindPlugin("cpu")
		return err
	}
	d.OpenBaseline = func(ctx context.Context) (backend.Backend, error) {
		return OpenXLA(ctx, d.Host, b.Threads(), pjrt.Options{})
	}
	return d, nil
}

// hostOf is this machine with its best instruction set, whatever b was told to use: what
// other libraries on it are held against.
func hostOf(b *cpu.Backend, probe bool) machine.Device {
	if b.ISA() == cpu.BestISA() {
		return b.Device()
	}
	best, err := cpu.Open(cpu.Options{Threads: b.Threads(), ISA: cpu.BestISA(), NoProbe: !probe})
	if err != nil {
		return b.Device()
	}
	defer best.Close()
	return best.Device()
}

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
