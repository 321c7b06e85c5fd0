package stage

import (
	"context"
	"slices"
	"sync"

	"matladder/backend"
	"matladder/check"
	"matladder/tile"
)

// References are the references of the last few inputs: what is loaded again and again is
// made from one seed, and a reference takes longer to compute than most programs take to run.
// The zero value keeps one.
type References struct {
	mu   sync.Mutex
	most int
	last []keptReference // the latest first
}

type keptReference struct {
	spec backend.InputSpec
	check.Verifier
}

// Keep returns References that keep so many at most.
func Keep(most int) *References { return &References{most: most} }

// Verify compares out with the reference of inputs made from spec.
func (r *References) Verify(ctx context.Context, spec backend.InputSpec, programs []*tile.Program, in, out map[string]tile.Tensor) (check.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.last, func(k keptReference) bool { return k.spec == spec })
	if i < 0 {
		v, err := check.ReferenceOf(ctx, spec.Problem, in, spec.Seed, spec.Dist)
		if err != nil {
			return check.Result{}, err
		}
		i = max(0, min(len(r.last), r.most-1)) // in the place of the oldest, once there are as many
		r.last = append(r.last[:i], keptReference{spec, v})
	}
	latest := r.last[i]
	copy(r.last[1:], r.last[:i])
	r.last[0] = latest
	return latest.Verify(ctx, programs, in, out)
}
