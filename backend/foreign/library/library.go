package library

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/worker"
	"matladder/internal/child"
	"matladder/machine"
)

// OpenerName is the word by which a worker knows Opener.
const OpenerName = "own"

// Library is where a function of a shared library is.
type Library struct {
	File    string // its path
	Symbol  string // what the function is called there
	Threads int    // that it may use
}

// Open loads a shared library in a child process, which has to find the function.
// f.Name is the symbol if it is empty.
func Open(ctx context.Context, f foreign.Function, l Library, host machine.Device) (*Backend, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	text, path, err := foreign.ReadFile(l.File)
	if err != nil {
		return nil, err
	}
	l.File = path
	f.Name = cmp.Or(f.Name, l.Symbol)
	b, err := newBackend(f, host)
	if err != nil {
		return nil, err
	}
	b.file, b.symbol, b.version = l.File, l.Symbol, foreign.Hash(text)
	config, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	w, err := worker.Open(ctx, worker.Options{Opener: OpenerName, Config: config, Env: child.Threads(l.Threads), Guest: cmp.Or(l.Threads, runtime.GOMAXPROCS(0))})
	if err != nil {
		return nil, err
	}
	b.solve, b.close = w.Solve, w.Close
	return b, nil
}

// Opener opens, in a worker, the function that Open asks for.
func Opener(_ context.Context, config []byte) (backend.Backend, error) {
	var l Library
	if err := json.Unmarshal(config, &l); err != nil {
		return nil, fmt.Errorf("own: %w", err)
	}
	call, on, stop, err := load(l)
	if err != nil {
		return nil, err
	}
	return &loaded{call, on, stop}, nil
}

// loaded is the worker's side of a function: which problems it is asked for is decided on
// the other.
type loaded struct {
	call Call
	on   func(func())
	stop func()
}

func (l *loaded) Name() string           { return OpenerName }
func (l *loaded) Device() machine.Device { return machine.Device{} }
func (l *loaded) Close() error           { l.stop(); return nil }

func (l *loaded) Solve(_ context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	return newExecutable(l.call, spec.Problem, l.on), nil
}
