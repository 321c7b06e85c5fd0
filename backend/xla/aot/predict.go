package aot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/backend/xla/aot/schedule"
	"matladder/internal/each"
	"matladder/lower/mosaic"
	"matladder/lower/stablehlo"
	"matladder/machine"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// Step is one kernel of a launch, predicted: a program, or something that the compiler added.
type Step struct {
	Kernel string
	Work   model.Work
	Time   model.Time
	// Least and Most are the seconds of Time on the device at its fastest and at its
	// slowest (machine.Device.Extremes).
	Least, Most float64
}

// Steps compiles programs, unless it is known what libtpu says of them, and
// predicts the kernels of one launch in order. Errors are those of Compile; a
// program of which the step model needs to know more is ErrUnsupported.
func (b *Backend) Steps(ctx context.Context, programs []*tile.Program, params backend.Params) ([]Step, error) {
	steps, _, err := b.steps(ctx, programs, params, false)
	return steps, err
}

// steps is Steps, and the schedules if it compiled. With anew it compiles even what is cached,
// so that there are schedules.
func (b *Backend) steps(ctx context.Context, programs []*tile.Program, params backend.Params, anew bool) (_ []Step, schedules []*schedule.Schedule, err error) {
	launch, err := lowered(b.target, b.device, programs, params)
	if err != nil {
		return nil, nil, err
	}
	works, kernels := make([]model.Work, len(programs)), make([]kernel, len(programs))
	dtype, precision := "", ""
	for i, p := range programs {
		if works[i], err = model.WorkOf(p); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
		}
		kernels[i] = kernel{launch.Kernels[i].Name, works[i].Steps, conditions(p, works[i].Shares), partialTiles(p)}
		if dtype == "" {
			dtype, precision = product(p)
		}
	}
	outcome, err := b.compile(ctx, launch.Module(), optionsOf(params), anew, func(c *Compiled, _ *hlo.Module, o *outcome) (err error) {
		schedules = c.Schedules
		o.Parts, err = partsOf(c.Schedules, kernels, b.device.Cores)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	near := nearOf(launch, outcome.Residents)
	for i, p := range outcome.Parts {
		if i >= len(works) {
			works = append(works, b.own(p))
			continue
		}
		if len(near) > 0 {
			if works[i], err = model.WorkOf(programs[i], near...); err != nil {
				return nil, nil, err
			}
		}
		works[i] = b.laidOut(works[i], p)
	}
	steps, err := b.times(outcome.Parts, works, dtype, precision)
	return steps, schedules, err
}

// Predict predicts one launch of programs.
func (b *Backend) Predict(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Prediction, error) {
	steps, err := b.Steps(ctx, programs, params)
	return b.sum(steps), err
}

// PredictBaseline predicts XLA's own way to compute a problem, or the given program. Its schedule tells cycles and steps,
// and what a step moves at most; which steps move what is worked out on the chip.
// So each input is taken to move in every step, each output once, what no schedule tells of
// with the products, and every condition to hold: the least that XLA does. Its kernels share the grid of a chip
// of two cores. Params.VMEMBytes limits what they take of VMEM.
func (b *Backend) PredictBaseline(ctx context.Context, spec backend.ProblemSpec) (backend.Prediction, error) {
	switch {
	case spec.Mesh != "":
		return b.predictSpread(ctx, spec)
	case spec.Program != "":
		return b.predictProgram(ctx, spec)
	}
	p := spec.Problem
	launch, err := stablehlo.Baseline(p)
	if err != nil {
		return backend.Prediction{}, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	limit, err := libtpu.VMEMLimit(spec.Params.VMEMBytes)
	if err != nil {
		return backend.Prediction{}, fmt.Errorf("aot: %w", err)
	}
	read := func(c *Compiled, _ *hlo.Module, o *outcome) (err error) {
		o.Parts, err = partsOf(c.Schedules, nil, b.device.Cores)
		return err
	}
	outcome, err := b.compile(ctx, launch.Once(), limit, false, read)
	if err == nil && outcome.Windows == nil { // kept before they were read
		outcome, err = b.compile(ctx, launch.Once(), limit, true, read)
	}
	if err != nil {
		return backend.Prediction{}, err
	}
	parts := outcome.Parts
	var ahead ahead
	for _, a := range outcome.Residents {
		if int(a.Parameter) < len(launch.In) && a.Prefetched {
			in := launch.In[a.Parameter]
			ahead.bytes += in.Dtype.Bytes(tile.Elements(in.Shape))
			if a.Parameter < 2 {
				ahead.factors[a.Parameter] = placeOf(a)
			}
		}
	}
	works := each.Of(parts, b.own)
	products, share := products(parts)
	switch {
	case len(products) == 0 && p.Family().Figure == problem.PerFLOPs:
		return backend.Prediction{}, fmt.Errorf("libtpu: what XLA makes of %s has no kernel that uses the matrix unit", p)
	case len(products) == 1:
		b.multiplies(&works[products[0]], p, parts[products[0]], ahead, outcome.Windows)
	case len(products) == 0 && len(parts) == 1: // does all there is to do
		b.multiplies(&works[0], p, parts[0], ahead, outcome.Windows)
	}
	if len(products) > 1 { // the problem's operands are no more than some of those of each
		left := p.Bytes() // that no kernel is known to move
		for _, w := range works {
			left -= w.Bytes
		}
		for _, i := range products {
			works[i].FLOPs = int64(share[i] * float64(p.FLOPs()))
			works[i].Bytes += max(0, int64(share[i]*float64(left)))
		}
	}
	asked := p.Asked()
	steps, err := b.times(parts, works, asked.A.String(), asked.Precision.String())
	return b.sum(steps), err
}

// compile asks libtpu, or the cache, what kernels a program becomes under options;
// anew, the cache is only asked whether it becomes none.
func (b *Backend) compile(ctx context.Context, program string, options hlo.Options, anew bool, read func(*Compiled, *hlo.Module, *outcome) error) (outcome, error) {
	return b.compileAs(ctx, "", program, options, anew, read)
}

// compileAs is compile with what is kept under a kind of its own.
func (b *Backend) compileAs(ctx context.Context, kind, program string, options hlo.Options, anew bool, read func(*Compiled, *hlo.Module, *outcome) error) (outcome, error) {
	file := b.cache.file(kind+b.topology.Libtpu, program, options)
	return b.cache.outcome(file, b.compiler.options.maker, func(outcome) bool { return !anew }, func() (o outcome, err error) {
		compiled, err := b.compiler.Compile(ctx, b.topology.Libtpu, program, options)
		if err != nil {
			return o, err
		}
		optimized, err := hlo.Read(compiled.Format, compiled.Optimized)
		if err != nil {
			return o, fmt.Errorf("what libtpu made of the program: %w", err)
		}
		if err = read(compiled, optimized, &o); errors.Is(err, schedule.ErrTrips) {
			return o, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
		} else if err != nil {
			return o, fmt.Errorf("schedule: %w", err)
		}
		o.Residents, o.Windows = optimized.Residents(), optimized.Windows()
		return o, nil
	})
}

// nearOf are the inputs of a launch that libtpu copies nearer to the core.
func nearOf(launch *mosaic.Launch, near []hlo.Resident) (all []model.Resident) {
	for _, n := range near {
		if int(n.Parameter) < len(launch.In) {
			all = append(all, model.Resident{Name: launch.In[n.Parameter].Name, Between: n.Space != vmemSpace, Waited: !n.Prefetched})
		}
	}
	return all
}

// vmemSpace is the number by which libtpu knows VMEM.
const vmemSpace = 1

// laidOut is a program's work as the compiler laid it out: over the cores or not.
func (b *Backend) laidOut(w model.Work, p part) model.Work {
	w.Cycles = p.Cycles
	w.CoreSteps = max(1, p.Steps)
	w.Parallel = w.CoreSteps < w.Steps
	return w
}

// own is the work of a kernel that the compiler made itself.
func (b *Backend) own(p part) model.Work {
	cores := int64(max(1, b.device.Cores))
	w := model.Work{CoreSteps: max(1, p.Steps) * max(1, p.Times), Parallel: cores > 1, Cycles: p.Cycles}
	w.Steps = w.CoreSteps * cores
	in, out := max(0, p.In)*b.topology.granule, max(0, p.Out)*b.topology.granule
	w.Bytes = w.Steps * (in + out)
	w.FirstBytes, w.LastBytes = in, out
	return w
}

// products are the kernels that use the matrix unit for a tenth of what all together do, or
// more, and the share that each has.
func products(parts []part) (list []int, share []float64) {
	share = make([]float64, len(parts))
	sum := 0.
	for i, p := range parts {
		share[i] = float64(p.Matrix) * float64(max(1, p.Steps)) * float64(max(1, p.Times))
		sum += share[i]
	}
	for i := range share {
		if sum > 0 {
			share[i] /= sum
		}
		if share[i] >= 0.1 {
			list = append(list, i)
		}
	}
	return list, share
}

// ahead are the inputs of a launch that come behind the launch before.
type ahead struct {
	bytes   int64
	factors [2]place // of a product
}

// multiplies is the work of XLA's kernel that multiplies, or does all there is to do. Inputs
// that come ahead of the launch are moved, but no step waits for them. Where libtpu notes its
// windows, they say what the first step waits for and what is written after the last.
func (b *Backend) multiplies(w *model.Work, p problem.Problem, kernel part, ahead ahead, noted []hlo.Windows) {
	out := int64(0)
	for _, o := range p.Operands() {
		if o.Out {
			out += o.Dtype.Bytes(tile.Elements(o.Shape))
		}
	}
	in := p.Bytes() - out
	w.FLOPs = p.FLOPs()
	own := in - ahead.bytes
	known := kernel.In * b.topology.granule
	w.FirstBytes, w.LastBytes = own/w.Steps, out/w.Steps
	if known > 0 {
		w.FirstBytes = min(own, known)
		if known < own { // else it is all there is, and stays
			in = max(in, known*w.Steps+ahead.bytes)
		}
	}
	if w.CoreSteps == 1 {
		w.FirstBytes = own
	}
	w.Bytes = in + out
	for _, n := range noted {
		if by, ok := movedBy(p, n, ahead.factors); ok && n.Kernel == kernel.Kernel {
			w.FirstBytes, w.LastBytes, w.Bytes = by.first, by.last, min(w.Bytes, by.all)
		}
	}
}

// times puts the step model's figures to kernels. The one of matrix products has
// the dtype's peak to respect.
func (b *Backend) times(parts []part, works []model.Work, dtype, precision string) ([]Step, error) {
	steps := make([]Step, len(parts))
	for i, p := range parts {
		var err error
		if steps[i], err = b.step(p.Kernel, works[i], works[i], works[i], dtype, precision); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// step is one kernel by the likely work, and by the least and the most that it may be.
func (b *Backend) step(kernel string, likely, least, most model.Work, dtype, precision string) (Step, error) {
	dtype = peakOf(b.device, dtype)
	slow, fast := b.device.Extremes()
	var of [3]model.Time
	for n, x := range []struct {
		model.Work
		machine.Device
	}{{likely, b.device}, {least, fast}, {most, slow}} {
		var err error
		if of[n], err = x.Work.On(x.Device, dtype, precision); err != nil {
			return Step{}, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
		}
	}
	return Step{kernel, likely, of[0], of[1].Seconds, of[2].Seconds}, nil
}

// peakOf is the dtype whose peak bounds products of dtype. A chip without a figure
// of its own widens narrow operands: v7x multiplies int8 as bfloat16.
func peakOf(d machine.Device, dtype string) string {
	if !d.PeakAt(dtype, "").Known() {
		return tile.BFloat16.String()
	}
	return dtype
}

// sum is one launch: what it costs in itself, and its kernels one after the other.
func (b *Backend) sum(steps []Step) backend.Prediction {
	seconds := b.device.LaunchSeconds.Value
	least, most := b.device.LaunchSeconds.Range()
	for _, s := range steps {
		seconds += s.Time.Seconds
		least += s.Least
		most += s.Most
	}
	return predicted(b, seconds, least/(1+model.ModelError), most*(1+model.ModelError))
}

// predicted is what a compiler's output was found to take, in seconds, at least and at most; both are
// 0 where nothing says.
func predicted(by backend.Plugged, seconds, least, most float64) backend.Prediction {
	name, version := by.Plugin()
	return backend.Prediction{
		Elapsed: duration(seconds), Low: duration(least), High: duration(most), Method: "aot", Source: strings.TrimSpace(name + " " + version),
	}
}

// duration is a time in seconds as one of package time.
func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// product is the dtype and precision of the first product of a program, "" if there is none.
func product(p *tile.Program) (dtype, precision string) {
	dot := p.FindExpr(func(_ *tile.Stmt, e *tile.Expr) bool { return e.Op == tile.OpDot })
	if dot == nil {
		return "", ""
	}
	d := dot.Args[0].Dtype
	if d == tile.Float4E2M1FN || dot.Args[1].Dtype == tile.Float4E2M1FN { // which kernels widen
		d = tile.BFloat16
	}
	return d.String(), dot.Precision.String()
}
