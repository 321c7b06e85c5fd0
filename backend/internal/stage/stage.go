// Package stage has the life of an executable, the same for every backend: which of its calls
// may come now, what is answered to those that may not, and what arrays fit.
package stage

import (
	"context"
	"errors"
	"fmt"

	"matladder/backend"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// A Core is what a backend does when it is a call's turn.
type Core interface {
	// Fill makes all inputs; outputs of before are gone, even if it fails.
	Fill(ctx context.Context, source backend.Source) error
	// Inputs and Outputs are those of backend.InPlace, of inputs that were filled and outputs
	// that a Run has left.
	Inputs() []tile.Tensor
	Outputs(ctx context.Context, look func([]tile.Tensor) error) error
	// Run makes at least one launch.
	Run(ctx context.Context, launches int) (backend.Sample, error)
	// Poison overwrites the outputs.
	Poison(ctx context.Context) error
	// Close frees what there is, once.
	Close() error
}

// A Reader is a Core that copies outputs out in less than it takes to look at them first.
type Reader interface {
	Read(out []tile.Tensor) error
}

// Executable is a Core with its stage: a backend.InPlace.
type Executable struct {
	core    Core
	name    string // of the backend: errors begin with it
	in, out []problem.Operand

	loaded, ran, closed bool
}

var _ backend.InPlace = (*Executable)(nil)

// New is an executable that was just compiled.
func New(backendName string, in, out []problem.Operand, core Core) *Executable {
	return &Executable{core: core, name: backendName, in: in, out: out}
}

// Core is what e is around.
func (e *Executable) Core() Core { return e.core }

// Arrays are what it takes and gives.
func (e *Executable) Arrays() (in, out []problem.Operand) { return e.in, e.out }

// open is nil until Close; then it wraps backend.ErrClosed.
func (e *Executable) open() error {
	if e.closed {
		return fmt.Errorf("%s: the executable is %w", e.name, backend.ErrClosed)
	}
	return nil
}

// Loaded refuses a call that needs inputs where there are none.
func (e *Executable) Loaded(call string) error {
	if err := e.open(); err != nil {
		return err
	}
	if !e.loaded {
		return fmt.Errorf("%s: %s: nothing was loaded", e.name, call)
	}
	return nil
}

// Load copies inputs in if they match. Those before, and what they led to, are then gone
// even if it fails.
func (e *Executable) Load(in ...tile.Tensor) error {
	if err := e.fit("load", in, e.in); err != nil {
		return err
	}
	return e.Fill(context.Background(), func(i int, at tile.Tensor) (tile.Tensor, error) {
		if at.Data == nil {
			return in[i], nil
		}
		copy(at.Data, in[i].Data)
		return at, nil
	})
}

// Fill makes the inputs.
func (e *Executable) Fill(ctx context.Context, source backend.Source) error {
	if err := e.open(); err != nil {
		return err
	}
	e.loaded, e.ran = false, false
	err := e.core.Fill(ctx, source)
	e.loaded = err == nil
	return err
}

// Inputs are the inputs where the host sees them.
func (e *Executable) Inputs() []tile.Tensor {
	if !e.loaded {
		return nil
	}
	return e.core.Inputs()
}

// Run launches.
func (e *Executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	return e.Launch(launches, func() (backend.Sample, error) { return e.core.Run(ctx, launches) })
}

// Launch is Run in another way than the core's.
func (e *Executable) Launch(launches int, run func() (backend.Sample, error)) (backend.Sample, error) {
	if err := e.Loaded("run"); err != nil {
		return backend.Sample{}, err
	}
	if launches < 1 {
		return backend.Sample{}, fmt.Errorf("%s: run: launches = %d: must be at least 1", e.name, launches)
	}
	e.ran = false
	sample, err := run()
	if err != nil {
		return backend.Sample{}, err
	}
	e.ran = true
	return sample, nil
}

// Poison overwrites outputs: until the next Run there are none.
func (e *Executable) Poison(ctx context.Context) error {
	if err := e.Loaded("poison"); err != nil {
		return err
	}
	e.ran = false
	return e.core.Poison(ctx)
}

// Outputs looks at the outputs of the last Run.
func (e *Executable) Outputs(ctx context.Context, look func([]tile.Tensor) error) error {
	if err := e.written("outputs"); err != nil {
		return err
	}
	return e.core.Outputs(ctx, look)
}

func (e *Executable) written(call string) error {
	if err := e.open(); err != nil {
		return err
	}
	if !e.ran {
		return fmt.Errorf("%s: %s: %w", e.name, call, backend.ErrNoOutput)
	}
	return nil
}

var errEnough = errors.New("one set is enough")

// Results takes the outputs of the last Run if what they go to matches them.
func (e *Executable) Results(out ...tile.Tensor) error {
	if err := e.fit("results", out, e.out); err != nil {
		return err
	}
	if err := e.written("results"); err != nil {
		return err
	}
	if r, ok := e.core.(Reader); ok {
		return r.Read(out)
	}
	err := e.core.Outputs(context.Background(), func(left []tile.Tensor) error {
		for i, t := range left {
			copy(out[i].Data, t.Data)
		}
		return errEnough
	})
	if err == errEnough {
		return nil
	}
	return err
}

// Close frees what the executable has. Closing twice is no error.
func (e *Executable) Close() error {
	if e.closed {
		return nil
	}
	e.closed, e.loaded, e.ran = true, false, false
	return e.core.Close()
}

// fit refuses arrays of a call that are not as many as it takes, or of which one does not match.
func (e *Executable) fit(call string, have []tile.Tensor, want []problem.Operand) error {
	if err := e.open(); err != nil {
		return err
	}
	if len(have) != len(want) {
		return fmt.Errorf("%s: %s: have %d arrays, want %d", e.name, call, len(have), len(want))
	}
	for i, w := range want {
		if err := have[i].Matches(&tile.Ref{Name: w.Name, Dtype: w.Dtype, Array: w.Shape}); err != nil {
			return fmt.Errorf("%s: %s: %w", e.name, call, err)
		}
	}
	return nil
}

// Changing is an Executable of a function that somebody else wrote.
type Changing struct {
	*Executable
	run func(ctx context.Context, ahead, each backend.Changes) (backend.Sample, error)
}

var _ backend.Changing = Changing{}

// NewChanging is New where run is Core.Run with changes.
func NewChanging(backendName string, in, out []problem.Operand, core Core, run func(context.Context, backend.Changes, backend.Changes) (backend.Sample, error)) Changing {
	return Changing{New(backendName, in, out, core), run}
}

// RunChanged launches on inputs that change.
func (e Changing) RunChanged(ctx context.Context, ahead, each backend.Changes) (backend.Sample, error) {
	return e.Launch(each.Len(), func() (backend.Sample, error) { return e.run(ctx, ahead, each) })
}

// SetBits sets all bits: of numbers NaN, or -1.
func SetBits(data []byte) {
	for n := 0; n < len(data); {
		if n == 0 {
			data[0], n = 0xff, 1
			continue
		}
		n += copy(data[n:], data[:n])
	}
}

// Split parts the operands of a problem into inputs and outputs.
func Split(list []problem.Operand) (in, out []problem.Operand) {
	for _, o := range list {
		if o.Out {
			out = append(out, o)
		} else {
			in = append(in, o)
		}
	}
	return in, out
}

// Operands describe refs of programs.
func Operands(refs []*tile.Ref) []problem.Operand {
	list := each.Of(refs, func(r *tile.Ref) problem.Operand {
		return problem.Operand{Name: r.Name, Dtype: r.Dtype, Shape: r.Array, Out: r.Kind == tile.Out}
	})
	return list
}
