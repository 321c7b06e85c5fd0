package cpu

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/tile"
)

// RunMesh runs programs of a mesh once on all its devices, each a worker with memory of its
// own: in and out have, for each device, arrays in the order of tile.Bind. It is for trying
// programs of several devices, not for speed.
func (b *Backend) RunMesh(ctx context.Context, programs []*tile.Program, in [][]tile.Tensor) ([][]tile.Tensor, error) {
	devices := make([]*exec.Executable, len(in))
	for d := range in {
		e, err := b.compileFor(ctx, programs, backend.Params{Threads: 1}, backend.Layout{}, len(in))
		if err != nil {
			return nil, err
		}
		devices[d] = e
		defer e.Close()
		if err := e.Load(in[d]...); err != nil {
			return nil, fmt.Errorf("device %d: %w", d, err)
		}
	}
	if err := exec.RunMesh(ctx, programs, devices); err != nil {
		return nil, err
	}
	out := make([][]tile.Tensor, len(devices))
	for d, e := range devices {
		for _, r := range e.Bound.Out {
			out[d] = append(out[d], tile.NewTensor(r.Dtype, r.Array...))
		}
		if err := e.Results(out[d]...); err != nil {
			return nil, err
		}
	}
	return out, nil
}
