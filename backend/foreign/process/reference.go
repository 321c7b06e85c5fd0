package process

import (
	"context"
	"fmt"
	"sync"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/check"
	"matladder/tile"
)

// References keep the inputs of the last problem and what its output must be: all
// peers of a group are loaded with the same and verified with the same. The zero
// value is ready.
type References struct {
	mu        sync.Mutex
	spec      backend.InputSpec
	in        map[string]tile.Tensor
	reference check.Verifier // nil until the first verification

	// Of exact probes, whose inputs are not kept: they are handed over once.
	exact stage.References
}

// inputs returns the operands of spec, which must not be changed.
func (r *References) inputs(ctx context.Context, spec backend.InputSpec) ([]tile.Tensor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if check.IsExact(spec.Dist) {
		return (&References{}).keptInputs(ctx, spec)
	}
	return r.keptInputs(ctx, spec)
}

func (r *References) keptInputs(ctx context.Context, spec backend.InputSpec) ([]tile.Tensor, error) {
	want, err := r.make(ctx, spec)
	if err != nil {
		return nil, err
	}
	var in []tile.Tensor
	for _, w := range want {
		in = append(in, r.in[w.name])
	}
	return in, nil
}

// make makes the inputs of spec, unless they are there, and returns what they are.
func (r *References) make(ctx context.Context, spec backend.InputSpec) ([]operand, error) {
	want, _, err := operandsOf(spec.Problem)
	if err != nil {
		return nil, err
	}
	if r.in != nil && r.spec == spec {
		return want, nil
	}
	r.in, r.reference = nil, nil // before there are two
	in := map[string]tile.Tensor{}
	for _, w := range want {
		in[w.name] = tile.NewTensor(w.dtype, w.shape...)
		if err := check.Fill(ctx, in[w.name], w.name, spec.Problem, spec.Seed, spec.Dist); err != nil {
			return nil, fmt.Errorf("peer: fill %s: %w", w.name, err)
		}
	}
	r.spec, r.in = spec, in
	return want, nil
}

// verify compares out with what spec asks for.
func (r *References) verify(ctx context.Context, spec backend.InputSpec, out tile.Tensor) (check.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if check.IsExact(spec.Dist) {
		return r.exact.Verify(ctx, spec, nil, nil, map[string]tile.Tensor{"o": out})
	}
	_, err := r.make(ctx, spec)
	if err == nil && r.reference == nil {
		var reference check.Verifier
		if reference, err = check.ReferenceOf(ctx, spec.Problem, r.in, spec.Seed, spec.Dist); err == nil {
			r.reference = reference
		}
	}
	if err != nil {
		return check.Result{}, err
	}
	return r.reference.Verify(ctx, nil, r.in, map[string]tile.Tensor{"o": out})
}
