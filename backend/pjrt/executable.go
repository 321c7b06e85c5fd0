//go:build linux && cgo

package pjrt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/check"
	"matladder/chips"
	"matladder/lower/stablehlo"
	"matladder/tile"

	binding "github.com/gomlx/go-xla/pjrt"
)

// executable is a compiled launch with its arrays.
type executable struct {
	backend  *pjrtBackend
	launch   *stablehlo.Launch
	programs []*tile.Program // nil for a baseline
	method   string
	operands string // the memory in which launches find their operands; "" if not known
	sets     int    // of arrays, which launches take in turn
	program  program
	poisons  *binding.LoadedExecutable // what Poison runs; nil until then

	in        []*buffer // of each set; nil until loaded
	out       []*buffer // of each set, of a loop, else of the last launch; nil until run
	called    int       // launches of the last call
	turn      int       // the set that the next call by itself takes
	perLaunch time.Duration
	stage     stage.Stage
	reference check.Verifier // of the inputs; nil until the first Check
}

// prepare frees what the last inputs led to, and allocates where host and device
// share memory.
func (e *executable) prepare() error {
	e.reference = nil
	err := e.forget(&e.out)
	if !e.backend.shared || e.in == nil {
		return errors.Join(err, e.forget(&e.in))
	}
	if e.method != Loop { // inside a loop B is no argument of the program
		err = errors.Join(err, e.program.forgetPacked())
	}
	return err
}

func (e *executable) forget(bs *[]*buffer) error {
	var err error
	for _, b := range *bs {
		err = errors.Join(err, b.free())
	}
	*bs = nil
	return err
}

// fill makes the inputs by calling set for each, in the device's memory where
// the host sees it, else in memory that is free again afterwards. All sets are alike.
func (e *executable) fill(set func(i int, name string, t tile.Tensor) error) error {
	if err := e.prepare(); err != nil {
		return err
	}
	if !e.backend.shared {
		e.in = make([]*buffer, e.sets*len(e.launch.In))
		for i, a := range e.launch.In {
			if err := e.transferAll(i, a, set); err != nil {
				return errors.Join(err, e.forget(&e.in))
			}
		}
		return nil
	}
	fresh := e.in == nil
	for i, a := range e.launch.In {
		b, err := e.fillOne(i, a, fresh, set)
		if err != nil {
			return errors.Join(err, e.forget(&e.in))
		}
		if fresh {
			e.in = append(e.in, b)
		}
	}
	return nil
}

// transferAll makes an input and copies it to the device, into each set.
func (e *executable) transferAll(i int, a stablehlo.Array, set func(int, string, tile.Tensor) error) error {
	t := tile.NewTensor(a.Dtype, a.Shape...)
	err := set(i, a.Name, t)
	for s := 0; s < e.sets && err == nil; s++ {
		e.in[s*len(e.launch.In)+i], err = e.backend.transfer(a.Name, t)
	}
	return err
}

func (e *executable) fillOne(i int, a stablehlo.Array, fresh bool, set func(int, string, tile.Tensor) error) (*buffer, error) {
	if !fresh {
		return e.in[i], set(i, a.Name, e.in[i].view)
	}
	b, err := e.backend.newInput(a)
	if err != nil {
		return nil, err
	}
	if err := set(i, a.Name, b.view); err != nil {
		return nil, errors.Join(err, b.free())
	}
	return b, nil
}

// Load copies arrays in.
func (e *executable) Load(in ...tile.Tensor) error {
	return stage.Load(&e.stage, in, e.launch.In, matches, func() error { return e.fill(copies(in)) })
}

// copies fills inputs with arrays.
func copies(in []tile.Tensor) func(i int, name string, t tile.Tensor) error {
	return func(i int, _ string, t tile.Tensor) error {
		copy(t.Data, in[i].Data)
		return nil
	}
}

func matches(t tile.Tensor, a stablehlo.Array) error {
	if t.Dtype != a.Dtype || !slices.Equal(t.Shape, a.Shape) || int64(len(t.Data)) != bytesOf(a) {
		return fmt.Errorf("%s: have %s%v of %d bytes, want %s%v of %d", a.Name, t.Dtype, t.Shape, len(t.Data), a.Dtype, a.Shape, bytesOf(a))
	}
	return nil
}

// LoadSeeded makes the inputs.
func (e *executable) LoadSeeded(ctx context.Context, spec backend.InputSpec) error {
	return e.stage.LoadSeeded(spec, func() error { return e.fill(e.backend.seeded(ctx, spec)) })
}

// seeded fills inputs as a spec asks.
func (b *pjrtBackend) seeded(ctx context.Context, spec backend.InputSpec) func(i int, name string, t tile.Tensor) error {
	return func(_ int, name string, t tile.Tensor) error {
		if err := check.Fill(ctx, t, name, spec.Problem, spec.Seed, b.distOf(spec)); err != nil {
			return fmt.Errorf("pjrt: fill %s: %w", name, err)
		}
		return nil
	}
}

// distOf is the distribution of inputs that a spec asks for: of exact probes that which
// this kind of device multiplies and adds exactly.
func (b *pjrtBackend) distOf(spec backend.InputSpec) string {
	if spec.Dist == check.Exact && b.device.Kind != chips.CPU {
		return check.ExactNarrow
	}
	return spec.Dist
}

