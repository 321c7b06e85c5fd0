// Peers measures our fastest kernels against the libraries that other people use,
// and writes what it finds as CSV.
//
//	go run ./cmd/peers [flags]
//
// Peers are OpenBLAS, oneDNN, BLIS and MKL for matrix products, PyTorch for attention and
// softmax, as far as they are installed, and XLA on the cores of this machine for all of
// them. All of them and the kernels take turns, round by round, on the same inputs and with
// as many threads; each output is verified as a kernel's is. Flag --list says which
// libraries are found, where, and how to install the others; it measures nothing.
//
// The libraries are called by a small C program, which is compiled when it is
// first needed: peers needs Linux and a C compiler, but no header of a library.
// PyTorch is called by a small Python program and needs no compiler. They run in processes
// of their own, so that a library that crashes costs a row.
//
// # What to measure
//
// A sweep is a YAML file as of cmd/bench: --config peers, the default, has squares,
// --config thin the shapes of decoding, --config scaled products of int8 with
// scales, and --config attention attention. Flags replace what the sweep says.
//
//	--peers openblas,mkl         openblas, onednn, blis, mkl, torch, xla; all of them if not given
//	--path DIR                   a folder to look for libraries in; may be repeated
//	--threads 1,2                numbers of threads, one after the other; one a core if not given
//	--kernel 4,5                 rungs
//	--sizes 512,127x4099x257     squares, or m×k×n
//	--tuned none                 leave out block shapes tuned for this machine: each kernel's first choice
//	--dtype bfloat16,int8        of operand a; int8:per_channel+token has scales
//
// Libraries are looked for in the folders of --path, in LD_LIBRARY_PATH, in an
// active Python or Conda environment, and where systems put them. Of a library
// that is installed more than once, all versions are measured.
//
// An int8 product is also given to a library as uint8 × int8 where it has that:
// the line of variant uint8. MKL has no other. Of products with scales that are
// given (of a whole operand, of rows of a, of columns of b) only oneDNN and XLA are
// asked; what a library lacks is a row with the status unsupported.
//
// # What comes of it
//
// The results file, out/<run>.csv, is one as of cmd/bench: cmd/plot draws it, and
// --kind peers is the picture of it. Behind the ladder, peers prints for each size
// the rate of everybody, and that of our fastest kernel over that of the fastest
// peer, paired by round, with its interval. The same can be had of files at any
// time, file by file under the name of its sweep, and be put between the marks of a page:
//
//	peers --report out/peers.csv --report out/thin.csv --page docs/notebook/peers/epyc_avx2.md
//
// # Exit status
//
// 0 if each point is ok, too_big, unsupported or skipped; 1 if one is wrong,
// impossible, failed, timeout or crashed, if no peer is found, or if the sweep
// could not go on; 2 for a mistake in flags or in a file that they name to be read;
// 130 after Ctrl-C.
package main

import (
	"context"
	"io"

	"matladder/backend/registry/builtin"
	"matladder/internal/cli"
)

func main() {
	builtin.Hook()
	cli.Main("peers", run)
}

// run is the program: results go to stdout, progress and errors to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("peers", peers(ctx, args, stdout, stderr), "", stderr)
}

// peers does what the flags say.
func peers(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseFlags(args, stdout)
	if err != nil {
		return err
	}
	switch {
	case len(f.report) > 0:
		return report(ctx, f.report, f.page, f.note, stdout)
	case f.list:
		return list(ctx, f, stdout)
	}
	return measure(ctx, f, stdout, stderr)
}
