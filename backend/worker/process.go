package worker

import (
	"context"
	"errors"
	"fmt"

	"matladder/backend"
	"matladder/internal/child"
	"matladder/tile"
)

// process is the parent's side of one worker.
type process struct{ *child.Process }

func start(o Options) (process, error) {
	p, err := child.Start(child.Options{Role: role, Env: o.Env, Grace: o.Grace, Silence: o.Silence})
	return process{p}, err
}

// call makes a call and waits for the reply; in goes with it, and into receives the
// arrays of the reply.
func (p process) call(ctx context.Context, c call, in, into []tile.Tensor) (reply, error) {
	var r reply
	err := p.Ask(ctx, c.Op.String(), c, bytesOf(in), &r, bytesOf(into))
	if errors.Is(err, child.ErrNoArrays) && r.Err != nil {
		err = nil
	}
	said := r.Err.err()
	switch crash, crashed := errors.AsType[*child.CrashError](err); {
	case crashed:
		return reply{}, (*backend.CrashError)(crash)
	case err != nil:
		return reply{}, err
	case errors.Is(said, context.Canceled) && ctx.Err() != nil: // the worker does not know why
		return reply{}, fmt.Errorf("%s: %w", c.Op, context.Cause(ctx))
	}
	return r, said
}

func bytesOf(ts []tile.Tensor) [][]byte {
	var arrays [][]byte
	for _, t := range ts {
		arrays = append(arrays, t.Data)
	}
	return arrays
}
