package worker

import (
	"context"

	"matladder/backend"
	"matladder/tile"
)

// guest is an executable of a function that somebody else wrote: no backend.Seeded, as nothing
// that is said of its outputs may come from the process that has it.
type guest struct {
	e  *executable
	in []tile.Tensor // of Load: of the caller, for another worker
}

var _ backend.Changing = (*guest)(nil)

func (g *guest) Load(in ...tile.Tensor) error {
	g.in = in
	return g.e.Load(in...)
}

// ready has the executable in a living worker with its inputs.
func (g *guest) ready(ctx context.Context) error {
	if g.e.closed || g.e.process.Alive() {
		return g.e.revive(ctx)
	}
	return g.e.Load(g.in...)
}

func (g *guest) Poison(ctx context.Context) error {
	if err := g.ready(ctx); err != nil {
		return err
	}
	return g.e.Poison(ctx)
}

func (g *guest) Run(ctx context.Context, launches int) (backend.Sample, error) {
	return g.run(ctx, call{Op: opRun, Launches: launches}, nil)
}

func (g *guest) RunChanged(ctx context.Context, ahead, each backend.Changes) (backend.Sample, error) {
	return g.run(ctx, call{Op: opRun}, []tile.Tensor{{Data: ahead}, {Data: each}})
}

func (g *guest) run(ctx context.Context, c call, in []tile.Tensor) (backend.Sample, error) {
	if err := g.ready(ctx); err != nil {
		return backend.Sample{}, err
	}
	end := g.e.process.Watch()
	r, err := g.e.ask(ctx, c, g.e.here, in, nil)
	s := end()
	r.Sample.Outside, r.Sample.Processors, r.Sample.Allowed, r.Sample.Raised = s.Elapsed, s.Processors, s.Allowed, s.Raised
	return r.Sample, err
}

func (g *guest) Results(out ...tile.Tensor) error { return g.e.Results(out...) }
func (g *guest) Close() error                     { return g.e.Close() }
