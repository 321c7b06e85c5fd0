package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"matladder/backend"
	"matladder/check/accumulator"
	"matladder/problem"
)

// accumulator writes how the programs add, found by running them on the open device.
func (o *options) accumulator(ctx context.Context, w io.Writer) (err error) {
	p, ok := o.problem.(problem.Matmul)
	if !ok {
		return fmt.Errorf("--as accumulator is for kernels of matrix products, which %s is not", o.name)
	}
	e, err := backend.Compile(ctx, o.open.Backend, o.programs, o.open.Params)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	a, err := accumulator.Of(ctx, e, o.programs, p, time.Hour)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, o.title())
	for i, cell := range a.Cells() {
		fmt.Fprintf(w, "  %-11s %s\n", accumulator.Columns[i], cell)
	}
	if a.Tree != "" {
		fmt.Fprintf(w, "  %-11s %s\n", "sum", a.Tree)
	}
	return nil
}
