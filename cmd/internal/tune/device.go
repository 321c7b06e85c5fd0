package tune

import (
	"context"
	"io"
	"time"

	"matladder/backend/registry"
	"matladder/harness/tuned"
	"matladder/internal/cli"
)

// opened is an open backend.
type opened = registry.Device

// device is an open backend and what names its table.
type device struct {
	*opened
	machine  string
	versions string
}

// compileLimit is how long one candidate may take to compile: one that takes longer is
// large, and rarely the fastest.
const compileLimit = 90 * time.Second

// open opens the backend that the flags ask for.
func (f *flags) open(ctx context.Context, stderr io.Writer) (*device, error) {
	d, err := f.where.Open(ctx, registry.Request{Threads: f.config.Threads, Probe: !f.list, Probing: cli.Probing(stderr), Limit: compileLimit})
	if err != nil {
		return nil, err
	}
	return &device{
		opened:   d,
		machine:  tuned.MachineName(d.Device(), d.Params.ISA, d.Params.Threads),
		versions: versions(d.Backend, f.config.Family, d.Params.ISA),
	}, nil
}
