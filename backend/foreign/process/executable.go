package process

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"
)

// executable is one problem in a process, which computes nothing else meanwhile.
type executable struct {
	backend  *Backend
	process  process
	problem  problem.Problem
	in       []operand
	out      operand
	unsigned bool // of a product: a is handed over with 128 added

	stage   stage.Stage
	columns []int32 // 128 times the sums of b's columns, if o contains them
}

// limited limits a call that is no run.
func (e *executable) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.backend.options.CallTimeout)
}

// LoadSeeded makes the inputs and hands them over.
func (e *executable) LoadSeeded(ctx context.Context, spec backend.InputSpec) error {
	if spec.Problem != e.problem {
		return fmt.Errorf("peer: inputs of %s for %s", spec.Problem, e.problem)
	}
	return e.stage.LoadSeeded(spec, func() error {
		in, err := e.backend.options.References.inputs(ctx, spec)
		if err != nil {
			return err
		}
		return e.load(ctx, in)
	})
}

// Load hands over the inputs, as the problem names them; of a scaled product a, b, sa and sb.
func (e *executable) Load(in ...tile.Tensor) error {
	return stage.Load(&e.stage, in, e.in, matches, func() error { return e.load(context.Background(), in) })
}

func (e *executable) load(ctx context.Context, in []tile.Tensor) error {
	arrays := make([][]byte, len(in))
	for i, t := range in {
		arrays[i] = t.Data
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
	_, err := e.process.ask(ctx, "load", arrays, nil)
	return err
}

func matches(t tile.Tensor, w operand) error {
	if t.Dtype != w.dtype || !slices.Equal(t.Shape, w.shape) {
		return fmt.Errorf("%s: have %s%v, want %s%v", w.name, t.Dtype, t.Shape, w.dtype, w.shape)
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
	return e.stage.Run(launches, func() (s backend.Sample, err error) {
		answer, err := e.process.ask(ctx, fmt.Sprintf("run %d", launches), nil, nil)
		if err != nil {
			return s, err
		}
		ns, err := strconv.ParseInt(answer, 10, 64)
		if err != nil || ns < 0 {
			return s, fmt.Errorf("peer: the time of %d launches is said to be %q ns", launches, answer)
		}
		return backend.Sample{Elapsed: time.Duration(ns), Method: "direct"}, nil
	})
}

// Poison fills o with ones: NaN, or -1.
func (e *executable) Poison(ctx context.Context) error {
	return e.stage.Poison(func() error {
		ctx, cancel := e.limited(ctx)
		defer cancel()
		_, err := e.process.ask(ctx, "poison", nil, nil)
		return err
	})
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
	return e.stage.Check(spec, func() (backend.CheckResult, error) {
		out, err := e.output(ctx)
		if err == nil && spec.Fault != "" {
			err = check.Inject(spec.Fault, out)
		}
		if err != nil {
			return backend.CheckResult{}, err
		}
		ctx, cancel := e.limited(ctx)
		defer cancel()
		return e.backend.options.References.verify(ctx, spec.InputSpec, out)
	})
}

// Results copies o out.
func (e *executable) Results(out ...tile.Tensor) error {
	return stage.Results(&e.stage, out, []operand{e.out}, matches, func() error {
		o, err := e.output(context.Background())
		if err == nil {
			copy(out[0].Data, o.Data)
		}
		return err
	})
}

// Close gives the process back. Closing twice is no error.
func (e *executable) Close() error {
	return e.stage.Close(func() error {
		e.backend.done(e.process)
		return nil
	})
}
