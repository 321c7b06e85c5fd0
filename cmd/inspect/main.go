// Inspect shows what a kernel does before it runs: its tile program, what it
// costs, and which blocks each program of its grid touches.
//
// Usage:
//
//	go run ./cmd/inspect KERNEL [flags]
//
// KERNEL is a number or name: 5, v5, v5_quant. --sizes is one problem, a square
// (1024) or m×k×n (512x1024x2048), --dtype that of operand a (float32 if not
// given), and --blocks bm×bk×bn, for v4 and v5. Without --blocks these take,
// of their candidates that fit the chip's fast memory, the one that moves the
// fewest bytes; the others have one block shape.
//
// # What to show
//
// --as tile, the default, prints the program:
//
//	$ inspect v3 --sizes 300x200x256
//	v3_block
//	  grid (i, j, k) = (3, 2, 2), parallel, parallel, arbitrary
//	…
//
// --as counts says what it costs, and where that stands under the roofline of
// --chip (v5e if not given; any name that package chips knows):
//
//	$ inspect v5 --dtype bfloat16 --sizes 4096 --blocks 512x1024x1024 --as counts
//	…
//	bytes moved       436207616  (436.2 MB)
//	fast memory       10485760  (10.0 MiB of 16.0 MiB on tpu_v5e)
//	intensity         315.1  (FLOPs per byte moved)
//	…
//
// --as steps is a table of the first --steps programs, the blocks they see and
// running counters, and the totals of all. A block that is moved has a + before
// it, one that is moved again an *:
//
//	$ inspect v3 --sizes 256 --as steps --steps 2
//	step  i  j  k        a        b        o      loads    skipped      moved  moved again  fast memory
//	   1  0  0  0  +[0, 0]  +[0, 0]  +[0, 0]          2          0   196.6 kB          0 B    192.0 KiB
//	   2  0  0  1  +[0, 1]  +[1, 0]   [0, 0]          4          0   327.7 kB          0 B    320.0 KiB
//	… 6 steps more
//	…
//
// --as traverse is the same as a picture that moves: --format gif for an
// animation, --format html for a player in one file that needs no network, json
// for the data of the player.
//
//	$ inspect v3 --sizes 512 --as traverse --format html
//	out/traverse_v3_block_512_float32.html
//
// # What a TPU's compiler makes of it
//
// --as mosaic prints the kernel as the text that a TPU's compiler takes, and --as
// stablehlo the program around it. --as schedule compiles that with libtpu (go run
// ./cmd/plugin install tpu), for a chip that need not be there, --topology v5e or
// another generation, and shows where the cycles of a grid step go: compute, copies
// and overhead by the step model, how full each unit is from a step's first bundle
// to its last, and in words what limits the kernel. --format svg is the picture of
// it, csv the figures.
//
//	inspect v5 --dtype bfloat16 --sizes 4096 --blocks 512x1024x1024 --topology v5e --as schedule
//
// # Output
//
// --format text and csv go to standard output unless --out names a file; gif,
// html, json and svg go to a file in out/ unless it does. An existing file is
// replaced.
//
// # Exit status
//
// 0 if all went well, 1 if something could not be counted or written, 2 if the
// command line is wrong, 130 after Ctrl-C.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"matladder/backend/aot"
	"matladder/internal/cli"

	"github.com/spf13/pflag"
)

func main() {
	aot.Child()
	cli.Main(runContext)
}

// run is the program without a way to interrupt it.
func run(args []string, stdout, stderr io.Writer) int {
	return runContext(context.Background(), args, stdout, stderr)
}

func runContext(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, o.usage)
		return cli.OK
	case err != nil:
		fmt.Fprintf(stderr, "inspect: %v (--help lists the flags)\n", err)
		return cli.Usage
	}
	err = o.show(ctx, stdout)
	switch {
	case err == nil:
		return cli.OK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "inspect: interrupted")
		return cli.Interrupted
	}
	fmt.Fprintf(stderr, "inspect: %v\n", err)
	return cli.Failed
}
