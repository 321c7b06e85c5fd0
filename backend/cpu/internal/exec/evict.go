package exec

import (
	"context"
	"errors"

	"matladder/backend/cpu/internal/evict"
)

// Cool puts all memory of e out of the caches.
func (e *Executable) Cool(ctx context.Context) error {
	switch {
	case e.closed:
		return errClosed
	case e.Pages == nil:
		return errors.New("cpu: cool: nothing was loaded")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return e.Pool.Run(func(member int) { evict.Part(e.Pages, member, e.Pool.Size) })
}
