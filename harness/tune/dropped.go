package tune

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"matladder/backend"
	"matladder/problem"
)

// Dropped is a candidate that was out of the race though it compiled: it crashed, hung,
// failed, computed something wrong, or was faster than the device can be.
type Dropped struct {
	What string // its blocks and parameters
	Err  error
}

func (d Dropped) String() string { return fmt.Sprintf("%s: %v", d.What, d.Err) }

// drop notes that a trial is out of the race. What a backend cannot run at all is no news.
func (t *Tuner) drop(r *trial, err error) {
	if !errors.Is(err, backend.ErrUnsupported) && !errors.As(err, new(*backend.TooBigError)) {
		t.Dropped = append(t.Dropped, Dropped{strings.TrimSpace(r.look()), err})
	}
}

// possible is an error if a launch of p cannot have taken seconds.
func (t *Tuner) possible(ctx context.Context, p problem.Problem, seconds float64) error {
	t.bounds.Prober = t.Prober
	if reason := t.bounds.Impossible(ctx, t.Space.Device, p, seconds); reason != "" {
		return errors.New("impossible: " + reason)
	}
	return nil
}
