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

// revive makes the executable anew if its worker is gone.
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

// call makes a call about the executable where it is.
func (e *executable) call(ctx context.Context, c call, in, into []tile.Tensor) (reply, error) {
	c.ID = e.id
	return e.process.call(ctx, c, in, into)
}

// LoadSeeded fills the inputs beside the device.
func (e *executable) LoadSeeded(ctx context.Context, spec backend.InputSpec) error {
	ctx, cancel := e.backend.limited(ctx, opLoadSeeded)
	defer cancel()
	if err := e.revive(ctx); err != nil {
		return err
	}
	return e.loadSeeded(ctx, spec)
}

func (e *executable) loadSeeded(ctx context.Context, spec backend.InputSpec) error {
	e.seeded = nil
	_, err := e.call(ctx, call{Op: opLoadSeeded, Inputs: spec}, nil, nil)
	if err == nil {
		e.seeded = &spec
	}
	return err
}

// Load copies arrays to the worker.
func (e *executable) Load(in ...tile.Tensor) error {
	ctx, cancel := e.backend.limited(context.Background(), opLoad)
	defer cancel()
	if err := e.revive(ctx); err != nil {
		return err
	}
	e.seeded = nil
	_, err := e.call(ctx, call{Op: opLoad, Arrays: describe(in)}, in, nil)
	return err
}

// ready has the executable in a living worker with its inputs. After a crash of the
// worker, inputs are made again from their seed; arrays of Load are lost.
func (e *executable) ready(ctx context.Context) error {
	lost := !e.closed && !e.process.Alive()
	if err := e.revive(ctx); err != nil {
		return err
	}
	if lost && e.seeded != nil {
		if err := e.loadSeeded(ctx, *e.seeded); err != nil {
			return fmt.Errorf("in a new worker: %w", err)
		}
	} else if lost {
		return lostError("inputs")
	}
	return nil
}

// Run runs launches in the worker, which takes the time.
func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	if err := e.ready(ctx); err != nil {
		return backend.Sample{}, err
	}
	r, err := e.call(ctx, call{Op: opRun, Launches: launches}, nil, nil)
	return r.Sample, err
}

// Poison overwrites the output in the worker.
func (e *executable) Poison(ctx context.Context) error {
	if err := e.ready(ctx); err != nil {
		return err
	}
	ctx, cancel := e.backend.limited(ctx, opPoison)
	defer cancel()
	_, err := e.call(ctx, call{Op: opPoison}, nil, nil)
	return err
}

// Check verifies the output in the worker.
func (e *executable) Check(ctx context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	if err := e.here("output"); err != nil {
		return backend.CheckResult{}, err
	}
	ctx, cancel := e.backend.limited(ctx, opCheck)
	defer cancel()
	r, err := e.call(ctx, call{Op: opCheck, Check: spec}, nil, nil)
	return r.Check, err
}

// Results copies arrays from the worker.
func (e *executable) Results(out ...tile.Tensor) error {
	if err := e.here("output"); err != nil {
		return err
	}
	ctx, cancel := e.backend.limited(context.Background(), opResults)
	defer cancel()
	_, err := e.call(ctx, call{Op: opResults, Arrays: describe(out)}, nil, out)
	return err
}

// here is an error if the executable is not there any more, with what it made.
func (e *executable) here(what string) error {
	if e.closed {
		return errExecutableClosed
	}
	if !e.process.Alive() {
		return lostError(what)
	}
	return nil
}

// Close frees the executable in the worker, if both are still there. Closing
// twice is no error.
func (e *executable) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	if !e.process.Alive() {
		return nil
	}
	ctx, cancel := e.backend.limited(context.Background(), opCloseExecutable)
	defer cancel()
	_, err := e.call(ctx, call{Op: opCloseExecutable}, nil, nil)
	return err
}
