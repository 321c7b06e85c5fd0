package cpu

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/tile"
)

var _ backend.Caller = (*Backend)(nil)

// CompileCall plans programs for calls. Memory comes with the first call.
func (b *Backend) CompileCall(ctx context.Context, programs []*tile.Program, params backend.Params, layout backend.Layout) (backend.Callable, error) {
	if params.Threads != 0 && params.Threads != b.Threads() {
		return nil, fmt.Errorf("cpu: call: %d threads: the backend has %d", params.Threads, b.Threads())
	}
	e, err := b.compileFor(ctx, programs, params, layout, 1)
	if err != nil {
		return nil, err
	}
	if err := e.Borrow(layout.Packed); err != nil {
		return nil, err
	}
	if need, limit := e.Size(), availableMemory(); limit > 0 && need > limit {
		return nil, fmt.Errorf("cpu: %w", &backend.TooBigError{What: "memory", Needed: need, Limit: limit})
	}
	return exec.NewCallable(e, b.Threads(), b.sharing), nil
}
