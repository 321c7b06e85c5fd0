package worker

import (
	"context"
	"errors"

	"matladder/backend"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/tile"
)

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
	e := &remoteError{text: f.Text}
	for _, i := range f.Kinds {
		e.kinds = append(e.kinds, kinds[i])
	}
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
