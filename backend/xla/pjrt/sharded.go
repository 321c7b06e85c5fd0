//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/stage"
	"matladder/lower/stablehlo"
	"matladder/machine/mesh"
	"matladder/problem"
	"matladder/tile"

	binding "github.com/gomlx/go-xla/pjrt"
)

// sharded is XLA's own program on several devices of the client at once, each of which
// has parts of the arrays. Launches are timed as by Wall: each is waited for.
type sharded struct {
	*stablehlo.Spread
	backend *pjrtBackend
	program program
	devices []int // of the client, by their place in the mesh

	whole   []tile.Tensor     // the inputs, in the host's memory
	in, out []*binding.Buffer // parts, one device after the other
}

// sharded compiles XLA's own way to compute a product for the devices of a mesh.
func (b *pjrtBackend) sharded(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	if b.closed {
		return nil, errClosed
	}
	m, err := mesh.Parse(spec.Mesh)
	if err != nil {
		return nil, fmt.Errorf("pjrt: %w", err)
	}
	way, err := mesh.FindSharding(spec.Variant)
	if err != nil {
		return nil, fmt.Errorf("pjrt: %w", err)
	}
	launch, err := stablehlo.Baseline(spec.Problem)
	if err != nil {
		return nil, refused(err)
	}
	program, err := launch.Sharded(m, way)
	if err != nil {
		return nil, refused(err)
	}
	return b.spread(ctx, program, spec.Params)
}

