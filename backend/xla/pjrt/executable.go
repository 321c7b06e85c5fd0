//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"time"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/internal/each"
	"matladder/lower/stablehlo"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"

	binding "github.com/gomlx/go-xla/pjrt"
)

// running is what is compiled for a device, with its stage.
type running struct {
	*stage.Executable
	kind string // of the device
}

var _ backend.Inexact = running{}

// running is an executable of these arrays.
func (b *pjrtBackend) running(in, out []problem.Operand, core stage.Core) running {
	return running{stage.New("pjrt", in, out, core), b.device.Kind}
}

// Products are exact on a CPU alone.
func (r running) Products(p problem.Problem) (roundoff float64, narrow bool) {
	return productRoundoff(r.kind, p), r.kind != machine.CPU
}

// executable is a compiled launch with its arrays.
type executable struct {
	backend  *pjrtBackend
	launch   *stablehlo.Launch
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
}

// prepare frees what the last inputs led to, and allocates where host and device share memory.
func (e *executable) prepare() error {
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

// Fill makes the inputs, in the device's memory where the host sees it, else in memory that is
// free again afterwards. All sets are alike.
func (e *executable) Fill(_ context.Context, source backend.Source) error {
	if err := e.prepare(); err != nil {
		return err
	}
	fresh := e.in == nil
	if fresh {
		e.in = make([]*buffer, e.sets*len(e.launch.In))
	}
	for i, a := range e.launch.In {
		if err := e.fillOne(i, a, fresh, source); err != nil {
			return errors.Join(err, e.forget(&e.in))
		}
	}
	return nil
}

func (e *executable) fillOne(i int, a problem.Operand, fresh bool, source backend.Source) (err error) {
	if !e.backend.shared {
		t, err := source(i, tile.Tensor{Dtype: a.Dtype, Shape: a.Shape})
		for s := 0; s < e.sets && err == nil; s++ {
			e.in[s*len(e.launch.In)+i], err = e.backend.transfer(a.Name, t)
		}
		return err
	}
	if fresh {
		if e.in[i], err = e.backend.newInput(a); err != nil {
			return err
		}
	}
	_, err = source(i, e.in[i].view)
	return err
}

// Inputs are the device's own where its memory is the host's.
func (e *executable) Inputs() []tile.Tensor {
	if !e.backend.shared {
		return nil
	}
	return each.Of(e.in, func(b *buffer) tile.Tensor { return b.view })
}

// Outputs looks at what launches left in each set.
func (e *executable) Outputs(_ context.Context, look func([]tile.Tensor) error) error {
	for s := range len(e.out) / len(e.launch.Out) {
		if e.method == Loop && !stablehlo.Took(s, e.called, e.sets) {
			continue
		}
		var out []tile.Tensor
		for i, a := range e.launch.Out {
			t, err := e.out[s*len(e.launch.Out)+i].look(a, e.backend.shared)
			if err != nil {
				return err
			}
			out = append(out, t)
		}
		if err := look(out); err != nil {
			return err
		}
	}
	return nil
}

// Read copies the outputs of the first set.
func (e *executable) Read(out []tile.Tensor) error {
	for i, a := range e.launch.Out {
		if err := e.out[i].read(a.Name, out[i]); err != nil {
			return err
		}
	}
	return nil
}

// Poison overwrites the memory that outputs were in, and frees it, for the next launch
// to be given. Where the host does not see that memory, a program on the device writes
// arrays as large, which are freed: most plugins give the same memory out again. Copying
// them from the host took ten times as long as the launches did, on an H200.
func (e *executable) Poison(ctx context.Context) error {
	if e.backend.shared {
		for i, b := range e.out {
			t, err := b.look(e.launch.Out[i%len(e.launch.Out)], true)
			if err != nil {
				return err
			}
			stage.SetBits(t.Data)
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

// Close frees the arrays and the program.
func (e *executable) Close() error {
	return errors.Join(e.forget(&e.in), e.forget(&e.out), e.program.close(), wrap("close", e.poisons.Destroy()))
}

// A program is what the compiler made, and can be compiled again.
type program struct {
	*binding.LoadedExecutable              // nil until compiled
	compile                   func() error // makes it
	ran                       bool         // since then
}

// execute begins a call of the program.
func (p *program) execute(in ...*binding.Buffer) *binding.ExecutionConfig {
	p.ran = true
	return p.Execute(in...)
}

// forgetPacked recompiles the program if it has run. On some processors XLA's CPU
// plugin packs B once, where that is an argument of the program, and knows it by its
// address from then on, so that other numbers there would not be seen.
func (p *program) forgetPacked() error {
	if !p.ran {
		return nil
	}
	err := errors.Join(p.close(), p.compile())
	p.ran = err != nil // then the next try compiles
	return err
}

// close frees the program. Closing twice is no error.
func (p *program) close() error { return wrap("close", p.Destroy()) }
