// Package cpu runs tile programs on the cores of this machine, without cgo:
//
//	tile.Program ─► internal/passes ─► internal/plan ─► internal/exec ─► internal/gemm
//
// # The way of a product
//
// Take C = A·B as package kernels writes it: a grid of programs, each of which adds the
// product of a block of A and a block of B to a block of C.
//
// Compile hands the program to the passes, which run in this order, one file each:
//
//  1. verify, canonicalize: the program makes sense; what cannot be computed piece by piece
//     goes by way of scratch. matrices: the block of each array is a matrix in memory.
//     match: statements become steps; loops are written out, but one over groups of k that
//     have scales is one product where packing or a micro-kernel takes the scales in.
//  2. fuse: zeroing goes into the accumulation behind it, so that the micro-kernel stores
//     instead of adding; a product goes into the expression that alone reads it (an
//     epilogue); values of the same rows are computed in one loop over rows.
//  3. layout: a micro-kernel for the dtypes and this instruction set, and the panels that it
//     wants A and B packed into. strategy: how B is read (packed as a whole, packed in
//     pieces, or in place by register tiles, along its rows, as a GEMV does, or along its
//     columns where those are rows of memory). Each way costs what its micro-kernel was
//     measured to take on this machine; the cheapest wins.
//     skinny and rows: B, when A has few rows, and an A whose rows register tiles load
//     well, are not packed. writes: the micro-kernel rounds, scales and adds a bias as it
//     writes an output once, by non-temporal stores if L2 would not hold it.
//  4. epilogue (internal/epilogue): all other arithmetic is compiled to chains of operations
//     that rows go through in registers (chain.go), and to loops for what those lack.
//  5. placement: which packed blocks are kept, and where: in a cache for all workers, with
//     one worker, or nowhere. Workers share the packed blocks of B unless each packs them for
//     itself in less time, by what it was measured to cost cores to share. schedule: the grid
//     becomes tasks for workers; axes that carry a sum run in order inside one task. buffers:
//     how much is computed at once, and the place of all memory but the arrays.
//
// What comes out is a plan. It prints itself, each pass telling what it decided and, where B
// could be read in other ways, what those were estimated to cost:
// go run ./cmd/inspect v4 --as plan. Nothing changes it afterwards.
//
// internal/exec runs it. A launch deals tasks to a pool of workers, which steal from each other.
// For each program a worker finds its blocks, packs those that changed, and multiplies and
// computes what the steps say. Inside a call, internal/gemm divides m, n and k for the caches
// (m_c, n_c, k_c) around the register tile of the micro-kernel. Packing is part of every launch:
// nothing is kept from one to the next, but for what CompileCall was told is packed beforehand.
// A short launch on the same arrays as those before it makes the same calls without deciding again.
//
// Copies that a program starts itself are carried out where they are started. A program of
// several devices is refused: tile/interp runs it.
//
// The same passes compile every kernel; none is recognized. What no pass understands is refused
// with backend.ErrUnsupported, naming the operation, the array and the line of the kernel.
//
// # Where things are
//
//	backend.go                  Options, Open, Compile
//	device.go, cores.go         what this machine can do: peaks, bandwidth, rates of a core
//	measurements.go             the file that keeps them
//	choices.go                  decisions that --param asks for, and that cmd/tune may try
//	roles.go                    calls, cold caches, and the micro-kernels that a plan calls
//	internal/plan               the plan (plan.go, step.go, operand.go), and how it prints itself
//	internal/passes             a file a pass; passes.go lists them; band.go: what masks hide
//	    skinny.go               the choice of how B is read
//	    placement.go            who keeps what is packed; packsAlone: whether workers share it
//	    product.go, widen.go    micro-kernels and packing for dtypes that passes ask for, and what reads a B that is not packed
//	internal/epilogue           expressions as loops along rows
//	internal/exec               executable.go, call.go; run.go: a launch
//	    replay.go               launches that make the calls of an earlier one
//	    pool.go, queues.go      the worker pool, and the tasks of each worker
//	    worker.go, dot.go       what a worker does for a program, and for a product
//	internal/gemm               micro-kernels
//	    pack                    packing, a package
//	    blocking.go             cache blocking
//	    assembly_*.go           what tools/asmgen writes, as Go calls it
//	    *_avx512_amd64.s        kernels of AVX-512 (tools/asmgen writes them); *_amx_, *_avx2_, *_neon_
//	internal/rows, vexp, widen  loops along rows: arithmetic, exponentials, conversions
//	internal/probe, amx, evict  caches and rates of this machine; AMX; memory out of the caches
//	    sharing.go              the probe of what it costs cores to share
//	internal/timing             what products take of the cores of this machine
//	internal/memory             large pages, regions
//
// Imports go one way: plan ← epilogue ← passes, plan ← exec, gemm ← plan; a test
// (internal/deps) holds that.
//
// # Adding an instruction set
//
// Six places, all below internal: its name and those that it includes (gemm/isa.go), the
// features that it needs (gemm/isa_amd64.go), its paths (gemm/table_amd64.go, table_arm64.go,
// which has its features too), the generator of its routines and their declarations
// (tools/asmgen), the loops of its peak (probe/peak_amd64.go, peak_arm64.go), and how many
// cycles those take that tell whether a machine is as it was (probe/control.go).
package cpu
