// Package gemm multiplies blocks of matrices on one core: it is the inner part of
// the CPU backend, below threads, grids and caches of blocks.
//
// The way of one block product c = a·b, or c += a·b:
//
//  1. For(isa) gives the Kernels of an instruction set (isa.go, table.go); MicroKernels of
//     it belongs to one element type and holds the shape MR×NR of its register tile
//     (kernels.go).
//  2. PackA lays a (m×k) out in panels of MR rows, PackB lays b (k×n) out in
//     panels of NR columns, both zero-padded, so that the micro-kernel reads
//     memory forward only (package pack). Narrow floats are widened here,
//     unless pairs or tiles of them multiply faster, which is measured once in a
//     process.
//  3. Block, or Multiply, which is told more (run.go), walks the panels in pieces that
//     fit the caches (block.go, blocking.go) and calls the micro-kernel, which keeps one tile
//     of c in registers over a run of k (tile.go), one tile after another below it
//     (also tile.go). The last columns of c, where they are few, may have a routine of
//     their own (edge.go), also for rows of a as they lie (gemv.go).
//  4. Where packing a would show, Multiply takes rows of it as they lie, if words in
//     memory are those of panels, as float32 and four bytes of int8 are (rows.go).
//
// VNNI multiplies unsigned bytes by signed ones. So packing stores int8 of b as b+128, tiles that
// read b unpacked add the 128 in registers, and the sums of a row of a start from -128 times
// its own sum (bias.go). Streams widen to int16 and need neither.
//
// For an a of few rows, or a b of few columns, packing all of b would take longer than
// multiplying. Then b is read where it lies, and so is a if words in memory are those of panels:
//
//   - MultiplyDirect takes a b of elements as they are multiplied, in a way that
//     MicroKernels.Read chooses by the rows of a (direct.go). Streams go along eight rows of b
//     at a time, for one row of a after another (stream.go). Register tiles go down
//     the rows of b: the fewer rows of a there are, the more columns a tile has. Pieces of b are
//     packed into L2, one at a time, where tiles would go down the same rows too often (pieces.go).
//   - MultiplyStrips takes a b that was packed ahead without widening it: panels of elements as they
//     lie in memory, of which the same tiles read half the bytes (strips.go).
//   - MultiplyColumns takes a b of few columns and an a as it lies, of any float or int8: each
//     element of c is the sum of the products along a row of a and a copied column of b, or of
//     shallow float32 a lane of its row (gemv.go).
//   - MultiplyDots takes a b whose columns are rows of memory, as K of attention is: each
//     element of c is the sum of the products along two rows (dots.go).
//   - An InPlace takes a b of elements narrower than are multiplied (int4, int8,
//     float8) and widens them in registers (inplace.go), or for more rows of a
//     to pieces that are packed as they are widened. Four bits whose groups along k
//     have scales are read so on AVX-512: each group's sums are scaled.
//
// Packed int8 whose groups along k have scales are the product of Groups (groups.go).
//
// AMX has tile registers of 16 rows, which multiply so fast that each pass over c would show
// (tiles.go). So Multiply reads an a that is not packed there too, keeps sums between runs of k
// apart from c, and writes c once (block_tiles.go): by non-temporal stores, rounded to bfloat16 or
// scaled (MultiplyWhole). AMX is used only after small products on it were the same as those in Go
// (tiles_proof_amd64.go). Where they are not, or where the operating system refuses, ISA.Missing
// says so and AVX512 is the best there is.
//
// Every micro-kernel in assembly has a twin in Go with the same signature, and every packing one of
// the same panels, which tests compare with. Those of float32 and of pairs are what other machines
// run, and those of tiles what AMX is proved by (tile_generic.go, pack, tiles_generic.go); the rest
// are with the tests (twins_test.go). Tiles that read b where it lies (direct.go, inplace.go) are
// compared with the twin of a tile on a b packed in Go. The assembly is written by asmgen:
//
//	go test ./tools/asmgen -generate
//
// On arm64 a tile of NEON multiplies float32, bfloat16 widened to it, and bytes where the processor
// has their product (tile_arm64.go). Packing there is in Go, and B is always packed.
//
// Routines and Code (routines.go) are for those who want to see a micro-kernel: its name and machine code.
//
// The package starts no goroutine, keeps no state between calls but what it
// proved, and memory to work in, and never looks at the name of a processor, only
// at its feature bits, and at the sizes of caches that For hands to its tables. Lengths that do not fit the extents are a bug of
// the caller and panic.
package gemm
