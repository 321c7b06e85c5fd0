package peer

import (
	"context"
	"fmt"
	"sync"

	"matladder/backend"
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
	reference *check.Reference // nil until the first verification
}

// inputs returns a and b of spec, which must not be changed.
func (r *References) inputs(spec backend.InputSpec) (a, b tile.Tensor, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.make(spec); err != nil {
		return a, b, err
	}
	return r.in["a"], r.in["b"], nil
}

func (r *References) make(spec backend.InputSpec) error {
	if r.in != nil && r.spec == spec {
		return nil
	}
	r.in, r.reference = nil, nil // before there are two
	p := spec.Problem
	in := map[string]tile.Tensor{"a": tile.NewTensor(p.A, p.M, p.K), "b": tile.NewTensor(p.B, p.K, p.N)}
	for name, t := range in {
		if err := check.Fill(t, name, p, spec.Seed, spec.Dist); err != nil {
			return fmt.Errorf("peer: fill %s: %w", name, err)
		}
	}
	r.spec, r.in = spec, in
	return nil
}

// verify compares out with what spec asks for.
func (r *References) verify(ctx context.Context, spec backend.InputSpec, out tile.Tensor) (check.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.make(spec)
	if err == nil && r.reference == nil {
		r.reference, err = check.NewReference(ctx, spec.Problem, r.in)
	}
	if err != nil {
		return check.Result{}, err
	}
	return r.reference.Verify(ctx, nil, r.in, out)
}
