package interp

import (
	"context"
	"fmt"
	"strings"

	"matladder/tile"
)

// Options change how programs are run, never what they mean.
type Options struct {
	// Shuffle, unless 0, seeds a random order of the parallel programs; the
	// steps of each stay in order. 0 is row-major order.
	Shuffle uint64
	// Counters, unless nil, are overwritten with what the run did.
	Counters *Counters

	watchDot func(m *machine, dot *tile.Expr, a, b block) // for tests
}

// Run runs programs one after another on in and returns the outputs, in and out
// in the order of tile.Bind. A wrong program is a *tile.Error; a context that
// ends is its error, wrapped.
func Run(ctx context.Context, programs []*tile.Program, in []tile.Tensor) ([]tile.Tensor, error) {
	return RunWith(ctx, programs, in, Options{})
}

// RunWith is Run with options.
func RunWith(ctx context.Context, programs []*tile.Program, in []tile.Tensor, opts Options) ([]tile.Tensor, error) {
	bindings, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	arrays, err := loadInputs(bindings.In, in)
	if err != nil {
		return nil, err
	}
	counters := opts.Counters
	if counters == nil {
		counters = new(Counters)
	}
	*counters = Counters{}
	for _, p := range programs {
		for _, r := range p.RefsOf(tile.Out) {
			arrays[r.Name] = unwritten(r)
		}
		m := newMachine(ctx, p, arrays)
		m.watchDot = opts.watchDot
		if err := m.run(order(p.Grid, opts.Shuffle)); err != nil {
			return nil, err
		}
		m.count(counters)
	}
	out := make([]tile.Tensor, len(bindings.Out))
	for i, r := range bindings.Out {
		out[i] = tile.NewTensor(r.Dtype, r.Array...)
		for j, x := range arrays[r.Name].val {
			out[i].Set(j, x)
		}
	}
	return out, nil
}

// loadInputs turns tensors into arrays by name.
func loadInputs(refs []*tile.Ref, in []tile.Tensor) (map[string]*array, error) {
	if len(in) != len(refs) {
		names := make([]string, len(refs))
		for i, r := range refs {
			names[i] = r.Name
		}
		return nil, fmt.Errorf("interp: %d inputs given, the programs take %d: %s", len(in), len(refs), strings.Join(names, ", "))
	}
	arrays := map[string]*array{}
	for i, r := range refs {
		if err := in[i].Matches(r); err != nil {
			return nil, fmt.Errorf("interp: input %w", err)
		}
		a := &array{dtype: r.Dtype, val: make([]float64, in[i].Len())}
		for j := range a.val {
			a.val[j] = in[i].At(j)
		}
		arrays[r.Name] = a
	}
	return arrays, nil
}
