package peer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"matladder/backend"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"
)

// executable is one problem in a process of its own.
type executable struct {
	backend  *Backend
	process  process
	problem  problem.Problem
	in       []operand
	out      operand
	unsigned bool // of a product: a is handed over with 128 added

	spec    backend.InputSpec
	seeded  bool
	loaded  bool
	ran     bool
	columns []int32 // 128 times the sums of b's columns, if o contains them
	closed  bool
}

var errClosed = errors.New("peer: the executable is closed")

// limited limits a call that is no run.
func (e *executable) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.backend.options.CallTimeout)
}

// LoadSeeded makes the inputs and hands them over.
func (e *executable) LoadSeeded(ctx context.Context, spec backend.InputSpec) error {
	if spec.Problem != e.problem {
		return fmt.Errorf("peer: inputs of %s for %s", spec.Problem, e.problem)
	}
	in, err := e.backend.options.References.inputs(ctx, spec)
	if err == nil {
		err = e.load(ctx, in)
	}
	e.spec, e.seeded = spec, err == nil
	return err
}

// Load hands over the inputs, as the problem names them; of a scaled product a, b, sa and sb.
func (e *executable) Load(in ...tile.Tensor) error { return e.load(context.Background(), in) }

func (e *executable) load(ctx context.Context, in []tile.Tensor) error {
	if e.closed {
		return errClosed
	}
	e.seeded, e.loaded, e.ran = false, false, false
	if len(in) != len(e.in) {
		return fmt.Errorf("peer: load: have %d arrays, want %d", len(in), len(e.in))
	}
	arrays := make([][]byte, len(in))
	for i, w := range e.in {
		if err := matches(in[i], w); err != nil {
			return err
		}
		arrays[i] = in[i].Data
	}
	if e.unsigned {
		arrays[0] = slices.Clone(arrays[0])
		for i := range arrays[0] {
			arrays[0][i] ^= 0x80 // adds 128 to an int8, as uint8
		}
		if len(in) == 2 { // no scales: the library takes nothing out
			e.columns = columnSums(in[1], in[1].Shape[0], in[1].Shape[1])
		}
	}
	ctx, cancel := e.limited(ctx)
	defer cancel()
	if _, err := e.process.ask(ctx, "load", arrays, nil); err != nil {
		return err
	}
	e.loaded = true
	return nil
}

func matches(t tile.Tensor, w operand) error {
	if t.Dtype != w.dtype || !slices.Equal(t.Shape, w.shape) {
		return fmt.Errorf("peer: %s: have %s%v, want %s%v", w.name, t.Dtype, t.Shape, w.dtype, w.shape)
	}
	return nil
}

// columnSums returns 128 times the sum of each column of b (k×n, int8), modulo
// 2³² as the product is.
func columnSums(b tile.Tensor, k, n int) []int32 {
	sums := make([]int32, n)
	for i := range k {
		for j, v := range b.Data[i*n : (i+1)*n] {
			sums[j] += 128 * int32(int8(v))
		}
	}
	return sums
}

// Run times launches in the process. When ctx ends, so does the process.
func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	switch {
	case e.closed:
		return backend.Sample{}, errClosed
	case launches < 1:
		return backend.Sample{}, fmt.Errorf("peer: run: %d launches", launches)
	case !e.loaded:
		return backend.Sample{}, errors.New("peer: run: nothing was loaded")
	}
	e.ran = false
	answer, err := e.process.ask(ctx, fmt.Sprintf("run %d", launches), nil, nil)
	if err != nil {
		return backend.Sample{}, err
	}
	ns, err := strconv.ParseInt(answer, 10, 64)
	if err != nil || ns < 0 {
		return backend.Sample{}, fmt.Errorf("peer: the time of %d launches is said to be %q ns", launches, answer)
	}
	e.ran = true
	return backend.Sample{Elapsed: time.Duration(ns), Method: "direct"}, nil
}

// Poison fills o with ones: NaN, or -1.
func (e *executable) Poison(ctx context.Context) error {
	switch {
	case e.closed:
		return errClosed
	case !e.loaded:
		return errors.New("peer: poison: nothing was loaded")
	}
	e.ran = false
	ctx, cancel := e.limited(ctx)
	defer cancel()
	_, err := e.process.ask(ctx, "poison", nil, nil)
	return err
}

// output fetches o, without what Unsigned added to it.
func (e *executable) output(ctx context.Context) (tile.Tensor, error) {
	out := tile.NewTensor(e.out.dtype, e.out.shape...)
	ctx, cancel := e.limited(ctx)
	defer cancel()
	if _, err := e.process.ask(ctx, "output", nil, out.Data); err != nil {
		return tile.Tensor{}, err
	}
	for i := 0; e.columns != nil && i < len(out.Data); i += 4 {
		v := binary.LittleEndian.Uint32(out.Data[i:])
		binary.LittleEndian.PutUint32(out.Data[i:], v-uint32(e.columns[i/4%len(e.columns)]))
	}
	return out, nil
}

// Check verifies the output of the last Run.
func (e *executable) Check(ctx context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	switch {
	case e.closed:
		return backend.CheckResult{}, errClosed
	case !e.seeded || e.spec != spec.InputSpec:
		return backend.CheckResult{}, errors.New("peer: check: the inputs are not those of LoadSeeded with this spec")
	case !e.ran:
		return backend.CheckResult{Detail: "nothing was run"}, nil
	}
	out, err := e.output(ctx)
	if err == nil && spec.Fault != "" {
		err = check.Inject(spec.Fault, out)
	}
	if err != nil {
		return backend.CheckResult{}, fmt.Errorf("peer: check: %w", err)
	}
	ctx, cancel := e.limited(ctx)
	defer cancel()
	r, err := e.backend.options.References.verify(ctx, spec.InputSpec, out)
	if err != nil {
		return backend.CheckResult{}, fmt.Errorf("peer: check: %w", err)
	}
	return r, nil
}

// Results copies o out.
func (e *executable) Results(out ...tile.Tensor) error {
	switch {
	case e.closed:
		return errClosed
	case len(out) != 1:
		return fmt.Errorf("peer: results: have %d arrays, want o", len(out))
	case !e.ran:
		return errors.New("peer: results: nothing was run on these inputs")
	}
	if err := matches(out[0], e.out); err != nil {
		return err
	}
	o, err := e.output(context.Background())
	if err == nil {
		copy(out[0].Data, o.Data)
	}
	return err
}

// Close ends the process. Closing twice is no error.
func (e *executable) Close() error {
	if !e.closed {
		e.closed = true
		e.process.end()
	}
	return nil
}
