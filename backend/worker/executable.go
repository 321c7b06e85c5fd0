package worker

import (
	"context"
	"errors"
	"fmt"

	"matladder/backend"
	"matladder/tile"
)

// executable stands for one in the worker. It remembers how that was made, so
// that it can be made again in another worker.
type executable struct {
	backend *Backend
	recipe  call

	process process // where it is
	id      int
	seeded  *backend.InputSpec
	closed  bool
}

var errExecutableClosed = errors.New("worker: the executable is closed")

// lostError says that a worker took something with it.
func lostError(what string) error {
	return &backend.CrashError{What: what, Reason: "the worker process that had it ended"}
}

// compile makes the executable in a living worker.
func (e *executable) compile(ctx context.Context) error {
	p, err := e.backend.worker(ctx)
	if err != nil {
		return err
	}
	r, err := p.call(ctx, e.recipe, nil, nil)
	if err != nil {
		return err
	}
	e.process, e.id = p, r.ID
	return nil
}

// revive rebuilds the executable if its worker is gone.
func (e *executable) revive(ctx context.Context) error {
	if e.closed {
		return errExecutableClosed
	}
	if e.process.Alive() {
		return nil
	}
	if err := e.compile(ctx); err != nil {
		return fmt.Errorf("in a new worker: %w", err)
	}
	return nil
}

// ask makes a call about the executable where it is, once state has nothing against it. All
// but runs are limited by CallTimeout.
func (e *executable) ask(ctx context.Context, c call, state func(context.Context) error, in, into []tile.Tensor) (reply, error) {
	if c.Op != opRun {
		var cancel context.CancelFunc
		ctx, cancel = e.backend.limited(ctx, c.Op)
		defer cancel()
	}
	if err := state(ctx); err != nil {
		return reply{}, err
	}
	c.ID = e.id
	return e.process.call(ctx, c, in, into)
}

// LoadSeeded fills the inputs beside the device.
func (e *executable) LoadSeeded(ctx context.Context, spec backend.InputSpec) error {
	return e.load(ctx, call{Op: opLoadSeeded, Inputs: spec}, &spec, nil)
}

// Load copies arrays to the worker.
func (e *executable) Load(in ...tile.Tensor) error {
	return e.load(context.Background(), call{Op: opLoad, Arrays: describe(in)}, nil, in)
}

func (e *executable) load(ctx context.Context, c call, seeded *backend.InputSpec, in []tile.Tensor) error {
	e.seeded = nil
	_, err := e.ask(ctx, c, e.revive, in, nil)
	if err == nil {
		e.seeded = seeded
	}
	return err
}

// ready has the executable in a living worker with its inputs. After a crash of the
// worker, inputs are made again from their seed; arrays of Load are lost.
func (e *executable) ready(ctx context.Context) error {
	lost := !e.closed && !e.process.Alive()
	if err := e.revive(ctx); err != nil || !lost {
		return err
	}
	if e.seeded == nil {
		return lostError("inputs")
	}
	if err := e.LoadSeeded(ctx, *e.seeded); err != nil {
		return fmt.Errorf("in a new worker: %w", err)
	}
	return nil
}

// Run runs launches in the worker, which takes the time.
func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	r, err := e.ask(ctx, call{Op: opRun, Launches: launches}, e.ready, nil, nil)
	return r.Sample, err
}

// Poison overwrites the output in the worker.
func (e *executable) Poison(ctx context.Context) error {
	_, err := e.ask(ctx, call{Op: opPoison}, e.ready, nil, nil)
	return err
}

// Check verifies the output in the worker.
func (e *executable) Check(ctx context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	r, err := e.ask(ctx, call{Op: opCheck, Check: spec}, e.here, nil, nil)
	return r.Check, err
}

// Results copies arrays from the worker.
func (e *executable) Results(out ...tile.Tensor) error {
	_, err := e.ask(context.Background(), call{Op: opResults, Arrays: describe(out)}, e.here, nil, out)
	return err
}

// here is an error if the executable is not there any more, with its output.
func (e *executable) here(context.Context) error {
	if e.closed {
		return errExecutableClosed
	}
	if !e.process.Alive() {
		return lostError("output")
	}
	return nil
}

// Close frees the executable in the worker, if both are still there. Closing twice is no error.
func (e *executable) Close() error {
	if e.closed || !e.process.Alive() {
		e.closed = true
		return nil
	}
	_, err := e.ask(context.Background(), call{Op: opCloseExecutable}, e.here, nil, nil)
	e.closed = true
	return err
}
