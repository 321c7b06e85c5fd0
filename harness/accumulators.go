package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"matladder/backend"
	"matladder/check/accumulator"
	"matladder/internal/deadline"
	"matladder/problem"
)

// AccumulatorSizes are those of WriteAccumulators where none are asked for: four blocks of v3
// along k.
var AccumulatorSizes = []problem.Sizes{{64, 512, 64, 1}}

// WriteAccumulators writes how each point of a sweep adds its products (package
// check/accumulator), or why that is not known. The error is the first that is no lack of support.
func WriteAccumulators(ctx context.Context, w io.Writer, s Sweep, opt Options) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "kernel\tproblem\t%s\n", strings.Join(accumulator.Columns, "\t"))
	var failed error
	for p := range s.Points() {
		cells := "\t\t\t" + p.Reason
		if p.Status == "" {
			a, err := accumulatorOf(ctx, s, p, &opt)
			switch cells = strings.Join(a.Cells(), "\t"); {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				cells = "\t\t\t" + err.Error()
				if !errors.Is(err, backend.ErrUnsupported) {
					failed = cmp.Or(failed, fmt.Errorf("%s: %w", p, err))
				}
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", strings.TrimSpace(p.Contender.String()+" "+p.Variant), problem.Title(p.Problem), cells)
	}
	return cmp.Or(t.Flush(), failed)
}

func accumulatorOf(ctx context.Context, s Sweep, p Point, opt *Options) (a accumulator.Accumulator, err error) {
	asked, ok := p.Problem.(problem.Matmul)
	if !ok {
		return a, fmt.Errorf("%w: accumulators are those of matrix products", backend.ErrUnsupported)
	}
	programs, err := p.build(p.Problem, p.Variant)
	if err != nil {
		return a, err
	}
	b, _ := p.on(opt)
	limited, cancel := deadline.WithTimeout(ctx, s.Config.Timeout)
	defer cancel()
	e, err := p.compile(limited, b, p, programs)
	if err != nil {
		return a, err
	}
	defer func() { err = cmp.Or(err, e.Close()) }()
	return accumulator.Of(ctx, e, programs, asked, s.Config.Timeout)
}
