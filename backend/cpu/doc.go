// Package cpu runs tile programs on the cores of this machine, without cgo:
//
//	tile.Program ─► passes (compile.go) ─► plan ─► workers ─► internal/gemm
//
// The passes, in the order in which they run, which is a good one to read them in:
//
//  1. verify the program, and canonicalize it (canonicalize.go): ends of the grid become
//     conditions, and what steps cannot do at once goes by way of scratch. Each ref's
//     block becomes a matrix of rows in memory (matrices.go); match (match.go) statements
//     into steps: fill, compute, when. Loops are written out (unroll.go).
//  2. fuse (fuse.go) a zeroing fill into the accumulation that follows it, so that
//     the micro-kernel stores instead of adding. A product that scratch only carries
//     to the next statement goes into that one's value (merge.go). Loops over the same
//     rows become one, some rows at a time, so that a row that several values need is
//     read once (abreast.go).
//  3. layout (layout.go): which micro-kernel multiplies (product.go), and how its
//     operands are packed: in panels, and in chunks of which depth. What is stored in
//     fewer bits than it is multiplied in is widened on the way (widen.go): by the
//     micro-kernel in registers, where it can and few rows of A meet it, or else some
//     hundred rows at a time, which stay in L2 until they are packed or multiplied.
//  4. How B is read is a table of strategies (strategy.go): packed as a whole, in place
//     by register tiles, in place along its rows (GEMV), or packed piece by piece. Each
//     costs what its micro-kernel was measured to take on this machine for as many rows of
//     A (gemm.ReadCosts); the cheapest is taken, and the plan tells what the others were
//     estimated at. skinny (skinny.go) carries it out for a block of B that several
//     products meet; a B of narrower elements follows nominal figures there. rows
//     (rows.go) leaves an A unpacked whose rows tiles of AMX load well, or other tiles if
//     few columns of B meet it. writes (writes.go) finds the outputs that AMX tiles write
//     once: they may be scaled, have a bias added (scales.go) and be rounded to bfloat16
//     on the way, and are written by non-temporal stores if L2 would not hold them.
//  5. epilogue (vector.go) compiles everything else of a value into vectors along
//     rows: what is read and written (access.go, codes.go, float8.go), arithmetic
//     (arithmetic.go, piecewise.go), sums and extremes of rows (reduce.go), exponentials
//     (exponentials.go, internal/vexp), scaled and shifted rows (affine.go), masks that are
//     spans of columns (span.go), one number for each row (single.go), columns of such
//     numbers (down.go).
//  6. placement (placement.go): blocks of B are packed once into a cache that all workers
//     use (cache.go), or by each worker for its columns; blocks of A stay with one
//     worker. schedule (schedule.go): parallel axes are split over workers, arbitrary
//     axes run in order inside one of them. Workers go along rows of the grid, each
//     with blocks of A; where no A is packed along columns, each with blocks of B.
//     Steps of which one multiplies what another made, as in attention, go through the
//     rows of their program in strips (strips.go).
//  7. buffers (buffers.go): how much is computed at once, and the place of all memory
//     but the arrays.
//
// Then it runs. Compile (backend.go) makes an executable (executable.go), which has
// the arrays, on large pages (pages_linux.go), and a worker pool (pool.go). A launch
// (run.go) deals tasks out, and workers steal from each other (queues.go). For each grid
// step a worker (worker.go) finds its blocks, packs those whose index changed, and
// executes the steps; dot.go is how it packs and multiplies. Cache blocking, the loops
// around the register tile, and the micro-kernels are package gemm.
//
// The same passes compile every kernel; none is recognized. The plan prints itself, each
// pass telling what it decided (print.go): go run ./cmd/inspect v4 --as plan. Tests hold
// what is printed to what executions are seen to do. Device (device.go) measures the peaks
// and the bandwidth that rates are compared with, and (cores.go) what block shapes are
// ranked by before a program is written: how fast a core multiplies what is packed, packs,
// and fetches from beyond its own cache, and what a launch and a program cost. That takes
// half a second, once; a file in the user's cache directory keeps it (measurements.go).
//
// Other decisions follow rules that were found by measuring on a few machines: how a B of
// narrow elements is read, whether A is packed, how tiles write an output, the cache
// blocking of k and A. Parameters ask for others (choices.go), and Adjustments
// (adjustments.go) lists those that make a difference to a program, for cmd/tune to try.
//
// A new instruction set is six places, all below internal: its name (gemm/isa.go), the
// features that it needs (gemm/isa_amd64.go, isa_arm64.go), its paths (gemm/table_amd64.go,
// table_arm64.go), the generator of its routines (gemm/asmgen), their declarations beside
// the table, and the loops of its peak (probe/peak_amd64.go, peak_arm64.go).
//
// What no pass understands is refused with backend.ErrUnsupported, naming the
// operation, the ref and the line of the kernel. Packing is part of every
// launch: nothing is kept from one launch to the next.
package cpu
