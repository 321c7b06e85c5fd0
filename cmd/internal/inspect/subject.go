package inspect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"matladder/backend"
	"matladder/backend/registry"
	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/machine"
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
	family := words.When(k.Family() != problem.Families()[0], "%s_", k.Family().Name)
	stem := fmt.Sprintf("%s%s_%s_%s", family, k.Name(), strings.ReplaceAll(p.Family().Short(p.Sizes()), ":", "_"), asked.A)
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
	o.dtype, o.precision = model.Multiplied(o.programs)
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

// findDevice takes the device that flags name: a chip, by --topology (v5e if nothing is
// named), or this machine's, by --backend, which --as plan, asm, anatomy and accumulator take to be
// the CPU if it is not given. That backend stays open in o.open until close.
func (o *options) findDevice(f *pflag.FlagSet) error {
	only := o.as == "plan" || o.as == "asm" || o.as == "anatomy" || o.as == "accumulator"
	hand := only || o.as == "timeline" && o.where.Topology == ""
	for _, flag := range []string{"threads", "param"} {
		if f.Changed(flag) && !hand {
			return fmt.Errorf("--%s is for --as plan, asm, anatomy and accumulator, and for --as timeline of this machine", flag)
		}
	}
	switch {
	case o.threads < 0:
		return fmt.Errorf("--threads %d is negative", o.threads)
	case only && o.where.Topology != "":
		return fmt.Errorf("--as %s is about a device at hand: leave --topology out", o.as)
	}
	if !hand && o.where.Backend == "" {
		return o.findChip()
	}
	entry, err := o.where.Entry()
	switch {
	case err != nil:
		return err
	case entry.Chips != nil && only:
		return fmt.Errorf("--as %s is about a device at hand, and backend %s has none", o.as, entry.Name)
	case entry.Chips != nil: // nothing to open
		return o.findChip()
	case o.where.Topology != "":
		return errors.New("--backend names the device: leave --topology out")
	}
	if o.open, err = o.where.Open(context.Background(), registry.Request{Threads: o.threads, Probe: o.as == "counts"}); err != nil {
		return err
	}
	o.device = o.open.Device()
	if _, ok := o.open.Backend.(backend.Planner); (o.as == "plan" || o.as == "anatomy") && !ok {
		return fmt.Errorf("--as %s: backend %s does not tell what it makes of a program", o.as, o.open.Name())
	}
	if _, ok := o.open.Backend.(backend.Assembler); o.as == "asm" && !ok {
		return fmt.Errorf("--as asm: backend %s has no inner loops in assembly", o.open.Name())
	}
	return nil
}

// findChip takes the chip that --topology names, v5e if it names none: one that is compiled
// for, or where nothing is compiled any that package machine knows.
func (o *options) findChip() (err error) {
	o.topology = cmp.Or(o.where.Topology, "v5e")
	t, err := aot.FindTopology(o.topology)
	switch {
	case err == nil:
		o.device, err = t.Device()
	case o.as == "schedule" || o.as == "table" || o.as == "timeline":
	default:
		if o.device, err = machine.Find(o.topology); err == nil {
			o.topology = strings.TrimPrefix(o.device.Key, machine.TPU+"_")
		}
	}
	if err != nil {
		return fmt.Errorf("--topology: %w", err)
	}
	return nil
}

// plan writes what the backend makes of the programs.
func (o *options) plan(ctx context.Context, w io.Writer) error {
	var text strings.Builder
	if err := o.open.Backend.(backend.Planner).WritePlan(ctx, &text, o.programs, o.open.Params); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: %s in a launch\n%s", o.title(), words.Count(len(o.programs), "program"), text.String())
	return err
}

// close closes what findDevice opened.
func (o *options) close() {
	if o.open != nil {
		o.open.Close()
	}
}
