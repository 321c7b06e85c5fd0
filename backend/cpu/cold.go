package cpu

import (
	"context"
	"errors"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
)

var _ backend.Cooler = (*Backend)(nil)

// Cool puts all memory of an executable out of the caches: arrays, and the buffers that
// launches pack into.
func (b *Backend) Cool(ctx context.Context, x backend.Executable) error {
	e, ok := x.(*exec.Executable)
	if !ok {
		return errors.New("cpu: cool: not an executable of this backend")
	}
	return e.Cool(ctx)
}
