// Tune finds the block shape that is fastest for a kernel on a problem, and what the
// backend had best decide otherwise than by its rules, and keeps both with their
// evidence in the machine's table. bench then measures that in place of the kernel's
// own candidates (--blocks all brings these back).
//
//	go run ./cmd/tune
//
// tunes the kernels that choose their blocks, v4 and v5, on the problems of
// configs/ladder.yaml; --config, --kernel, --dtype and --sizes ask for others, as
// they do of bench. A tuned problem is written to the table at once, so that what
// ends early is kept, and the same command goes on where it ended. --again tunes
// what is in the table already, rows of other versions first.
//
// # How
//
// Candidates are all block shapes of powers of two and whole dimensions that tile
// the arrays and fit the fast memory. Their counts (FLOPs, bytes moved, grid steps)
// order them. All that the kernel itself proposes, what the table answers as things
// stand (the row of a nearby problem, or with --again its own) and --candidates others
// are timed once, each next to a reference: first those with the best counts, then,
// step by step, the neighbours of the fastest. The fastest race in interleaved rounds,
// in which each that is clearly slower leaves. One that crashes its backend, hangs or
// fails, computes something wrong, or is faster than the machine can be (impossible, as
// in bench) is out of the race, which goes on without it and says so. Rounds in which the machine is slow,
// or a control (a fixed piece of work, see docs/trust.md) takes longer than it did, are
// measured again, which is told.
//
// The winner of the race then meets the fastest of the kernel's own candidates and of
// the table's answer in paired rounds of fresh samples, and is taken only if these show
// it to be faster: the 95 % interval of the paired ratios is above 1. Otherwise what
// would be used without it stays. The row tells which, with the ratio (--list prints
// "confirmed" or "kept"). The output of what is taken is verified.
//
// A backend may decide more than a block shape says, such as how b is read, by rules
// that need not hold on every machine. The block shape then races against itself with
// each other decision that the backend names for it, an adjustment. What is clearly
// slower leaves; the fastest meets the block shape without it in twelve or more paired
// rounds of fresh samples, executables made anew for each, and is taken only if these
// show it to be faster by more than 1 % (the lower end of the 95 % interval) and its
// output is right.
// Others are then tried beside it, up to three in all, numbers that were faster are
// doubled or halved on for as long as that is faster still, and where no adjustment
// alone is faster, pairs of the five fastest are. What the table answers with parameters races
// too. The row has what was taken as params, and bench compiles with it.
//
//	$ tune --kernel 4 --sizes 96 --dtype float32 --out tuned.yaml --threads 1
//	…
//	tuned.yaml: 1 row
//
// --backend names where: cpu if not given, or any other that measures or predicts
// (--backend help).
//
// For a TPU that is predicted nothing runs: --topology v5e (or v4, v5p, v6e, v7x)
// compiles the candidates with libtpu and takes the one that the step model
// predicts to be fastest. Its rows say that they are predicted.
//
// # Time
//
// --time-budget is shared by the problems that have no row; what one does not need goes
// to the others. A problem whose share is not enough for a row that is worth keeping
// gets more, and if so much is not left either it is listed as not done: enough is about
// the time in which what is used as things stand and the 12 block shapes that the counts
// like best are launched, the fastest raced for 3 rounds and the winner confirmed in 6;
// adjustments are tried in time that is left. A row says how many of its candidates were launched and whether the search ended by
// evidence or by budget, also if that left out adjustments only. One that ended by
// budget does not replace one that is better founded, unless its confirmation shows
// the earlier block shape to be slower, or its parameters make it faster than that.
//
// The last line says what is missing. The same command goes on with the problems that
// have no row, and then searches again where the search ended by budget, each with half
// of the time that is left; bench meanwhile takes such a row's block shape, with
// "_by_budget" in its block_source. Other rows stay until --again asks for all, those
// from before adjustments were tried too.
//
// # Tables
//
// A table is configs/tuned/<machine>.yaml, or the file that --out names. --list
// prints it. A row is put into the table as it is by then, and written by replacing the
// file, so that it is whole at any time; only one process does so at a time. Several may
// thus tune into one table, on machines that share a folder: each leaves out what
// another has found by the time it would begin with it, and where two were at one
// problem at once, the row that was there first stays, unless it was ended by the budget
// or is shown to be slower. Rows may be written by hand, and comments stay when the file
// is replaced: those above and behind a row above it, others at the top. A table with
// anything else that this version does not know is refused and left as it is.
//
//	$ tune --list --out tuned.yaml
//	v4_optblock 96x96x96 float32×float32→float32
//	…
//
// A row begins with the block shape, its parameters if it has any, and the seconds of
// a launch with both: the median with its 95 % interval, or the prediction. Below it
// stand
//
//	confirmed or kept   how the choice was made, by paired rounds of fresh samples against
//	                    the fastest of what is used without the tuner, or if the choice is
//	                    that, against the fastest beside it: confirmed if the interval of
//	                    the rival's time over that of the choice is above 1; kept if not. A
//	                    row without either had no rival that was near
//	next                the fastest of the others; below 1 within what noise does
//	key=value: …        how many times as fast as without parameters the row is, with the
//	                    95 % interval, and of how many adjustments they are the best; or
//	                    how many were timed of which none is clearly faster. What stands
//	                    above compares block shapes without
//	candidates          how many of the block shapes that tile the arrays and fit were
//	                    launched, how many of these raced, and what ended the search;
//	                    older rows know only how many raced
//
// and the versions and the date. After the rows --list prints what falling back costs:
// the time of the block shape that the look-up would answer if the problem's own row
// were not there, over that of its own.
//
// --import compares with a table of others, block sizes without evidence: a Python
// file or JSON object in the form of tpu-inference's quantized_matmul.
//
// # Audit
//
// --audit says how good the tuner is. For each size of a sweep, with the kernels and
// dtypes in turn, it runs the tuner as it is, then an exhaustive search of all block
// shapes that the tuner draws its candidates from, and races what both chose, the
// fastest of the kernel's own candidates and the first of them, which is taken where
// nothing is tuned, against each other in interleaved rounds of fresh samples. These are block shapes alone, without adjustments. In the exhaustive
// search each block shape has --rounds samples, in
// heats with one reference, and those that may be the fastest race on. Costs are the
// time of launches, warm-ups included, and wall time.
//
//	go run ./cmd/tune --audit --page docs/notebook/tuned.md
//
// takes the sizes of configs/heldout.yaml, which no other sweep has. --csv names the
// file of its rows, which is written after each problem; --page FILE replaces what
// stands between the lines
//
//	<!-- audit:begin -->
//	<!-- audit:end -->
//
// of FILE by the report, which otherwise goes to standard output. The report ends with
// the time of look-ups in the machine's table, with the rows of the audit in it; no
// table is changed. Under --time-budget the block shapes have fewer samples, at least
// six, or problems are left out.
//
// # Exit status
//
// 0 if all went well or time ran out, 1 if a problem could not be tuned or a file
// not be written, 2 for a mistake in the command or in a file that it names to be
// read, 130 after Ctrl-C.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"matladder/backend/registry/builtin"
	"matladder/cmd/internal/sweepflag"
	"matladder/internal/cli"

	"github.com/spf13/pflag"
)

func main() {
	builtin.Hook()
	cli.Main("tune", run)
}

// run is the program: results go to stdout, progress and errors to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f, err := parseFlags(args)
	switch {
	case err != nil:
	case f.where.Asked():
		err = f.where.Help(stdout)
	case f.audit:
		err = f.runAudit(ctx, stdout, stderr)
	case f.list:
		err = f.show(ctx, stdout)
	case f.imports != "":
		err = f.compare(ctx, stdout)
	default:
		err = f.tune(ctx, stdout, stderr)
	}
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(stdout, f.usage)
	}
	interrupted := "interrupted; the same command goes on"
	switch {
	case f.audit && f.audited:
		interrupted = "interrupted; " + f.csv + " has what was measured"
	case f.audit:
		interrupted = "interrupted before the first problem was audited: nothing to keep"
	}
	return cli.End("tune", sweepflag.Mistake(err), interrupted, stderr)
}
