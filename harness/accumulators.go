package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/check/accumulator"
	"matladder/internal/deadline"
	"matladder/problem"
	"matladder/tile"
)

// AccumulatorSizes are those of WriteAccumulators where none are asked for: four blocks of v3
// along k.
var AccumulatorSizes = []problem.Sizes{{64, 512, 64, 1}}

// WriteAccumulators writes how each point of a sweep adds its products (package
// check/accumulator), or why that is not known. The error is the first that is no lack of support.
func WriteAccumulators(ctx context.Context, w io.Writer, s Sweep, opt Options) (failed error) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "kernel\tproblem\t%s\n", strings.Join(accumulator.Columns, "\t"))
	for p := range s.Points() {
		a, err := accumulatorOf(ctx, s.Config.Timeout, p, &opt)
		cells := strings.Join(a.Cells(), "\t")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			cells = "\t\t\t" + err.Error()
			if failed == nil && !errors.Is(err, backend.ErrUnsupported) {
				failed = fmt.Errorf("%s: %w", p, err)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", strings.TrimSpace(p.Contender.String()+" "+p.Variant), problem.Title(p.Problem), cells)
		if a.Tree != "" {
			fmt.Fprintf(t, "\t\t\t\t\t%s\n", a.Tree)
		}
	}
	return cmp.Or(t.Flush(), failed)
}

func accumulatorOf(ctx context.Context, limit time.Duration, p Point, opt *Options) (a accumulator.Accumulator, err error) {
	asked, ok := p.Problem.(problem.Matmul)
	if !ok || p.Status != "" {
		return a, fmt.Errorf("%w: %s", backend.ErrUnsupported, cmp.Or(p.Reason, "accumulators are those of matrix products"))
	}
	programs, err := p.build(p.Problem, p.Variant)
	if err != nil {
		return a, err
	}
	limited, cancel := deadline.WithTimeout(ctx, limit)
	defer cancel()
	b, _ := p.on(opt)
	e, err := p.compile(limited, b, p, programs)
	if err != nil {
		return a, err
	}
	a, err = probe(ctx, limit, e, programs, asked)
	return a, cmp.Or(err, e.Close())
}

// probe probes an executable. Scales are one, its bias and zero points zero.
func probe(ctx context.Context, limit time.Duration, e backend.Executable, programs []*tile.Program, p problem.Matmul) (a accumulator.Accumulator, err error) {
	arrays, _, err := seeded.Arrays(e, programs, p)
	if err != nil {
		return a, err
	}
	in, out, at := make([]tile.Tensor, len(arrays)), tile.NewTensor(p.Out, p.M, p.N), map[string]tile.Tensor{}
	for i, o := range arrays {
		in[i] = tile.NewTensor(o.Dtype, o.Shape...)
		if at[o.Name] = in[i]; o.Name == "sa" || o.Name == "sb" {
			in[i].SetAll(0, slices.Repeat([]float64{1}, in[i].Len()))
		}
	}
	return accumulator.Find(p, func(a, b []float64) ([]float64, error) {
		at["a"].SetAll(0, a)
		at["b"].SetAll(0, b)
		if err := e.Load(in...); err != nil {
			return nil, err
		}
		limited, cancel := deadline.WithTimeout(ctx, limit)
		defer cancel()
		if _, err := e.Run(limited, 1); err != nil {
			return nil, err
		}
		err := e.Results(out)
		return out.Floats(), err
	})
}
