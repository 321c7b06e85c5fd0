package tune

import (
	"cmp"
	"time"

	"matladder/backend/registry"
	"matladder/cmd/internal/deviceflag"
	"matladder/cmd/internal/sweepflag"
	"matladder/harness"
	"matladder/internal/cli"

	"github.com/spf13/pflag"
)

// flags is what the command line asks for.
type flags struct {
	set     *pflag.FlagSet
	config  harness.Config
	where   *deviceflag.Flags
	budget  time.Duration
	most    int
	out     string
	again   bool
	list    bool
	imports string

	audit           bool
	csv, page, note string
	rounds          int
	audited         bool // something is in the file csv
}

// auditConfig is the sweep that --audit takes if none is named.
const auditConfig = "heldout"

const manual = `Tune finds the fastest block shape of kernels on this machine or a chip, and keeps it in a table.

SYNOPSIS
  go run ./cmd/tune [flags]
  matladder tune [flags]

EXAMPLES
  Tune v4 and v5 for one problem, print the table with its evidence, and tune for a TPU
  that is predicted. bench then uses the table.

    $ go run ./cmd/tune --sizes 1024 --dtype bfloat16 --time-budget 2m
    $ go run ./cmd/tune --list
    $ go run ./cmd/tune --topology v5e --kernel 5 --sizes 4096 --dtype bfloat16
`

func parseFlags(args []string) (*flags, error) {
	var threads int
	f := &flags{set: cli.NewFlags("tune")}
	s := f.set
	sweepflag.Define(s, "ladder", "family", "kernel", "dtype", "sizes")
	s.BoolVar(&f.again, "again", false, "tune also what is in the table")
	cli.Group(s, "WHAT TO TUNE")
	f.where = deviceflag.Define(s, registry.Measures|registry.Predicts)
	s.IntVar(&threads, "threads", 0, "`THREADS` of the CPU; 0 for one a core")
	cli.Group(s, "WHERE")
	s.DurationVar(&f.budget, "time-budget", 0, "wall `TIME` of the whole execution, such as 5m; 0 for no limit")
	s.IntVar(&f.most, "candidates", 24, "launch `N` block shapes besides the kernel's own")
	cli.Group(s, "HOW TO TUNE")
	s.StringVar(&f.out, "out", "", "`FILE` of the table; configs/tuned/<machine>.yaml if not given")
	s.BoolVar(&f.list, "list", false, "print the table with what fallbacks cost, and stop")
	s.StringVar(&f.imports, "import", "", "compare with the block sizes in `FILE`, and stop")
	cli.Group(s, "THE TABLE")
	s.BoolVar(&f.audit, "audit", false, "compare the tuner with exhaustive search, on one kernel and dtype of each size ("+auditConfig+" if no --config is named), and keep no table")
	s.IntVar(&f.rounds, "rounds", 30, "`N` samples of each block shape of the exhaustive search")
	s.StringVar(&f.csv, "csv", "out/audit.csv", "`FILE` for what was measured")
	s.StringVar(&f.page, "page", "", "put the report between the marks of this `FILE`")
	s.StringVar(&f.note, "note", "", "`TEXT` to put above the report")
	cli.Group(s, "AUDIT OF THE TUNER")
	if err := cli.Parse(s, args, manual); err != nil {
		return f, err
	}
	switch {
	case s.NArg() > 0:
		return f, cli.Misuse(s, "unexpected argument %q: problems are named by --config or --sizes", s.Arg(0))
	case f.budget < 0:
		return f, cli.Usagef("--time-budget %s is negative", f.budget)
	case f.most < 0:
		return f, cli.Usagef("--candidates %d is negative", f.most)
	case threads < 0:
		return f, cli.Usagef("--threads %d is negative", threads)
	case f.list && f.imports != "":
		return f, cli.Usagef("--list and --import: one of them at a time")
	case f.audit && (f.list || f.imports != "" || f.again):
		return f, cli.Usagef("--audit goes with neither --list, --import nor --again")
	case f.audit && f.rounds < 6:
		return f, cli.Usagef("--rounds %d: an interval takes 6", f.rounds)
	}
	for _, name := range []string{"rounds", "csv", "page", "note"} {
		if s.Changed(name) && !f.audit {
			return f, cli.Usagef("--%s is for --audit", name)
		}
	}
	if f.where.Asked() {
		return f, nil
	}
	entry, err := f.where.Entry()
	switch {
	case err != nil:
		return f, err
	case f.audit && entry.Can&registry.Measures == 0:
		return f, cli.Usagef("--audit measures: --backend %s predicts every block shape that it compares", entry.Name)
	}
	if err := f.where.Check(); err != nil {
		return f, err
	}
	if f.audit && !s.Changed("config") {
		s.Lookup("config").Value.Set(auditConfig)
	}
	c, err := sweepflag.Read(s)
	c.Threads = cmp.Or(threads, c.Threads)
	c.AllBlocks, c.Blocks = true, nil
	f.config = c
	return f, err
}
