// Trust tests the verdicts of cmd/compare on this machine: how often they are false, and
// how small a difference they tell, on an idle machine and beside other work.
//
//		go run ./tools/trust                     # every condition: about a quarter of an hour
//		go run ./tools/trust --only idle,all     # some of them
//		go run ./tools/trust --more --time-budget 200s   # a part: sets are added to those of earlier tests
//		go run ./tools/trust --table             # what the last tests of each gave
//		go run ./tools/trust cheats              # functions that cheat, and some that do not: which are refused
//		go run ./tools/trust history             # made repositories: which slowdowns compare finds
//
//	 1. build (build.go) makes programs of this tree: bench twice, and benches of which
//	    one kernel is slower by so much on purpose.
//	 2. A condition (load.go) is other work on the machine, or less of it.
//	 3. measure (chain.go) has all programs take turns, set by set, in an order drawn by lot.
//	 4. judge (judge.go) takes windows of the sets for comparisons of files, and of pairs of
//	    turns, as cmd/compare would, and counts the verdicts.
//
// Windows overlap, and go on from the last set with the first, so that one window more
// costs little: as many as the sets divided by the length of one are independent of each
// other, and the table says how many that is.
// Beside other work that is not of the condition the tests mean nothing.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"matladder/backend/worker"
	"matladder/internal/cli"
)

func main() {
	worker.Hook(openers()) // functions in C run in this program, started once more
	cli.Main("trust", run)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("trust", trust(ctx, args, stdout, stderr), "interrupted; sets that were whole are kept", stdout, stderr)
}

// options say what is tested and how long.
type options struct {
	folder  string
	only    []string
	sets    int
	turn    time.Duration
	budget  time.Duration // of a condition; 0 for none
	more    bool
	sweep   []string
	against []string
}

func trust(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "cheats" {
		return cheats(ctx, args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "history" {
		return histories(ctx, args[1:], stdout, stderr)
	}
	var o options
	f := cli.NewFlags("trust")
	f.StringVar(&o.folder, "folder", filepath.Join("out", "trust"), "`DIR` of programs and of what they measured")
	f.StringSliceVar(&o.only, "only", conditionNames(), "`CONDITIONS` to test")
	f.IntVar(&o.sets, "sets", 60, "`SETS` of turns for each condition")
	f.DurationVar(&o.turn, "turn", 700*time.Millisecond, "`TIME` budget of a turn")
	f.DurationVar(&o.budget, "time-budget", 0, "`TIME` of a condition after which it has no more sets; 0 for all sets")
	f.BoolVar(&o.more, "more", false, "add sets to those of earlier tests instead of beginning anew")
	f.StringSliceVar(&o.against, "against", []string{again.name, slow2.name, slow5.name}, "`PROGRAMS` to hold against the first, as far as a condition has them")
	table := f.Bool("table", false, "measure nothing, and print what the last tests gave")
	build := f.Bool("build", false, "build the programs and stop")
	if err := cli.Parse(f, args, "usage: trust [flags] [-- BENCHFLAGS...]"); err != nil {
		return err
	}
	if err := cli.Listed("only", "condition", o.only, conditionNames()); err != nil {
		return err
	}
	if err := cli.Listed("against", "program", o.against, []string{again.name, slow2.name, slow5.name}); err != nil {
		return err
	}
	o.sweep = []string{"--threads", "2", "--kernel", "1,3", "--sizes", "256,512", "--dtype", "float32"}
	if f.NArg() > 0 {
		o.sweep = f.Args()
	}
	if err := os.MkdirAll(o.folder, 0o755); err != nil {
		return err
	}
	if *table {
		return o.table(ctx, stdout)
	}
	if err := o.build(ctx); err != nil || *build {
		return err
	}
	for _, c := range conditions {
		if !slices.Contains(o.only, c.name) {
			continue
		}
		if err := o.measure(ctx, c, stderr); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintf(stderr, "trust: %s is not tested: %v\n", c.name, err)
		}
	}
	return o.table(ctx, stdout)
}
