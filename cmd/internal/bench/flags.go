package bench

import (
	"io"
	"slices"
	"strings"
	"time"

	"matladder/stats"

	"matladder/backend/foreign/process"
	"matladder/backend/registry/builtin"
	"matladder/check"
	"matladder/cmd/internal/deviceflag"
	"matladder/cmd/internal/sweepflag"
	"matladder/configs"
	"matladder/internal/cli"

	"github.com/spf13/pflag"
)

// flags are the command line; those of the sweep are read by package sweepflag.
type flags struct {
	set *pflag.FlagSet

	where                         *deviceflag.Flags
	each                          []*deviceflag.Flags // where, for one chip of --topology each
	out, fault, tuned, columns    string
	with                          []string
	interpreter                   string // of --python
	predict, resume, list, dryRun bool
	machine, probe, counters      bool
	trace                         string
	budget                        time.Duration
	threads                       int

	recalled *sweepflag.Record // the sweep to go on with, if it is not in the flags
	record   sweepflag.Record  // of this sweep, once it was read
}

// parseFlags reads args. Help, if asked for, goes to stdout and is the error
// pflag.ErrHelp.
func parseFlags(args []string, stdout io.Writer) (*flags, error) {
	f := &flags{set: cli.NewFlags("bench")}
	s := f.set
	s.String("config", "quick", "sweep to measure: a `NAME` that comes with bench ("+strings.Join(configs.Names(), ", ")+") or the path of a .yaml file")
	s.String("family", "", "problem `FAMILY` to measure in place of the sweep's, with --sizes: "+strings.Join(sweepflag.Families(), ", "))
	s.String("kernel", "", "`KERNELS` by number or name, joined by commas; 0 is the baseline")
	s.String("dtype", "", "`DTYPES` of operand a, joined by commas; or operands such as int8:per_channel+token, bfloat16xint4:per_block128:bias+gelu")
	s.String("sizes", "", "`SIZES` joined by commas: squares (512), m×k×n (512x1024x2048), or by name (m=512:k=1024:n=2048)")
	s.String("blocks", "", "`BLOCKS` of v4 and v5, joined by commas: bm×bk×bn (512x1024x1024), or all")
	s.StringVar(&f.tuned, "tuned", "", "table of tuned blocks `FILE`, or none; the machine's own if not given")
	s.String("mesh", "", "spread products over the devices of a `MESH`, such as data=16,model=16: kernel 0 alone, in the ways of the sweep")
	s.String("precision", "", "`PRECISIONS` of float32 products: default, highest or both")
	f.where = deviceflag.Define(s, 0)
	f.where.DefineAssume(s)
	s.StringArrayVar(&f.with, "with", nil, "measure a `FUNCTION` of a shared library or a Python file beside the kernels: FILE:SYMBOL, or NAME=FILE:SYMBOL:OPERANDS; may be repeated")
	s.StringVar(&f.interpreter, "python", "", "`PYTHON` that runs Python files of --with; if not given, "+process.PythonVariable+" of the environment, an active virtual environment's, or python3")
	s.BoolVar(&f.predict, "predict", false, "predict instead of measuring, with --topology")
	s.StringVar(&f.out, "out", "", "results `FILE`; out/<run>.csv if not given")
	s.BoolVar(&f.resume, "resume", false, "go on with the results file --out; without other flags, with its own sweep")
	s.BoolVar(&f.list, "list", false, "print the points and stop")
	s.BoolVar(&f.dryRun, "dry-run", false, "count points, memory and time, and stop")
	s.BoolVar(&f.machine, "machine", false, "print what is known of the machine, measured or published, and stop")
	s.BoolVar(&f.probe, "probe", false, "measure the machine's peaks and bandwidth again")
	s.DurationVar(&f.budget, "time-budget", 0, "wall `TIME` of the whole execution, such as 60s; 0 for no limit")
	s.Int64("seed", 0, "`SEED` of inputs and orders")
	s.IntVar(&f.threads, "threads", 0, "`THREADS` of the CPU; 0 for one a core")
	s.Bool("pin", false, "bind the threads of kernels to cores (Linux, backend "+builtin.CPU+")")
	s.String("cache", "", "`CACHE` that launches find: warm, or cold, with nothing of their operands in it (backend "+builtin.CPU+")")
	s.BoolVar(&f.counters, "counters", false, "count cycles, instructions and misses of caches and TLB of each repetition, where the machine lets it (Linux)")
	s.StringVar(&f.columns, "table-columns", "", "`COLUMNS` that the table at the end has besides: "+strings.Join(stats.TableColumns, ", "))
	s.StringVar(&f.trace, "trace", "", "write what each thread does when in one launch of each kernel to `FILE`, for ui.perfetto.dev")
	s.StringVar(&f.fault, "fault", "", "damage each output with `FAULT` ("+strings.Join(check.Faults(), ", ")+") to see it reported")
	if err := cli.ParseOrHelp(s, args, stdout, "Bench measures the ladder of matmul kernels and writes what it finds as CSV.\n\nusage: bench [flags]"); err != nil {
		return nil, err
	}
	return f, f.check()
}

func badColumns(text string) error {
	_, err := stats.ParseTableColumns(text)
	return err
}

// check refuses what makes no sense whatever the sweep.
func (f *flags) check() error {
	switch {
	case f.set.NArg() > 0:
		return cli.Misuse(f.set, "unexpected argument %q: sweeps are named by --config", f.set.Arg(0))
	case f.resume && f.out == "":
		return cli.Usagef("--resume needs --out, the file to go on with")
	case f.probe && f.list:
		return cli.Usagef("--list runs nothing: --probe goes with --machine, or with a sweep")
	case f.budget < 0:
		return cli.Usagef("--time-budget %s is negative", f.budget)
	case f.threads < 0:
		return cli.Usagef("--threads %d is negative", f.threads)
	case f.columns != "" && badColumns(f.columns) != nil:
		return cli.Usagef("--table-columns: %w", badColumns(f.columns))
	case f.trace != "" && (f.list || f.dryRun || f.machine):
		return cli.Usagef("--trace needs a sweep that runs: leave --list, --dry-run and --machine out")
	case f.fault != "" && !slices.Contains(check.Faults(), f.fault):
		return cli.Usagef("--fault: unknown fault %q (known: %s)", f.fault, strings.Join(check.Faults(), ", "))
	}
	if f.predict && f.where.Backend == "" && f.where.Topology == "" {
		f.where.Backend = builtin.AOT
	}
	var err error
	if f.each, err = f.where.Each(); err != nil {
		return err
	}
	for _, where := range f.each {
		one := *f
		one.where = where
		if err := one.checkWhere(); err != nil {
			return err
		}
		if err := one.checkWith(); err != nil {
			return err
		}
	}
	return nil
}
