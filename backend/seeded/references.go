package seeded

import (
	"context"
	"slices"
	"sync"

	"matladder/backend"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"
)

// References are the references of the last few inputs: what is loaded again and again is
// made from one seed, and a reference takes longer to compute than most programs take to run.
// The zero value keeps one.
type References struct {
	mu   sync.Mutex
	most int
	last []keptReference // the latest first

	inputs bool // whether it keeps them too
	spec   backend.InputSpec
	in     []tile.Tensor // of spec; nil for none
}

type keptReference struct {
	referenceKey
	check.Verifier
}

type referenceKey struct {
	backend.InputSpec
	roundoff float64 // of the device's products
}

// Most is enough for the dtypes of one size, each with random inputs and an exact probe, or for
// many kinds of inputs of one.
const Most = 16

// Keep returns References that keep so many at most. inputs has them keep the last inputs too
// that were made for an executable whose arrays this process does not have: several
// executables are loaded with the same, one after the other.
func Keep(most int, inputs bool) *References { return &References{most: most, inputs: inputs} }

// keeps reports whether the inputs of spec are kept. A probe is handed over once.
func (r *References) keeps(spec backend.InputSpec) bool {
	return r.inputs && !check.IsExact(spec.Dist)
}

// inputsOf returns the inputs of spec, made or kept.
func (r *References) inputsOf(ctx context.Context, spec backend.InputSpec, arrays []problem.Operand) ([]tile.Tensor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in != nil && r.spec == spec && len(r.in) == len(arrays) {
		return r.in, nil
	}
	if r.keeps(spec) {
		r.in = nil // before there are two
	}
	in := make([]tile.Tensor, len(arrays))
	for i, a := range arrays {
		var err error
		if in[i], err = fill(ctx, a, tile.Tensor{}, spec); err != nil {
			return nil, err
		}
	}
	if r.keeps(spec) {
		r.spec, r.in = spec, in
	}
	return in, nil
}

// verify compares out with the reference of the inputs.
func (r *References) verify(ctx context.Context, key referenceKey, programs []*tile.Program, in, out map[string]tile.Tensor) (check.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.last, func(k keptReference) bool { return k.referenceKey == key })
	if i < 0 {
		v, err := check.ReferenceOf(ctx, key.Problem, in, key.Seed, key.Dist)
		if err != nil {
			return check.Result{}, err
		}
		v.ProductsOff(key.roundoff)
		i = max(0, min(len(r.last), r.most-1)) // in the place of the oldest, once there are as many
		r.last = append(r.last[:i], keptReference{key, v})
	}
	latest := r.last[i]
	copy(r.last[1:], r.last[:i])
	r.last[0] = latest
	return latest.Verify(ctx, programs, in, out)
}
