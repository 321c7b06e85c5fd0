package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/internal/child"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/tile"
)

// role is that of a child process that is a worker.
const role = "worker"

// Opener opens a backend inside a worker. config is what Options.Config was.
type Opener func(ctx context.Context, config []byte) (backend.Backend, error)

// Hook must be called first thing in main, and in TestMain of tests that start
// workers. In a worker it serves the parent and ends the process; elsewhere it
// returns at once. openers are by the names that Options.Opener may have.
func Hook(openers map[string]Opener) {
	s := server{openers: openers, executables: map[int]backend.Seeded{}, references: seeded.Keep(seeded.Most, false)}
	child.Serve(role, s.answer)
}

// server is the worker's side.
type server struct {
	openers     map[string]Opener
	backend     backend.Backend
	executables map[int]backend.Seeded
	references  *seeded.References
	next        int
}

// answer serves one call. A panic is the call's failure.
func (s *server) answer(ctx context.Context, c call, in [][]byte) (r reply, arrays [][]byte) {
	err := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &backend.CrashError{What: c.Op.String(), Reason: fmt.Sprintf("panic: %v", v)}
			}
		}()
		arrays, err = s.serve(ctx, c, in, &r)
		return err
	}()
	if r.Err = newFailure(err); err != nil {
		arrays = nil
	}
	return r, arrays
}

func (s *server) serve(ctx context.Context, c call, in [][]byte, r *reply) ([][]byte, error) {
	switch c.Op {
	case opOpen:
		return nil, s.open(ctx, c, r)
	case opCompile:
		programs, err := tile.ReadPrograms(bytes.NewReader(c.Programs))
		if err != nil {
			return nil, err
		}
		e, err := backend.Compile(ctx, s.backend, programs, c.Params)
		return nil, s.keep(e, programs, err, r)
	case opSolve:
		e, err := backend.Solve(ctx, s.backend, c.Problem)
		return nil, s.keep(e, nil, err, r)
	case opClose:
		for id := range s.executables {
			s.executables[id].Close()
		}
		return nil, s.backend.Close()
	}
	e, ok := s.executables[c.ID]
	if !ok {
		return nil, fmt.Errorf("worker: no executable %d", c.ID)
	}
	var err error
	switch c.Op {
	case opLoadSeeded:
		return nil, e.LoadSeeded(ctx, c.Inputs)
	case opPoison:
		return nil, e.Poison(ctx)
	case opCheck:
		r.Check, err = e.Check(ctx, c.Check)
		return nil, err
	case opLoad:
		data := tensors(c.Arrays)
		for i := range min(len(data), len(in)) {
			data[i].Data = in[i]
		}
		return nil, e.Load(data...)
	case opRun:
		if run, ok := seeded.Inner(e).(backend.Changing); ok && len(in) == 2 {
			r.Sample, err = run.RunChanged(ctx, in[0], in[1])
		} else {
			r.Sample, err = e.Run(ctx, c.Launches)
		}
		return nil, err
	case opResults:
		out := tensors(c.Arrays)
		for i, a := range c.Arrays {
			out[i].Data = make([]byte, a.Bytes)
		}
		return bytesOf(out), e.Results(out...)
	case opCloseExecutable:
		delete(s.executables, c.ID)
		return nil, e.Close()
	}
	return nil, fmt.Errorf("worker: no such call: %d", c.Op)
}

func (s *server) open(ctx context.Context, c call, r *reply) error {
	opener, ok := s.openers[c.Opener]
	if !ok {
		return fmt.Errorf("worker: no backend %q", c.Opener)
	}
	be, err := opener(ctx, c.Config)
	if err != nil {
		return err
	}
	s.backend = be
	r.Name, r.Device = be.Name(), be.Device()
	if p, ok := be.(backend.Plugged); ok {
		r.Plugin[0], r.Plugin[1] = p.Plugin()
	}
	return nil
}

func (s *server) keep(e backend.Executable, programs []*tile.Program, err error, r *reply) error {
	if err != nil {
		return err
	}
	s.next++
	r.ID = s.next
	s.executables[s.next] = seeded.Of(e, programs, s.references)
	return nil
}

// op is what a call asks for.
type op uint8

const (
	opOpen op = iota
	opCompile
	opSolve
	opLoadSeeded
	opCheck
	opLoad
	opRun
	opResults
	opCloseExecutable
	opClose
	opPoison
)

func (o op) String() string {
	return [...]string{"opening the device", "compilation", "compilation of the baseline", "inputs", "check", "load",
		"run", "results", "closing an executable", "closing the device", "poisoning the output"}[o]
}

// call is a message to the worker. Fields that its Op does not need are zero.
type call struct {
	Op       op
	Opener   string // opOpen
	Config   []byte // opOpen
	ID       int    // of an executable
	Programs []byte // as tile.WritePrograms writes them
	Params   backend.Params
	Problem  backend.ProblemSpec
	Inputs   backend.InputSpec
	Check    backend.CheckSpec
	Launches int
	Arrays   []array // opLoad: what comes with the call; opResults: what is wanted
}

// array is a tensor without its data.
type array struct {
	Dtype tile.Dtype
	Shape []int
	Bytes int
}

func describe(ts []tile.Tensor) []array {
	return each.Of(ts, func(t tile.Tensor) array { return array{t.Dtype, t.Shape, len(t.Data)} })
}

// tensors are those that describe described, without their data.
func tensors(as []array) []tile.Tensor {
	return each.Of(as, func(a array) tile.Tensor { return tile.Tensor{Dtype: a.Dtype, Shape: a.Shape} })
}

// reply is the worker's answer. The arrays that opResults asked for come with it, if Err is nil.
type reply struct {
	Err    *failure
	ID     int
	Name   string
	Device machine.Device
	Plugin [2]string // name and version
	Sample backend.Sample
	Check  backend.CheckResult
}

// kinds are the errors without a text of their own that callers ask for.
var kinds = []error{backend.ErrUnsupported, backend.ErrOutside, backend.ErrNoOutput, context.Canceled, context.DeadlineExceeded}

// failure is an error on its way; what kind of error it was survives.
type failure struct {
	Text   string
	Kinds  []int // indices of kinds
	TooBig *backend.TooBigError
	Crash  *backend.CrashError
}

func newFailure(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	for i, kind := range kinds {
		if errors.Is(err, kind) {
			f.Kinds = append(f.Kinds, i)
		}
	}
	errors.As(err, &f.TooBig)
	errors.As(err, &f.Crash)
	return f
}

func (f *failure) err() error {
	if f == nil {
		return nil
	}
	e := &remoteError{text: f.Text, kinds: each.Of(f.Kinds, func(i int) error { return kinds[i] })}
	if f.TooBig != nil {
		e.kinds = append(e.kinds, f.TooBig)
	}
	if f.Crash != nil {
		e.kinds = append(e.kinds, f.Crash)
	}
	return e
}

// remoteError is an error of the worker's, in its own words.
type remoteError struct {
	text  string
	kinds []error
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.kinds }
