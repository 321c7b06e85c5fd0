package cpu

import (
	"context"
	"errors"

	"matladder/backend"
	"matladder/backend/cpu/internal/evict"
)

var _ backend.Cooler = (*Backend)(nil)

// Cool puts all memory of an executable out of the caches: arrays, and the buffers that
// launches pack into.
func (b *Backend) Cool(ctx context.Context, x backend.Executable) error {
	e, ok := x.(*executable)
	switch {
	case !ok:
		return errors.New("cpu: cool: not an executable of this backend")
	case e.closed:
		return errClosed
	case e.pages == nil:
		return errors.New("cpu: cool: nothing was loaded")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return e.pool.run(func(member int) { evict.Part(e.pages, member, e.pool.size) })
}