// Poison overwrites the memory that outputs were in, and frees it, for the next launch
// to be given. Where the host does not see that memory, a program on the device writes
// arrays as large, which are freed: most plugins give the same memory out again. Copying
// them from the host took ten times as long as the launches did, on an H200.
func (e *executable) Poison(ctx context.Context) error {
	return e.stage.Poison(func() error { return e.poison(ctx) })
}

func (e *executable) poison(ctx context.Context) error {
	if e.backend.shared {
		for i, b := range e.out {
			t, err := b.look(e.launch.Out[i%len(e.launch.Out)], true)
			if err != nil {
				return err
			}
			fill(t.Data)
		}
		return e.forget(&e.out)
	}
	err := e.forget(&e.out)
	if err == nil && e.poisons == nil {
		p := &executable{backend: e.backend, launch: stablehlo.NewLaunch("poison", nil, nil, "")}
		err = p.build(e.launch.Poison(e.sets), nil, nil)
		e.poisons = p.program.LoadedExecutable
	}
	if err != nil {
		return err
	}
	t := e.backend.plugin
	t.mu.Lock()
	defer t.mu.Unlock()
	all, err := e.poisons.Execute().DonateNone().OnDeviceByNum(e.backend.options.Device).Done()
	for _, b := range all {
		err = errors.Join(err, b.Destroy())
	}
	return errors.Join(wrap("run poison", err), ctx.Err())
}

// fill sets all bits: NaN, or -1.
func fill(data []byte) {
	for n := 0; n < len(data); {
		if n == 0 {
			data[0], n = 0xff, 1
			continue
		}
		n += copy(data[n:], data[:n])
	}
}

// Check verifies what the last launch left. Where the device's memory is not the
// host's, the inputs are made once more for it, and forgotten.
func (e *executable) Check(ctx context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	return e.stage.Check(spec, func() (backend.CheckResult, error) {
		in, err := e.inputs(ctx, spec.InputSpec)
		if err == nil && e.reference == nil {
			e.reference, err = e.backend.reference(ctx, spec.InputSpec, in)
		}
		if err != nil {
			return backend.CheckResult{}, err
		}
		return e.verify(ctx, in, spec.Fault)
	})
}

// reference is what outputs of these inputs are compared with.
func (b *pjrtBackend) reference(ctx context.Context, spec backend.InputSpec, in map[string]tile.Tensor) (check.Verifier, error) {
	if err := spec.Problem.Validate(); err != nil {
		return nil, err
	}
	r, err := check.ReferenceOf(ctx, spec.Problem, in, spec.Seed, b.distOf(spec))
	if err != nil {
		return nil, err
	}
	r.ProductsOff(productRoundoff(b.device.Kind, spec.Problem))
	return r, nil
}

// verify verifies what launches left in each set: once what is the same in several, and
// a set that is wrong is the answer.
func (e *executable) verify(ctx context.Context, in map[string]tile.Tensor, fault string) (backend.CheckResult, error) {
	var worst backend.CheckResult
	var last []tile.Tensor
	for s := range len(e.out) / len(e.launch.Out) {
		if e.method == Loop && !stablehlo.Took(s, e.called, e.sets) {
			continue
		}
		out, now := map[string]tile.Tensor{}, []tile.Tensor{}
		for i, a := range e.launch.Out {
			t, err := e.out[s*len(e.launch.Out)+i].look(a, e.backend.shared)
			if err != nil {
				return worst, err
			}
			out[a.Name], now = t, append(now, t)
		}
		if last != nil && slices.EqualFunc(last, now, func(a, b tile.Tensor) bool { return bytes.Equal(a.Data, b.Data) }) {
			continue
		}
		first := last == nil
		last = slices.Clone(now)
		out, err := check.Damage(fault, out)
		if err != nil {
			return worst, err
		}
		r, err := e.reference.Verify(ctx, e.programs, in, out)
		if err != nil {
			return worst, err
		}
		if first || !r.OK || r.ErrOverBound > worst.ErrOverBound {
			worst = r
		}
		if !worst.OK {
			return worst, nil
		}
	}
	return worst, nil
}

// inputs are the inputs in host memory, by name: the device's own where that is
// the host's, else made anew.
func (e *executable) inputs(ctx context.Context, spec backend.InputSpec) (map[string]tile.Tensor, error) {
	in := map[string]tile.Tensor{}
	if check.IsExact(spec.Dist) {
		return in, nil // their answers need none
	}
	for i, a := range e.launch.In {
		if e.backend.shared {
			in[a.Name] = e.in[i].view
			continue
		}
		t := tile.NewTensor(a.Dtype, a.Shape...)
		if err := check.Fill(ctx, t, a.Name, spec.Problem, spec.Seed, spec.Dist); err != nil {
			return nil, err
		}
		in[a.Name] = t
	}
	return in, nil
}

// Results copies arrays out.
func (e *executable) Results(out ...tile.Tensor) error {
	return stage.Results(&e.stage, out, e.launch.Out, matches, func() error {
		for i, a := range e.launch.Out {
			if err := e.out[i].read(a.Name, out[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close frees the arrays and the program. Closing twice is no error.
func (e *executable) Close() error {
	return e.stage.Close(func() error {
		e.reference = nil
		return errors.Join(e.forget(&e.in), e.forget(&e.out), e.program.close(), wrap("close", e.poisons.Destroy()))
	})
}
