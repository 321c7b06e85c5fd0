package harness

import (
	"context"

	"matladder/backend"
	"matladder/check"
)

// wrongError is an output that is not what it must be, found outside of the repetitions
// of a round.
type wrongError struct{ detail string }

func (e *wrongError) Error() string { return e.detail }

// prove runs a lane that has just been compiled on an exact probe, before anything is
// measured: each element must be what it must be. Meanwhile it finds how many launches
// make a repetition.
func (r *run) prove(ctx context.Context, l *lane) error {
	if !check.HasExact(l.Problem) {
		return nil
	}
	spec := r.inputs(l.Problem)
	spec.Dist = check.Exact
	if err := r.load(ctx, l, spec); err != nil {
		return err
	}
	if _, err := r.launch(ctx, l, 1); err != nil {
		return err
	}
	if err := r.confirm(ctx, l, spec); err != nil {
		return err
	}
	if err := r.calibrate(ctx, l); err != nil {
		return err
	}
	return r.confirm(ctx, l, spec)
}

// confirm verifies the output of a probe. What cannot be verified here cannot be after a
// round either, whose rows will say so.
func (r *run) confirm(ctx context.Context, l *lane, spec backend.InputSpec) error {
	var res backend.CheckResult
	err := guard(func() (err error) {
		res, err = l.exe.Check(ctx, backend.CheckSpec{InputSpec: spec})
		return err
	})
	if err == nil && !res.OK {
		return &wrongError{res.Detail}
	}
	return ctx.Err()
}
