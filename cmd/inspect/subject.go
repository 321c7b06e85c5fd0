package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"matladder/analyze"
	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"

	"github.com/spf13/pflag"
)

// subject is what reports say of the programs that they show: those of a kernel on a
// problem, or of a file.
type subject struct {
	name      string
	asked     string     // the problem; "" where it is not known
	stem      string     // of the names of files
	dtype     tile.Dtype // of operand a, by which peaks are looked up
	precision tile.Precision
	flops     int64
}

func subjectOf(k kernels.Kernel, p problem.Matmul) subject {
	return subject{k.Name(), p.String(), fmt.Sprintf("%s_%s_%s", k.Name(), p.Shape(), p.A), p.A, p.Precision, p.FLOPs()}
}

// programFile is how the name of a file of programs ends; largestFile is how many bytes
// it may have.
const (
	programFile = ".json"
	largestFile = 64 << 20
)

// read takes the programs of a file that --as json wrote, or someone else.
func (o *options) read(f *pflag.FlagSet, path string) error {
	for _, name := range []string{"sizes", "dtype", "variant", "blocks"} {
		if f.Changed(name) {
			return fmt.Errorf("--%s is for a kernel: the programs of %s have sizes and dtypes of their own", name, path)
		}
	}
	text, err := files.ReadRegular(path, largestFile)
	if err != nil {
		return cli.Input("", err)
	}
	if o.programs, err = tile.ReadPrograms(bytes.NewReader(text)); err != nil {
		return cli.Input("", fmt.Errorf("%s: %w", path, err))
	}
	counts, err := analyze.Count(o.programs)
	if err != nil {
		return err
	}
	o.subject = subject{name: o.programs[0].Name, stem: strings.TrimSuffix(filepath.Base(path), programFile), flops: counts.FLOPs}
	for _, p := range o.programs {
		for _, s := range p.Body {
			o.products(s)
		}
	}
	if in := o.programs[0].RefsOf(tile.In); o.dtype == tile.InvalidDtype && len(in) > 0 {
		o.dtype = in[0].Dtype
	}
	return nil
}

// products takes dtype and precision of the first product in a statement.
func (o *options) products(s *tile.Stmt) {
	if o.dtype == tile.InvalidDtype && s.Value != nil {
		o.product(s.Value)
	}
	for _, inner := range s.Body {
		o.products(inner)
	}
}

func (o *options) product(e *tile.Expr) {
	if e.Op == tile.OpDot && o.dtype == tile.InvalidDtype {
		o.dtype, o.precision = e.Args[0].Dtype, e.Precision
	}
	for _, a := range e.Args {
		o.product(a)
	}
}
