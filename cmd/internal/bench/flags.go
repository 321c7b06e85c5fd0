package bench

import (
	_ "embed"
	"errors"
	"io/fs"
	"matladder/backend/foreign/process"
	"matladder/backend/registry/builtin"
	"matladder/check"
	"matladder/cmd/internal/deviceflag"
	"matladder/cmd/internal/sweepflag"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/stats"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// flags are the command line; those of the sweep are read by package sweepflag.
type flags struct {
	set *pflag.FlagSet

	where                         *deviceflag.Flags
	each                          []*deviceflag.Flags // where, for one chip of --topology each
	out, fault, tuned             string
	with, export, columns         []string
	interpreter                   string // of --python
	predict, resume, list, dryRun bool
	machine, probe, counters      bool
	accumulators                  bool
	trace, bundle                 string
	threads                       int

	recalled *sweepflag.Record // the sweep to go on with, if it is not in the flags
	record   sweepflag.Record  // of this sweep, once it was read
}

//go:embed manual.txt
var manual string

// parseFlags reads args.
func parseFlags(args []string) (*flags, error) {
	f := &flags{set: cli.NewFlags("bench")}
	s := f.set
	sweepflag.Define(s, "quick", "family", "kernel", "dtype", "sizes", "blocks", "precision", "inputs")
	s.StringVar(&f.tuned, "tuned", "", "table of tuned blocks `FILE`, or none; this machine's own if not given")
	s.String("mesh", "", "spread products over the devices of a `MESH`, such as data=16,model=16: kernel 0 alone, in the ways of the sweep")
	s.StringArrayVar(&f.with, "with", nil, "`FUNCTION` of yours to measure with the kernels: FILE:SYMBOL or NAME=FILE:SYMBOL:OPERANDS of a shared library or Python file, or a StableHLO file; may be repeated")
	s.StringVar(&f.interpreter, "python", "", "`PYTHON` that runs Python files of --with; if not given, "+process.PythonVariable+" of the environment, an active virtual environment's, or python3")
	cli.Group(s, "WHAT TO MEASURE")
	f.where = deviceflag.Define(s, 0)
	s.BoolVar(&f.predict, "predict", false, "predict instead of measuring; --topology implies it")
	f.where.DefineAssume(s)
	s.IntVar(&f.threads, "threads", 0, "`THREADS` of the CPU; 0 for one a core")
	s.Bool("pin", false, "bind the threads of kernels to cores (Linux, backend "+builtin.CPU+")")
	cli.Group(s, "WHERE")
	s.Duration("time-budget", 0, "wall `TIME` of the whole execution, such as 60s; 0 for no limit")
	s.Int64("seed", 0, "`SEED` of inputs and orders")
	s.String("cache", "", "`CACHE` that a launch finds: warm, or cold with none of its operands (backend "+builtin.CPU+")")
	cli.Offer(s, "cache", []string{"warm", "cold"})
	s.String("duty", "", "percentages of a window for which the device is busy, `DUTIES` joined by commas, such as 25,50,100: how a rate holds under load")
	s.Duration("window", 0, "`TIME` that a window of --duty lasts; 10s if not given")
	s.Duration("cool", 0, "`TIME` that the machine rests before each point; half of a window before one if not given")
	s.BoolVar(&f.counters, "counters", false, "count cycles, instructions, cache and TLB misses of each repetition, where the machine allows it (Linux)")
	s.StringVar(&f.fault, "fault", "", "damage each output on purpose, to see `FAULT` reported")
	cli.Known(s, "fault", check.Faults())
	s.BoolVar(&f.probe, "probe", false, "measure the machine's peaks and bandwidth again")
	cli.Group(s, "HOW TO MEASURE")
	s.StringVar(&f.out, "out", "", "results `FILE`; out/<run>.csv if not given")
	s.BoolVar(&f.resume, "resume", false, "resume the sweep of the results file --out; no other flags are needed")
	s.String("table-columns", "", "more `COLUMNS` of the table at the end")
	cli.Known(s, "table-columns", stats.TableColumns)
	s.StringArrayVar(&f.export, "export", nil, "write the table, which plot makes of the results too, to `FILE`.json, .md or .csv; may be repeated")
	s.StringVar(&f.trace, "trace", "", "write what each thread does in one launch of each kernel to `FILE`, for ui.perfetto.dev")
	s.StringVar(&f.bundle, "bundle", "", "at the end, write rows, programs, settings and the machine to `FILE`.zip, for compare verify")
	cli.Group(s, "RESULTS")
	s.BoolVar(&f.list, "list", false, "print the points")
	s.BoolVar(&f.dryRun, "dry-run", false, "print how many points there are, and the memory and time that they take")
	s.BoolVar(&f.accumulators, "accumulators", false, "print how each kernel adds its products: bits kept, rounding, subnormals, order (at 64×512×64 if --sizes is not given)")
	s.BoolVar(&f.machine, "machine", false, "print what is known of the machine, measured or published")
	cli.Group(s, "WITHOUT MEASURING")
	if err := cli.Parse(s, args, manual); err != nil {
		return nil, err
	}
	return f, f.check()
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
	case f.accumulators && (f.out != "" || f.list || f.dryRun || f.machine):
		return cli.Usagef("--accumulators prints a table and measures nothing: leave --out, --list, --dry-run and --machine out")
	case f.accumulators && f.set.Changed("inputs"):
		return cli.Usagef("--accumulators multiplies matrices of its own: leave --inputs out")
	case f.threads < 0:
		return cli.Usagef("--threads %d is negative", f.threads)
	case (f.trace != "" || f.export != nil || f.bundle != "") && (f.list || f.dryRun || f.machine || f.accumulators):
		return cli.Usagef("--trace, --export and --bundle need a sweep that runs: leave --list, --dry-run, --machine and --accumulators out")
	case f.bundle != "" && filepath.Ext(f.bundle) != ".zip":
		return cli.Usagef("--bundle %s: want a file that ends in .zip", f.bundle)
	case f.fault != "" && !slices.Contains(check.Faults(), f.fault):
		return cli.Usagef("--fault: unknown fault %q (known: %s)", f.fault, strings.Join(check.Faults(), ", "))
	}
	if f.predict && f.where.Backend == "" && f.where.Topology == "" {
		f.where.Backend = builtin.AOT
	}
	for _, path := range f.export {
		if !slices.Contains([]string{".json", ".md", ".csv"}, filepath.Ext(path)) {
			return cli.Usagef("--export %s: want a file that ends in .json, .md or .csv", path)
		}
		if filepath.Clean(path) == filepath.Clean(f.out) {
			return cli.Usagef("--export %s: is the results file, --out", path)
		}
	}
	var err error
	if f.set.Changed("table-columns") {
		if f.columns, err = stats.ParseTableColumns(f.set.Lookup("table-columns").Value.String()); err != nil {
			return cli.Usagef("--table-columns: %w", err)
		}
	}
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

// ofExecution are the flags that say nothing of the sweep.
var ofExecution = []string{"out", "resume", "list", "dry-run", "table-columns", "export", "trace", "bundle"}

// recall returns the flags that f.resume goes on with: if none but those of an execution and its
// time budget were given, the ones that the results file was begun with, and its sweep.
func (f *flags) recall(args []string) (*flags, error) {
	own := true
	f.set.Visit(func(flag *pflag.Flag) {
		own = own && (slices.Contains(ofExecution, flag.Name) || flag.Name == "time-budget")
	})
	if !f.resume || !own {
		return f, nil
	}
	r, ok, err := sweepflag.ReadRecord(f.out)
	if err != nil {
		return nil, cli.Usagef("--resume: %w", err)
	}
	if _, err := os.Stat(f.out); errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Usagef("--resume: %s is not there; give the flags of a sweep to begin it", f.out)
	}
	if !ok {
		return f, nil
	}
	g, err := parseFlags(slices.Concat(r.Args, args))
	if err != nil {
		return nil, err
	}
	g.recalled = &r
	return g, nil
}

// text is that of the sweep, and the name of its file.
func (f *flags) text() (text []byte, file string, err error) {
	if f.recalled != nil {
		return []byte(f.recalled.Text), f.recalled.Config, nil
	}
	return sweepflag.Text(f.set)
}

// sweep reads the sweep and replaces in it what flags say.
func (f *flags) sweep() (harness.Config, error) {
	text, file, err := f.text()
	if err != nil {
		return harness.Config{}, err
	}
	f.record = sweepflag.Record{Args: sweepflag.Args(f.set, ofExecution...), Config: file, Text: string(text)}
	c, err := sweepflag.Parse(f.set, text, file)
	if f.set.Changed("threads") {
		c.Threads = f.threads
	}
	return c, err
}
