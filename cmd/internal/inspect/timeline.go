package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/backend/timeline"
	"matladder/backend/xla/aot"
	"matladder/check"
	"matladder/internal/each"
	"matladder/tile"
)

// timeline writes what happens when in a launch: recorded on the device at hand, or
// predicted for a TPU.
func (o *options) timeline(ctx context.Context, w io.Writer) (err error) {
	var list []*timeline.Timeline
	if o.open == nil {
		list, err = o.predicted(ctx)
	} else {
		list, err = o.recorded(ctx)
	}
	if err != nil {
		return err
	}
	switch o.format {
	case "json":
		return timeline.Chrome(w, list...)
	case "svg":
		return timeline.SVG(w, list...)
	}
	return timeline.Text(w, list...)
}

func (o *options) predicted(ctx context.Context) (list []*timeline.Timeline, err error) {
	err = o.explain(ctx, func(_ *aot.Backend, parts []aot.Explained) error {
		for _, p := range parts {
			list = append(list, p.Timeline(fmt.Sprintf("%s: %s on %s", o.title(), o.short(p.Kernel), o.device.CommonName())))
		}
		return nil
	})
	return list, err
}

// recorded runs the programs on the open device: a problem's inputs are those of seed 0,
// those of a file's programs zeros.
func (o *options) recorded(ctx context.Context) (list []*timeline.Timeline, err error) {
	e, err := backend.Compile(ctx, o.open.Backend, o.programs, o.open.Params)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	tracer, ok := e.(backend.Tracer)
	if !ok {
		return nil, fmt.Errorf("--as timeline: backend %s does not tell what happens in a launch", o.open.Name())
	}
	if o.problem != nil {
		err = seeded.Of(e, o.programs, &seeded.References{}).LoadSeeded(ctx, backend.InputSpec{Problem: o.problem, Dist: check.Uniform})
	} else {
		var bound tile.Bindings
		if bound, err = tile.Bind(o.programs); err != nil {
			return nil, err
		}
		in := each.Of(bound.In, func(r *tile.Ref) tile.Tensor { return tile.NewTensor(r.Dtype, r.Array...) })
		err = e.Load(in...)
	}
	if err != nil {
		return nil, err
	}
	t, err := tracer.Trace(ctx)
	if err != nil {
		return nil, err
	}
	t.Title = o.title()
	return append(list, t), nil
}
