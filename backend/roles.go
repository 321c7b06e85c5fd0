package backend

import (
	"context"
	"fmt"

	"matladder/tile"
)

// As returns b in a role. The error wraps ErrUnsupported and says what b cannot do.
func As[Role any](b Backend, cannot string) (Role, error) {
	r, ok := b.(Role)
	if !ok {
		return r, fmt.Errorf("%w: backend %s %s", ErrUnsupported, b.Name(), cannot)
	}
	return r, nil
}

// Compile has b compile programs; ErrUnsupported if it is no Compiler.
func Compile(ctx context.Context, b Backend, programs []*tile.Program, params Params) (Executable, error) {
	c, err := As[Compiler](b, "runs no tile programs")
	if err != nil {
		return nil, err
	}
	return c.Compile(ctx, programs, params)
}

// Solve has b compute a problem in its own way; ErrUnsupported if it is no Solver.
func Solve(ctx context.Context, b Backend, spec ProblemSpec) (Executable, error) {
	s, err := As[Solver](b, "has no way of its own to compute a problem")
	if err != nil {
		return nil, err
	}
	return s.Solve(ctx, spec)
}
