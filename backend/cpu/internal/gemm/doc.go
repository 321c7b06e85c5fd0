// Package gemm multiplies packed blocks of matrices on one core: it is the
// inner part of the CPU backend, below threads, grids and caches of blocks.
//
// The way of one block product c = a·b, or c += a·b:
//
//  1. For(isa) gives the Kernels of an instruction set; a Path of it belongs to
//     one element type and holds the shape MR×NR of its register tile.
//  2. PackA lays a (m×k) out in panels of MR rows, PackB lays b (k×n) out in
//     panels of NR columns, both zero-padded, so that the micro-kernel reads
//     memory forward only. Narrow floats are widened here, unless pairs or
//     tiles of them multiply faster, which is measured once in a process.
//  3. Block walks the panels in pieces that fit the caches and calls the
//     micro-kernel, which keeps one tile of c in registers over a run of k.
//     BlockDirect does so with a b that is not packed, for a of few rows, and
//     an InPlace with one of elements narrower than are multiplied, int4 and
//     float8, which it widens in registers.
//     Multiply does so on tiles with an a that is not packed, and writes c past
//     the caches or, as MultiplyNarrow, rounded to bfloat16: tiles multiply so
//     fast that each pass over c would show (block_tiles.go).
//
// AMX, tile registers of 16 rows, is used only after small products on it were
// the same as those in Go. Where they are not, or where the operating system
// refuses, ISA.Missing says so and AVX512 is the best there is.
//
// Every micro-kernel in assembly has a twin in Go with the same signature;
// the twins are what other machines run and what tests compare with. The
// assembly is written by asmgen:
//
//	go test ./backend/cpu/internal/gemm/asmgen -generate
//
// The package starts no goroutine, keeps no state between calls but what it
// measured and proved, and never looks at the name of a processor, only at its
// feature bits. Lengths that do not fit the extents are a bug of the caller and
// panic.
package gemm
