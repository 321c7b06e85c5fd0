package peers

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strconv"

	"matladder/backend/foreign/process"
	"matladder/cmd/internal/sweepflag"
	"matladder/internal/cli"

	"github.com/spf13/pflag"
)

// flags are the command line; those of the sweep are read by package sweepflag.
type flags struct {
	set *pflag.FlagSet

	peers, threads, paths, report []string
	out, tuned                    string
	list, resume, accumulators    bool
	counts                        []int // of threads; 0 for one a core
}

// xla is the peer that is a backend already.
const xla = "xla"

// noTable is the value of --tuned that leaves kernels to their own candidates.
const noTable = "none"

// known lists the peers.
func known() []string { return append(process.Names(), xla) }

//go:embed manual.txt
var manual string

// parseFlags reads args.
func parseFlags(args []string) (*flags, error) {
	f := &flags{set: cli.NewFlags("peers")}
	s := f.set
	sweepflag.Define(s, "peers", "kernel", "dtype", "sizes", "blocks")
	s.StringSliceVar(&f.peers, "peers", known(), "`PEERS` to compare with, joined by commas")
	cli.Offer(s, "peers", known())
	s.StringVar(&f.tuned, "tuned", "", "`none` ignores the block shapes tuned for this machine")
	cli.Group(s, "WHAT TO MEASURE")
	s.StringArrayVar(&f.paths, "path", nil, "`FOLDER` to look for libraries in; may be repeated")
	s.StringSliceVar(&f.threads, "threads", []string{"0"}, "numbers of `THREADS`, joined by commas; 0 for one a core")
	s.Duration("time-budget", 0, "wall `TIME` of the whole execution, such as 10m; 0 for no limit")
	s.Int64("seed", 0, "`SEED` of inputs and orders")
	cli.Group(s, "HOW TO MEASURE")
	s.StringVar(&f.out, "out", "", "results `FILE`; out/<run>.csv if not given")
	s.BoolVar(&f.resume, "resume", false, "resume the sweep of the results file --out")
	cli.Group(s, "RESULTS")
	s.BoolVar(&f.list, "list", false, "print which peers there are, and how to install the others")
	s.BoolVar(&f.accumulators, "accumulators", false, "print how each kernel and peer adds its products, as bench does")
	s.StringArrayVar(&f.report, "report", nil, "compare what is in a results `FILE`; may be repeated")
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
	case f.tuned != "" && f.tuned != noTable:
		return cli.Usagef("--tuned %s: only none is a choice here", f.tuned)
	case f.accumulators && f.out != "":
		return cli.Usagef("--accumulators prints a table and measures nothing: leave --out out")
	}
	var other string
	f.set.Visit(func(flag *pflag.Flag) {
		if flag.Name != "report" {
			other = flag.Name
		}
	})
	if len(f.report) > 0 && other != "" {
		return cli.Usagef("--%s is for measuring, and --report shows what was measured", other)
	}
	for _, folder := range f.paths {
		info, err := os.Stat(folder)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", folder)
		}
		if err != nil {
			return cli.Input("path", err)
		}
	}
	if err := cli.Listed("peers", "peer", f.peers, known()); err != nil {
		return err
	}
	for i, name := range f.peers {
		if slices.Contains(f.peers[:i], name) {
			return cli.Usagef("--peers: %s is listed twice", name)
		}
	}
	for _, text := range f.threads {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return cli.Usagef("--threads: %q is no number of threads", text)
		}
		if slices.Contains(f.counts, n) {
			return cli.Usagef("--threads: %d is listed twice", n)
		}
		f.counts = append(f.counts, n)
	}
	return nil
}
