package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/backend/timeline"
	"matladder/harness"
	"matladder/internal/files"
	"matladder/internal/words"
)

// mostTraced bounds the points of a trace: it is to be looked at.
const mostTraced = 64

// writeTrace records one launch of each kernel of the sweep, after it, and writes them as one
// file for Perfetto.
func (f *flags) writeTrace(ctx context.Context, stdout io.Writer, dev *device, sweep harness.Sweep) error {
	var list []*timeline.Timeline
	for p := range sweep.Points() {
		rung, ok := p.Contender.(harness.Rung)
		if !ok || p.Status != "" {
			continue
		}
		if len(list) == mostTraced {
			fmt.Fprintf(stdout, "%s: the first %d points; a trace is limited to them\n", f.trace, mostTraced)
			break
		}
		t, err := traced(ctx, dev, rung, p, uint64(sweep.Config.Seed), sweep.Config.Dist)
		if err != nil {
			return fmt.Errorf("--trace: %s: %w", p, err)
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return fmt.Errorf("--trace %s: no point of the sweep can be recorded", f.trace)
	}
	var b bytes.Buffer
	if err := timeline.Chrome(&b, list...); err != nil {
		return err
	}
	if err := files.MakeFolder(f.trace); err != nil {
		return err
	}
	if err := files.Replace(f.trace, b.Bytes()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "%s: one launch of %s, for ui.perfetto.dev or chrome://tracing\n", filepath.ToSlash(f.trace), words.Count(len(list), "point"))
	return err
}

func traced(ctx context.Context, dev *device, rung harness.Rung, p harness.Point, seed uint64, dist string) (*timeline.Timeline, error) {
	programs, err := rung.Build(p.Problem, p.Variant, rung.Blocks)
	if err != nil {
		return nil, err
	}
	e, err := backend.Compile(ctx, dev.Backend, programs, p.Params)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	tracer, ok := e.(backend.Tracer)
	if !ok {
		return nil, fmt.Errorf("backend %s does not tell what happens in a launch: %w", dev.Name(), backend.ErrUnsupported)
	}
	if err := seeded.Of(e, programs, &seeded.References{}).LoadSeeded(ctx, backend.InputSpec{Problem: p.Problem, Seed: seed, Dist: dist}); err != nil {
		return nil, err
	}
	t, err := tracer.Trace(ctx)
	if err == nil {
		t.Title = p.String()
	}
	return t, err
}
