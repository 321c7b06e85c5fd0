// Package asmgen writes the assembly of package gemm, the loops of package probe, and
// those of packages rows, vexp and widen: one function a routine, in Go that reads as the
// routine's algorithm.
//
//	asm.go        a file being written: functions, labels, instructions
//	encode.go     instructions that Go's assembler lacks, as bytes
//	vector.go     what an instruction set is called: registers and mnemonics
//	tile.go       the micro-kernel
//	column.go     the micro-kernel for many panels of a
//	rows.go       the micro-kernel on an a that is not packed
//	parts.go      sums in parts, for tiles that have few
//	edge.go       the micro-kernel for few columns, along the rows of a
//	direct.go     the micro-kernel on a b that is not packed: it goes down its rows
//	strided.go    the micro-kernel on both operands where they lie
//	groups.go     the micro-kernel of groups of k that have scales
//	gemv.go       rows of a, each along memory, by few columns of b; or rows of b by few rows of a
//	stream.go     one row of a by eight rows of b, which are read from end to end
//	bias.go       the column sums that unsigned products need
//	pack.go       packing of rows that run along a panel, and masks
//	transpose.go  packing of rows that run across a panel
//	peak.go       the loops that package probe measures peaks with
//	files.go      which routines stand in which file
//	stubs.go      their declarations in Go
//
// Of NEON, on arm64:
//
//	neon.go        the micro-kernel, and the loops of package probe
//
// Of a b of narrower elements, which is read along its rows:
//
//	inplace.go         the micro-kernel
//	inplace_widen.go   how it widens elements in registers
//	inplace_bytes.go   one that multiplies bytes instead
//	inplace_nibbles.go one of four bits whose rows share scales
//	inplace_panels.go  packing of what is widened
//
// Of tiles:
//
//	strip.go       where the fields of a kernel's argument lie
//	tiles.go       the micro-kernel
//	copying.go     how sums come to c: as they are, rounded or scaled
//	pack_tiles.go  packing of rows of bytes as rows of tiles
//
// Of loops over elements, whose instructions are those of the packages that call them:
//
//	loops.go           instructions for several registers, loops, constants
//	loops_rows.go      arithmetic and rounding to bfloat16, of package rows
//	loops_extremes.go  the largest and the least
//	loops_quantize.go  rounding to int8
//	loops_vexp.go      exponentials and sums
//	loops_widen.go     int4, int8 and float8 to wider numbers
//
// A file that stays by hand says why at its beginning.
//
// The test of the package regenerates every file and compares it byte for
// byte with what is checked in; with -generate it writes them instead:
//
//	go test ./tools/asmgen -generate
//
// What routines do is told in package gemm, at the types of the variables through which
// they are called: each equals a loop there. Go vet compares their arguments with what the
// assembly reads.
package asmgen
