package process

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"matladder/backend"
	"matladder/problem"
	"matladder/tile"
)

// executable is one problem in a process, which computes nothing else meanwhile.
type executable struct {
	backend  *Backend
	process  process
	in, out  []problem.Operand
	unsigned bool // of a product: a is handed over with 128 added

	columns []int32 // 128 times the sums of b's columns, if o contains them
}

// ask is a call that is no run.
func (e *executable) ask(ctx context.Context, request string, arrays, into [][]byte) error {
	ctx, cancel := context.WithTimeout(ctx, e.backend.options.CallTimeout)
	defer cancel()
	_, err := e.process.ask(ctx, request, arrays, into)
	return err
}

// Fill hands over the inputs, as the problem names them; of a scaled product a, b, sa and sb.
func (e *executable) Fill(ctx context.Context, source backend.Source) error {
	in, arrays := make([]tile.Tensor, len(e.in)), make([][]byte, len(e.in))
	for i, o := range e.in {
		t, err := source(i, tile.Tensor{Dtype: o.Dtype, Shape: o.Shape})
		if err != nil {
			return err
		}
		in[i], arrays[i] = t, t.Data
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
	return e.ask(ctx, "load", arrays, nil)
}

// Inputs are in the process alone.
func (e *executable) Inputs() []tile.Tensor { return nil }

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
	return e.run(ctx, launches, nil)
}

func (e *executable) run(ctx context.Context, launches int, changes [][]byte) (s backend.Sample, err error) {
	end := e.process.Watch()
	answer, err := e.process.ask(ctx, fmt.Sprintf("run %d", launches), changes, nil)
	if err != nil {
		return s, err
	}
	seen := end()
	s = backend.Sample{Method: "direct", Outside: seen.Elapsed, Processors: seen.Processors, Allowed: seen.Allowed, Raised: seen.Raised}
	ns, err := strconv.ParseInt(answer, 10, 64)
	if err != nil || ns < 0 {
		return s, fmt.Errorf("peer: the time of %d launches is said to be %q ns", launches, answer)
	}
	s.Elapsed = time.Duration(ns)
	return s, nil
}

// runChanged is Run of a function of a Python file. What it does once, as to compile, comes ahead.
func (e *executable) runChanged(ctx context.Context, ahead, each backend.Changes) (s backend.Sample, err error) {
	if _, err = e.process.answer(ctx, "run", "ok", "prepare", nil, nil); err != nil {
		return s, err
	}
	return e.run(ctx, each.Len(), [][]byte{ahead, each})
}

// Poison fills o with ones: NaN, or -1.
func (e *executable) Poison(ctx context.Context) error { return e.ask(ctx, "poison", nil, nil) }

// Outputs fetches the outputs; o of a product without what Unsigned added to it.
func (e *executable) Outputs(ctx context.Context, look func([]tile.Tensor) error) error {
	out, arrays := make([]tile.Tensor, len(e.out)), make([][]byte, len(e.out))
	for i, o := range e.out {
		out[i] = tile.NewTensor(o.Dtype, o.Shape...)
		arrays[i] = out[i].Data
	}
	if err := e.ask(ctx, "output", nil, arrays); err != nil {
		return err
	}
	for i := 0; e.columns != nil && i < len(arrays[0]); i += 4 {
		v := binary.LittleEndian.Uint32(arrays[0][i:])
		binary.LittleEndian.PutUint32(arrays[0][i:], v-uint32(e.columns[i/4%len(e.columns)]))
	}
	return look(out)
}

// Close gives the process back.
func (e *executable) Close() error {
	e.backend.done(e.process)
	return nil
}
