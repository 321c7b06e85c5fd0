package inspect

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/kernels"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"

	"github.com/spf13/pflag"
)

// subject is what the programs to inspect are of, a kernel and a problem or a file, as
// reports name it.
type subject struct {
	name      string
	asked     string     // the problem; "" for a file, of which it is not known
	stem      string     // how names of the files that reports are written to begin
	dtype     tile.Dtype // of operand a, by which peaks are looked up; of a file, of its first product
	precision tile.Precision
	flops     int64
}

func subjectOf(k kernels.Kernel, p problem.Problem) subject {
	asked := p.Asked()
	stem := fmt.Sprintf("%s_%s_%s", k.Name(), strings.ReplaceAll(p.Family().Short(p.Sizes()), ":", "_"), asked.A)
	if k.Family() != problem.Families()[0] {
		stem = k.Family().Name + "_" + stem
	}
	return subject{k.Name(), p.String(), stem, asked.A, asked.Precision, p.FLOPs()}
}

const (
	programFile = ".json"  // how the name of a file of programs ends
	largestFile = 64 << 20 // bytes it may have
)

// read reads the programs of a file, as --as json writes them, and makes it the subject.
func (o *options) read(f *pflag.FlagSet, path string) error {
	if err := refuse(f, path); err != nil {
		return err
	}
	text, err := files.ReadRegular(path, largestFile)
	if err != nil {
		return cli.Input("", err)
	}
	if o.programs, err = tile.ReadPrograms(bytes.NewReader(text)); err != nil {
		return cli.Input("", fmt.Errorf("%s: %w", path, err))
	}
	counts, err := model.Count(o.programs)
	if err != nil {
		return err
	}
	o.subject = subject{name: o.programs[0].Name, stem: strings.TrimSuffix(filepath.Base(path), programFile), flops: counts.FLOPs}
	for _, p := range o.programs {
		p.Walk(func(s *tile.Stmt) {
			if s.Value != nil {
				o.firstProduct(s.Value)
			}
		})
	}
	if in := o.programs[0].RefsOf(tile.In); o.dtype == tile.InvalidDtype && len(in) > 0 {
		o.dtype = in[0].Dtype
	}
	return nil
}

// refuse refuses flags that say what a file says.
func refuse(f *pflag.FlagSet, path string) error {
	for _, name := range []string{"sizes", "dtype", "variant", "blocks"} {
		if f.Changed(name) {
			return fmt.Errorf("--%s is for a kernel: the programs of %s have sizes and dtypes of their own", name, path)
		}
	}
	return nil
}

// firstProduct takes dtype and precision from the first product in an expression, unless
// they are known.
func (o *options) firstProduct(e *tile.Expr) {
	if e.Op == tile.OpDot && o.dtype == tile.InvalidDtype {
		o.dtype, o.precision = e.Args[0].Dtype, e.Precision
	}
	for _, a := range e.Args {
		o.firstProduct(a)
	}
}
