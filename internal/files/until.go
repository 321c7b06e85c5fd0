package files

import (
	"context"
	"io"
)

// Until returns a reader of r that ends with the error of ctx once that has one: what
// reads a file of any length looks at its context at each piece of it.
func Until(ctx context.Context, r io.Reader) io.Reader { return until{ctx, r} }

type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
