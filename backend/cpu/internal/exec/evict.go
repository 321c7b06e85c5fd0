package exec

import (
	"context"

	"matladder/backend/cpu/internal/evict"
)

// Cool puts all memory of e out of the caches.
func (e *Executable) Cool(ctx context.Context) error {
	if err := e.Loaded("cool"); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.Pool.Run(func(member int) { evict.Part(e.Pages, member, e.Pool.Size) })
}
