package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"matladder/backend"
	"matladder/internal/child"
	"matladder/internal/deadline"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/tile"
)

// Options are for Open. Of the durations, 0 stands for the default.
type Options struct {
	Opener string   // which of the openers given to Hook
	Config []byte   // handed to it
	Env    []string // NAME=value, added to the worker's environment

	// Guest is how many threads functions that others wrote may use, where the backend calls such:
	// they get as many processors and are stopped except while they are asked something, and
	// executables are no backend.Seeded but backend.Changing. 0 for other backends.
	Guest int

	// CallTimeout limits calls beside compilations and runs: inputs, check, load,
	// results and closing. 10 minutes by default.
	CallTimeout time.Duration
	// Grace is how long a cancelled call may take to end before the worker is
	// killed. 3 seconds by default.
	Grace time.Duration
	// Silence is how long the process may not be heard of before it is killed. A
	// busy worker is heard of every second. 30 seconds by default.
	Silence time.Duration
}

// Backend is a backend in a child process.
type Backend struct {
	options Options
	name    string
	device  machine.Device
	plugin  [2]string // name and version

	mu      sync.Mutex
	process process // none yet if nil
	closed  bool
}

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Compiler = (*Backend)(nil)
	_ backend.Solver   = (*Backend)(nil)
	_ backend.Plugged  = (*Backend)(nil)
	_ backend.Seeded   = (*executable)(nil)
)

var errClosed = errors.New("worker: the backend is closed")

// Open starts a worker and opens a backend in it. If that fails, the error is
// what the opener said, or a *backend.CrashError if the worker died of it.
func Open(ctx context.Context, o Options) (*Backend, error) {
	o.CallTimeout = cmp.Or(o.CallTimeout, 10*time.Minute)
	o.Grace = cmp.Or(o.Grace, 3*time.Second)
	o.Silence = cmp.Or(o.Silence, 30*time.Second)
	b := &Backend{options: o}
	if _, err := b.worker(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// worker returns the process, restarted if the last one is gone.
func (b *Backend) worker(ctx context.Context) (process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return process{}, errClosed
	}
	if b.alive() {
		return b.process, nil
	}
	p, err := start(b.options)
	if err != nil {
		return process{}, err
	}
	r, err := p.call(ctx, call{Op: opOpen, Opener: b.options.Opener, Config: b.options.Config}, nil, nil)
	if err != nil {
		p.Close(b.options.Grace)
		return process{}, err
	}
	b.process, b.name, b.device, b.plugin = p, r.Name, r.Device, r.Plugin
	return p, nil
}

func (b *Backend) alive() bool { return b.process.Process != nil && b.process.Alive() }

// Name is that of the backend in the worker.
func (b *Backend) Name() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.name
}

// Device is that of the backend in the worker.
func (b *Backend) Device() machine.Device {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.device
}

// Plugin is that of the backend in the worker; empty if it has none.
func (b *Backend) Plugin() (name, version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.plugin[0], b.plugin[1]
}

// Compile compiles in the worker.
func (b *Backend) Compile(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	var text bytes.Buffer
	if err := tile.WritePrograms(&text, programs); err != nil {
		return nil, err
	}
	return b.executable(ctx, call{Op: opCompile, Programs: text.Bytes(), Params: params})
}

// Solve compiles in the worker.
func (b *Backend) Solve(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	return b.executable(ctx, call{Op: opSolve, Problem: spec})
}

func (b *Backend) executable(ctx context.Context, recipe call) (backend.Executable, error) {
	e := &executable{backend: b, recipe: recipe}
	if err := e.compile(ctx); err != nil {
		return nil, err
	}
	if b.options.Guest > 0 {
		return &guest{e: e}, nil
	}
	return e, nil
}

// limited limits a call by CallTimeout.
func (b *Backend) limited(ctx context.Context, o op) (context.Context, context.CancelFunc) {
	return deadline.WithTimeoutCause(ctx, b.options.CallTimeout,
		fmt.Errorf("%s took longer than %s: %w", o, b.options.CallTimeout, context.DeadlineExceeded))
}

// Close closes the backend in the worker and ends the worker. Closing twice is no error.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	if !b.alive() {
		return nil
	}
	ctx, cancel := b.limited(context.Background(), opClose)
	defer cancel()
	_, err := b.process.call(ctx, call{Op: opClose}, nil, nil)
	b.process.Close(b.options.Grace)
	return err
}

// process is the parent's side of one worker.
type process struct{ *child.Process }

func start(o Options) (process, error) {
	p, err := child.Start(child.Options{Role: role, Env: o.Env, Grace: o.Grace, Silence: o.Silence, Rest: o.Guest > 0})
	if err == nil && o.Guest > 0 {
		p.Confine(o.Guest)
	}
	return process{p}, err
}

// call makes a call and waits for the reply; in goes with it, and into receives the
// arrays of the reply.
func (p process) call(ctx context.Context, c call, in, into []tile.Tensor) (reply, error) {
	var r reply
	err := p.Ask(ctx, c.Op.String(), c, bytesOf(in), &r, bytesOf(into))
	if errors.Is(err, child.ErrNoArrays) && r.Err != nil {
		err = nil
	}
	said := r.Err.err()
	switch crash, crashed := errors.AsType[*child.CrashError](err); {
	case crashed:
		return reply{}, (*backend.CrashError)(crash)
	case err != nil:
		return reply{}, err
	case errors.Is(said, context.Canceled) && ctx.Err() != nil: // the worker does not know why
		return reply{}, fmt.Errorf("%s: %w", c.Op, context.Cause(ctx))
	}
	return r, said
}

func bytesOf(ts []tile.Tensor) [][]byte {
	return each.Of(ts, func(t tile.Tensor) []byte { return t.Data })
}