// spread compiles a program for the devices of its mesh.
func (b *pjrtBackend) spread(ctx context.Context, s *stablehlo.Spread, params backend.Params) (backend.Executable, error) {
	m := s.Mesh
	if have := b.client.NumDevices(); m.Devices() > have {
		return nil, fmt.Errorf("pjrt: mesh %s has %d devices, and %s %d: %w", m, m.Devices(), b.Name(), have, backend.ErrUnsupported)
	}
	how, err := b.options.how(params, b.device.Kind)
	if err != nil {
		return nil, err
	}
	e := &sharded{Spread: s, backend: b}
	for _, a := range slices.Concat(s.In, s.Out) {
		if _, ok := bufferTypes[a.Dtype]; !ok {
			return nil, fmt.Errorf("pjrt: array %s of %s: no such buffers: %w", a.Name, a.Dtype, backend.ErrUnsupported)
		}
		if _, err := m.Shape(a.Name, [2]int(a.Shape), s.Way.Of(a.Name)); err != nil {
			return nil, fmt.Errorf("pjrt: %w: %w", err, backend.ErrUnsupported)
		}
	}
	e.program.compile = func() error { return e.build(how.options) }
	if err := e.program.compile(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return b.running(s.In, s.Out, e), nil
}

func (e *sharded) build(options hlo.Options) (err error) {
	b := e.backend
	b.plugin.mu.Lock()
	defer b.plugin.mu.Unlock()
	b.plugin.options = hlo.Overrides(options)
	defer func() { b.plugin.options = nil }()
	what := "compile " + e.Name + " for " + e.Mesh.String()
	if e.program.LoadedExecutable, err = b.client.Compile().WithStableHLO([]byte(e.Module)).WithShardy(e.Mesh.Devices()).Done(); err != nil {
		return wrap(what, err)
	}
	if _, _, e.devices, err = e.program.GetDeviceAssignment(); err != nil {
		return errors.Join(wrap(what, err), e.program.close())
	}
	return nil
}

// part is the part of array a that a device has, cut out of the whole or put into it.
func (e *sharded) part(a problem.Operand, device int, whole tile.Tensor, put []byte) tile.Tensor {
	split := e.Way.Of(a.Name)
	shape, _ := e.Mesh.Shape(a.Name, [2]int(a.Shape), split) // even: build has seen to it
	at := e.Mesh.Start(device, shape, split)
	size := a.Dtype.Bits() / 8
	t := tile.Tensor{Dtype: a.Dtype, Shape: shape[:], Data: put}
	if put == nil {
		t.Data = make([]byte, shape[0]*shape[1]*size)
	}
	for row := range shape[0] {
		inside := t.Data[row*shape[1]*size : (row+1)*shape[1]*size]
		outside := whole.Data[((at[0]+row)*a.Shape[1]+at[1])*size:][:len(inside)]
		if put == nil {
			copy(inside, outside)
		} else {
			copy(outside, inside)
		}
	}
	return t
}

// Fill makes the inputs and hands each device its parts.
func (e *sharded) Fill(_ context.Context, source backend.Source) error {
	e.whole = make([]tile.Tensor, len(e.In))
	if err := errors.Join(free(&e.out), free(&e.in)); err != nil {
		return err
	}
	if e.backend.shared { // parts may come to lie where others lay
		if err := e.program.forgetPacked(); err != nil {
			return err
		}
	}
	for i, a := range e.In {
		t, err := source(i, tile.Tensor{Dtype: a.Dtype, Shape: a.Shape})
		if err != nil {
			return err
		}
		e.whole[i] = t
	}
	devices := e.backend.client.AddressableDevices()
	for place, device := range e.devices {
		for i, a := range e.In {
			t := e.part(a, place, e.whole[i], nil)
			h, err := e.backend.client.BufferFromHost().FromRawData(t.Data, bufferTypes[t.Dtype], t.Shape).ToDevice(devices[device]).Done()
			if err != nil {
				return errors.Join(wrap("transfer a part of "+a.Name, err), free(&e.in))
			}
			e.in = append(e.in, h)
		}
	}
	return nil
}

// free destroys buffers.
func free(list *[]*binding.Buffer) (err error) {
	for _, b := range *list {
		err = errors.Join(err, wrap("free", b.Destroy()))
	}
	*list = nil
	return err
}

// Inputs are whole.
func (e *sharded) Inputs() []tile.Tensor { return e.whole }

// Run times launches.
func (e *sharded) Run(ctx context.Context, launches int) (backend.Sample, error) {
	sample := backend.Sample{Method: Wall}
	for range launches {
		if err := ctx.Err(); err != nil {
			return backend.Sample{}, err
		}
		if err := free(&e.out); err != nil {
			return backend.Sample{}, err
		}
		execution := e.program.execute(e.in...).DonateNone()
		start := time.Now()
		out, err := execution.Done() // waits for all devices
		sample.Elapsed += max(1, time.Since(start))
		if err != nil {
			return backend.Sample{}, wrap("run "+e.Name, err)
		}
		if e.out = out; len(out) != len(e.devices)*len(e.Out) {
			return backend.Sample{}, fmt.Errorf("pjrt: %d results of %d devices", len(out), len(e.devices))
		}
	}
	return sample, nil
}

// Poison overwrites the outputs' memory, which the next launch may be given, and frees it.
func (e *sharded) Poison(ctx context.Context) error {
	if e.backend.shared {
		for i, h := range e.out {
			a := e.Out[i%len(e.Out)]
			shape, _ := e.Mesh.Shape(a.Name, [2]int(a.Shape), e.Way.Of(a.Name))
			t, err := (&buffer{Buffer: h}).look(problem.Operand{Name: a.Name, Dtype: a.Dtype, Shape: shape[:]}, true)
			if err != nil {
				return err
			}
			stage.SetBits(t.Data)
		}
	}
	return errors.Join(free(&e.out), ctx.Err())
}

// Outputs looks at the outputs, put together from their parts.
func (e *sharded) Outputs(_ context.Context, look func([]tile.Tensor) error) error {
	var out []tile.Tensor
	for i, a := range e.Out {
		whole := tile.NewTensor(a.Dtype, a.Shape...)
		for place := range e.devices {
			shape, _ := e.Mesh.Shape(a.Name, [2]int(a.Shape), e.Way.Of(a.Name))
			data := make([]byte, a.Dtype.Bytes(int64(shape[0]*shape[1])))
			if err := wrap("transfer a part of "+a.Name, e.out[place*len(e.Out)+i].ToHost(data)); err != nil {
				return err
			}
			e.part(a, place, whole, data)
		}
		out = append(out, whole)
	}
	return look(out)
}

// Close frees the arrays and the program.
func (e *sharded) Close() error {
	e.whole = nil
	return errors.Join(free(&e.in), free(&e.out), e.program.close())
}
