// Bench measures the ladder of matmul kernels and writes what it finds as CSV.
//
//	go run ./cmd/bench [flags]
//
// Without flags it measures the sweep configs/quick.yaml on the cores of this
// machine: five kernels of matmul and XLA's own, 128 to 1024, float32, bfloat16 and
// int8, in about a minute. It shows its progress, ends with the ladder as a table,
// and names the results file, out/<run>.csv. cmd/plot draws it.
//
// # What to measure
//
// A sweep is a YAML file: --config ladder names one that comes with bench (--help
// lists them), --config mine.yaml one of your own, with the keys that go doc ./harness
// Parse lists. Flags replace what the sweep says; they never filter it.
//
//	--family softmax             problems of another family, with --sizes
//	--kernel 1,v4_optblock,5     rungs; 0 is the baseline
//	--sizes 512,512x1024x2048    squares, or m×k×n
//	--dtype bfloat16,int8        of operand a; int8 alone is int8 × int8 → int32
//	--blocks 512x1024x1024       bm×bk×bn, for the rungs that take a choice (v4, v5)
//	--precision default,highest  of float32 products
//
// What sizes, dtypes and blocks are called is the problem family's: rows and cols of a
// softmax (--sizes 4096x1024, or rows=4096:cols=1024).
//
//	--cache cold                 nothing of operands, output and buffers is in the caches
//	                             when a launch begins; each is timed alone
//	--trace FILE                 what each thread does when in one launch of each kernel, for
//	                             ui.perfetto.dev: steps, packing, products, epilogues, waiting
//	--pin                        threads of kernels are bound to cores (Linux)
//	--counters                   cycles, instructions, misses of L2, L3 and the data TLB, where
//	                             the machine lets them be counted (Linux; few virtual machines)
//	--table-columns min,p20,p80  more columns of the table at the end (n, disturbed; with
//	                             --counters cycles, ipc, l2_misses, l3_misses, dtlb_misses)
//
// Cold and warm are different points of a results file, and are not compared; so are
// pinned and not. XLA and peers cannot be cooled, and are not pinned.
//
// Flag --list prints the points and --dry-run what they need; neither measures.
//
//	$ bench --kernel 3,4 --sizes 200,512 --dtype bfloat16 --blocks 128x128x128,256x256x256,512x512x512 --list
//	v3_block     200 bfloat16×bfloat16→bfloat16 blocks 128x128x128
//	v4_optblock  200 bfloat16×bfloat16→bfloat16 blocks 128x128x128
//	v4_optblock  200 bfloat16×bfloat16→bfloat16 blocks 200x200x200
//	v3_block     512 bfloat16×bfloat16→bfloat16 blocks 128x128x128
//	v4_optblock  512 bfloat16×bfloat16→bfloat16 blocks 128x128x128
//	v4_optblock  512 bfloat16×bfloat16→bfloat16 blocks 256x256x256
//	v4_optblock  512 bfloat16×bfloat16→bfloat16 blocks 512x512x512
//
//	$ bench --kernel 5 --sizes 512 --dtype float32 --blocks 64x512x512,64x512x999 --list
//	v5_quant     512 float32×float32→float32 blocks 64x512x512
//
// Where cmd/tune has found the fastest block shape of a rung on this machine, that
// one is measured, compiled with the parameters that were found for it (column params
// of the results); elsewhere all that the rung proposes. --blocks all asks for these
// in any case, and --tuned FILE for another table.
//
//	$ bench --kernel 4 --sizes 64 --dtype int8 --tuned nowhere.yaml --list
//	bench: --tuned: open nowhere.yaml: …
//
// Operands that are more than a dtype are spelled as the dtype of a, xDTYPE where b
// has another, and behind colons an output dtype, a quantization and an epilogue.
// A quantization says which elements of b share a scale (per_tensor, per_channel,
// per_block128), then which of a (tensor, token, token_block; with dynamic_ ahead
// where a comes wide and is quantized inside each launch), and zero points
// (zero_a, zero_b). --config llm has the layers of language models that way,
// --config subchannel those with scales along k, and --config dynamic tells what
// quantizing a inside each launch costs.
//
//	$ bench --kernel 4,5 --sizes 64 --dtype int8:per_channel+token,bfloat16xint8:per_channel+dynamic_token:bias+gelu --blocks 64x64x64 --list
//	v4_optblock  64 int8×int8→bfloat16 per_channel+token unsupported: quantization per_channel+token needs a kernel with an epilogue
//	v5_quant     64 int8×int8→bfloat16 per_channel+token blocks 64x64x64
//	v4_optblock  64 bfloat16×int8→bfloat16 per_channel+dynamic_token bias+gelu unsupported: quantization per_channel+dynamic_token needs a kernel with an epilogue
//	v5_quant     64 bfloat16×int8→bfloat16 per_channel+dynamic_token bias+gelu blocks 64x64x64
//	v5_quant     64 bfloat16×int8→bfloat16 per_channel+dynamic_token bias+gelu fused blocks 64x64x64
//
// What a kernel or the machine cannot do is a row with a status and a reason,
// never a gap:
//
//	$ bench --kernel 1 --sizes 64 --dtype int4,float32 --list
//	v1_naive     64 int4×int4→int32 unsupported: dtype int4 is not supported (float32, bfloat16 and int8 are)
//	v1_naive     64 float32×float32→float32 blocks 64x64x64
//
// # Beside the kernels
//
// A function of a shared library takes turns with the kernels, on the same inputs, and
// has rows of its own: ok, wrong, crashed or timeout, as it is. docs/own.md says how it
// is called.
//
//	--with ./my.so:gemm             void gemm(int64_t m, k, n, const float *a, *b, float *o)
//	--with fast=./my.so:gemm8:int8  under another name, for operands as of --dtype
//
// So does a function of a Python file, on arrays of what the file imports: JAX, PyTorch or
// NumPy. --python names the interpreter, or else MATLADDER_PYTHON does, an active virtual
// environment, or python3. docs/any-kernel.md says more.
//
//	--with kernel.py:matmul         o = matmul(a, b), whatever operands the sweep has
//
// And a StableHLO program, on XLA. Programs and functions of JAX are predicted too.
//
//	--with kernel.mlir              measured with --backend cpu, xla-cpu, tpu or gpu
//	--with kernel.mlir --topology v5e,v6e
//	--with kernel.py:matmul --topology v5e,v6e
//
// # Where
//
// Flag --backend names where kernels run (--backend help lists the names). Those on XLA need a PJRT plugin, which
// cmd/plugin installs, and Linux with a C compiler; each runs in a process of its
// own, so that a plugin that dies costs a row.
//
//	cpu      the cores of this machine; the default
//	xla-cpu  XLA on those cores: the baseline, and kernels as variant interpret
//	tpu      a TPU: the kernels, and XLA's own matmul
//	gpu      an NVIDIA GPU: the kernels, and XLA's own matmul
//	aot      nowhere: libtpu compiles for the TPU of --topology, and its speed is predicted
//	aot-gpu  nowhere: XLA compiles for the GPU of --topology, and its speed is predicted
//
// Variant interpret runs what a kernel means, step by step. It shows that outputs
// agree, and says nothing of speed: no picture shows it.
//
// With --backend cpu the baseline, kernel 0, runs on xla-cpu with as many threads,
// taking turns with the kernels. On a plugin launches are timed by loops inside one
// program, so that the time to start a program is told from that of a launch.
// Flag --param has other ways, and what else a backend can be told (--param help lists
// it for --backend):
//
//	--param isa=avx2         instruction set of backend cpu (generic, avx2, avx512, amx, neon);
//	                         MATLADDER_CPU in the environment says the same
//	--param b=packed         how backend cpu reads b, whatever few rows of a would be
//	                         worth: packed, tiles, streams, pieces, along, dots
//	--param c=past           how its AMX tiles write the output: cached, copied, past
//	--param a=rows           whether its register tiles read rows of a as they lie:
//	                         rows, packed
//	--param k_run=256        elements of k that its register tiles run over, at most
//	--param a_kib=192        KiB of a that stay in L2 meanwhile; inspect --as plan shows
//	                         what all of these make of a kernel, and cmd/tune tries them
//	--param device=1         the second device of a machine with several
//	--param method=wall      one launch at a time, each waited for
//	--param method=chain     one after another, each on what the last one returned
//	--param vmem_limit=64MiB how much fast memory of a TPU a kernel may take, XLA's too
//	--param operands=any     a TPU may keep operands of a loop in fast memory, and
//	                         launches on a GPU find theirs in its L2 cache; by
//	                         default each launch finds them in HBM
//
// In column operands of the results stands where they were. float32 products are
// those of bfloat16 on a TPU at default precision: --precision default,highest
// measures both.
//
//	$ bench --backend tpu --param vmem_limit=64MB
//	bench: --param vmem_limit=64MB: want bytes, or a number of KiB, MiB or GiB, as in 64MiB
//
// # Without a chip
//
//	go run ./cmd/plugin install tpu
//	go run ./cmd/bench --topology v5e   # or v5e,v6e: one after another, into one file
//
// compiles every point for a TPU with none at hand (v4, v5e, v5p, v6e or v7x; of v4
// and v7x one core, as runtimes show them) and predicts the time of one launch from
// the compiler's schedule, as docs/prediction.md tells. A point is one row: mode
// predicted, method aot. What does not fit VMEM or what the chip lacks is told as the
// compiler tells it. Nothing runs, so nothing is verified. The best block shape
// is found as it is measured: every candidate is compiled, the fastest is in the
// table. XLA's own matmul is compiled and predicted in the same way, but more
// roughly: its schedule does not tell which steps move a block, so all are taken to.
//
//	--param vmem_limit=64MiB   of a kernel, and of XLA's own (xla_tpu_scoped_vmem_limit_kib);
//	                           the compiler's default (16 or 32 MiB) if not given, and what
//	                           its blocks need, of v5 and of XLA beside it
//
// Flags of LIBTPU_INIT_ARGS reach the compiler, and column params says so
// (libtpu_flags); that limit among them is refused: it has a parameter.
//
// What the compiler said is kept in matladder/aot in the user's cache folder, or
// where MATLADDER_AOT_CACHE says, under a key of the program, the compiler and the
// chip: the same sweep again takes a second. Times are worked out anew. The time
// budget ends no prediction; the sweep's timeout does.
//
// An execution measures or predicts. To have both in one file, go on with that of the
// other: rows of another device or mode are other points, and stay as they are.
//
//	go run ./cmd/bench --out out/both.csv
//	go run ./cmd/bench --topology v5e --out out/both.csv --resume
//
// # The machine
//
// Peaks and the bandwidth of memory are measured by short probes, the best of several
// spread over some seconds, when bench first runs on a machine. They are kept in
// matladder/CPU_ISA_THREADS.vN.json in the user's cache folder (~/.cache on Linux), with
// their date and the time that the control took beside them: if that takes less than
// 1/1.15 of it later, others had the machine then, and they are measured again. Flag
// --machine prints all that is known of the machine, with its source and age, and
// --probe measures again in any case. The file may be deleted.
//
//	go run ./cmd/bench --machine --probe
//
// # How it measures
//
// All points of one problem take turns, round by round, in an order shuffled from
// --seed. Launches of up to 25 ms are preceded by as many untimed ones, so that
// each finds threads awake and its own data in the caches, whoever had the turn
// before; timed loops on a plugin need none. Where others have the processors, the
// repetitions of all points of a problem become shorter, from 5 ms down to 0.6, and
// what goes ahead stays as long. Each output is verified before its rows
// are written; the check itself is tested first, with injected faults. A point sits
// rounds out once the interval of its median is narrow (2 % to either side). Rounds end
// when all are, after the most that the sweep allows (30), or when the --time-budget is
// spent, which counts the wall time of the whole execution; each problem has a share of
// it, and what is left goes to those with wide intervals. Every point gets one round
// even past it.
//
// In a sweep that says together: true, all products of one size take turns, not
// only the points of one. The last table then compares them with the first of the
// sweep's dtypes, paired by round: how many times as long, with the interval.
//
// A sweep may have layers in place of sizes: what layers of models are made of, of any
// families (--config transformer: Llama 3 8B and Mixtral). Behind the rows' tables then stands
// one of each layer: where its time goes, and how far each part is from its roof.
//
//	$ bench --kernel 3,4 --sizes 96 --dtype float32 --blocks 32x96x96 --time-budget 1ns --out ladder.csv
//	float32 · …
//	  kernel       blocks    size  …  status
//	  v3_block     96×96×96    96  …  ok
//	  v4_optblock  32×96×96    96  …  ok
//	…
//	ladder.csv: 2 rows
//
// To see how a broken kernel is reported, --fault damages each output (zeros,
// sign, tile, gain, nan) before it is verified. Such a sweep fails:
//
//	$ bench --kernel 1 --sizes 96 --dtype int8 --fault gain --out broken.csv
//	int8×int8→int32 · …
//	  kernel    blocks    size  …  status  reason
//	  v1_naive  96×96×96    96  …  wrong   o[…] is …, should be …
//	broken.csv: 1 row
//
// # Stopping and going on
//
// The file is whole after every round. Ctrl-C ends with the table of what exists and
// the command that goes on; so does the same after a crash:
//
//	go run ./cmd/bench --resume --out out/rows.csv
//
// That goes on with the sweep which the file is of: its flags and its text lie beside
// it, in out/rows.csv.sweep, and are those of the last execution that was given any.
// Where that file is lost or of another one, bench refuses and wants the flags again.
// A new --time-budget may stand beside, and with any other flag the sweep is what the
// flags say. A point in whose turn the process ended twice (for want of memory, most
// likely) is a row, crashed, and passed over. If somebody removes, replaces or cuts the
// file meanwhile, bench ends with status 1 and all its rows in out/rows.rescued.csv.
// docs/reliability.md says what else is promised. Without --resume a file that exists
// is refused:
//
//	$ bench --kernel 3,4 --sizes 96 --dtype float32 --out ladder.csv
//	bench: ladder.csv exists: go on with it (--resume) or choose another name
//
//	$ bench --kernel 3,4 --sizes 96,0 --out ladder.csv
//	bench: --sizes: size "0": must be at least 1
//
// # Exit status
//
// 0 if each point is ok, too_big, unsupported or skipped; 1 if one is wrong,
// impossible, failed, timeout or crashed, or the sweep could not go on; 2 for a
// mistake in flags or in a file that they name to be read; 130 after Ctrl-C.
package main

import (
	"context"
	"io"

	"matladder/backend/registry/builtin"
	"matladder/cmd/internal/sweepflag"
	"matladder/internal/cli"
)

func main() {
	builtin.Hook()
	cli.Main("bench", run)
}

// run is the program: results go to stdout, progress and errors to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("bench", sweepflag.Mistake(bench(ctx, args, stdout, stderr)), "", stderr)
}
