// Inspect shows what a kernel does before it runs: its tile program, what it
// costs, and which blocks each program of its grid touches.
//
// Usage:
//
//	go run ./cmd/inspect KERNEL|FILE [flags]
//
// KERNEL is a number or name: 5, v5, v5_quant. --sizes is one problem, a square
// (1024) or m×k×n (512x1024x2048), --dtype that of operand a (float32 if not
// given) or operands as bench spells them (int8:per_channel+token), --variant a
// form of the kernel, and --blocks bm×bk×bn, for v4 and v5. Without --blocks these take,
// of their candidates that fit the chip's fast memory, the one that moves the
// fewest bytes; the others have one block shape. The chip is --chip, v5e if nothing
// is said, and v2 is cut for the programs that it runs at once: 2×2 panels there, others
// on this machine, which --backend cpu names and bench measures.
//
// KERNEL may be a file instead, and what it holds tells its kind. Tile programs that --as json
// wrote, or someone else, are checked as a kernel is, and shown in the same ways; where
// they come from does not matter to a backend.
//
//	$ inspect v3 --sizes 300 --as json --out mine.json
//	mine.json
//
//	$ inspect mine.json --as counts
//	…
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
// --chip (v5e if not given; any name that package machine knows):
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
// --as traverse is the whole launch at once: a map of each array, block by block, with
// the step that touches a block first, and how often blocks are moved:
//
//	$ inspect v3 --sizes 256x128x256 --as traverse
//	a  2×1 blocks, brought in 2 times; the step that is first to move each:
//	  1
//	  3
//	b  1×2 blocks, brought in 4 times, 2 of them again; the step that is first to move each:
//	  1 2
//	o  2×2 blocks, written 4 times; the step that is first to move each:
//	  1 2
//	  3 4
//	4 grid steps, 6 loads and 2 skipped, 4 stores; 655.4 kB moved, 131.1 kB of them again; fast memory 384.0 KiB
//
// As a picture that moves it is a file: --format gif for an animation, --format html for
// a player that needs no network, json for the data of the player.
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
// --as table has one line for each kernel of the launch: time, band, limit, FLOPs, bytes, VMEM,
// and for each of several chips (--topology v5e,v6e) the sum and which is the fastest.
//
// # A program of somebody else's
//
// A file may be a StableHLO program: text, MLIR bytecode, or what jax.export serializes. It
// names no problem, so it is neither run nor verified, but compiled by libtpu and predicted
// kernel by kernel, kernels of Pallas in it included. It can be shown as table (if nothing is
// said), schedule, timeline and counts. What is not understood is said to be unsupported, or
// widens the band with a note. docs/any-kernel.md says what the figures rest on.
//
//	inspect model.mlir --topology v5e,v6e,v5p,v7x
//	inspect model.mlir --topology v6e --as schedule
//
// # A kernel of Triton
//
// A .ttir file, as Triton leaves it in its cache, is compiled by XLA for GPUs (go run
// ./cmd/plugin install cuda) and predicted: time, limit, FLOPs, bytes, shared memory, registers,
// spills. Its grid and its integers are in a JSON file of the same name beside it, which Triton
// writes without these two ({"num_warps": 8, "num_stages": 3, "grid": [512, 1, 1], "args":
// {"M": 4096}}), or in --launch, which goes before. What only a run of the kernel tells, is
// unsupported, with the line.
//
//	inspect matmul_kernel.ttir --topology a100,h100 --launch "grid=512x1x1 M=4096 N=4096 K=4096"
//
// # What a backend makes of it
//
// --as plan prints the plan of the backend that --backend names, cpu if it names none:
// what each pass of its
// compiler decided, in the order of the passes, then the loops around the register
// tile and the memory. --threads is the number of workers, MATLADDER_CPU chooses the
// instruction set, and blocks that are not given are those that fit L2. --param asks
// for another decision than the rule of a pass, as in bench: --param b=packed.
// Nothing runs.
//
//	$ inspect v4 --sizes 1024 --blocks 128x256x256 --threads 2 --as plan
//	v4_optblock 1024 float32×float32→float32, blocks 128x256x256: 1 program in a launch
//	…
//	verify    grid (i, j, k) = (8, 4, 4), parallel, parallel, arbitrary: 128 programs
//	…
//	fuse      the zeroing goes into the accumulation: where k == 0 it stores o, elsewhere it adds
//	…
//	schedule  32 tasks, one for each (i, j), the last fastest; a task is 4 programs along (k), in order
//	          2 workers, each with 16 of them to begin with; who is done takes from the others
//	…
//
// The passes of backend cpu are
//
//	verify    the program makes sense on any machine
//	matrices  blocks of refs as matrices in memory, and what each is used for
//	match     the body, from which the steps are made
//	fuse      fills with zero that the accumulation behind them takes in, products that
//	          go into the value behind them, values that are computed row by row together
//	layout    the micro-kernel of each product: instruction set, register tile, format;
//	          and its operands, packed in panels and in chunks of k
//	skinny    how B is read that few rows of A meet, and what each way to read it was
//	          estimated to take: packed as a whole, or piece by piece, or where it lies
//	rows      whether a is packed: AMX tiles load rows of it where they lie, unless
//	          all of them would fall into one set of the L1 cache
//	writes    outputs that AMX tiles write once: scaled and rounded to bfloat16 as they
//	          are written, and by non-temporal stores if L2 would not hold them
//	epilogue  how values come to their destination: by the micro-kernel itself, fused
//	          behind each piece of a product, or in a pass of their own
//	placement which packed blocks are kept, by whom, and why
//	schedule  tasks and workers; tasks by columns of the grid where no a is packed, so
//	          that each worker packs b for columns of its own
//	buffers   memory besides the arrays
//
// --as asm shows the loop of the micro-kernel in which each product spends its time: how
// many cycles of each port its instructions take, by llvm-mca, where LLVM's tools are
// installed (llvm-mc reads the code as it runs here); without them, as Go's assembler reads
// it. --mcpu is the processor to model: llvm-mca knows those that are as old as itself, and
// what it takes for this one stands in the text. It assumes that all caches hit.
//
//	inspect v4 --sizes 1024 --as asm --mcpu znver4
//
// # What happens when
//
// --as timeline runs one launch on the device at hand and tells how long threads were
// packing, multiplying, in epilogues and waiting; on a machine that others use it shows
// that too. --format svg draws it, thread by thread, json is for ui.perfetto.dev. With
// --topology it is the first grid steps as libtpu's schedule predicts them, unit by unit.
//
//	inspect v3 --sizes 1024 --as timeline --format svg
//	inspect v5 --dtype bfloat16 --sizes 2048 --blocks 512x1024x1024 --topology v5e --as timeline
//
// # Output
//
// --format text and csv go to standard output unless --out names a file; gif,
// html, json and svg go to a file in out/ unless it does, named after what it
// shows, blocks of v4 and v5 included. An existing file is
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

	"matladder/backend/registry/builtin"
	"matladder/internal/cli"

	"github.com/spf13/pflag"
)

func main() {
	builtin.Hook()
	cli.Main("inspect", run)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	defer o.close()
	switch {
	case err == nil && o.where.Asked():
		return cli.Status(o.where.Help(stdout))
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, o.usage)
		return cli.OK
	case err != nil:
		return cli.End("inspect", &cli.UsageError{Err: err}, "interrupted", stderr)
	}
	return cli.End("inspect", o.show(ctx, stdout), "interrupted", stderr)
}
