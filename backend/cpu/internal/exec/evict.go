package exec

import (
	"context"

	"matladder/backend/cpu/internal/evict"
)

// Cool puts all memory of e out of the caches.
func (e *Executable) Cool(ctx context.Context) error {
	return e.stage.Cool(func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return e.Pool.Run(func(member int) { evict.Part(e.Pages, member, e.Pool.Size) })
	})
}
