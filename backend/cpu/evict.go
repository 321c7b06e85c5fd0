package cpu

import (
	"context"
	"errors"

	"matladder/backend/cpu/internal/evict"
)

// cool puts all memory of e out of the caches.
func (e *executable) cool(ctx context.Context) error {
	switch {
	case e.closed:
		return errClosed
	case e.pages == nil:
		return errors.New("cpu: cool: nothing was loaded")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return e.pool.run(func(member int) { evict.Part(e.pages, member, e.pool.size) })
}
