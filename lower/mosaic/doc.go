// Package mosaic writes tile programs as Mosaic, the language in which a kernel
// is given to the compiler of a TPU.
//
//  1. Lower writes each program as one kernel: a function over blocks in VMEM,
//     with a grid, window parameters and one small function per array that says
//     which block a program sees (kernel.go, body.go, expr.go).
//  2. The text is MLIR in generic form, operations of dialect version 11, which
//     every libtpu since 0.0.42 takes for every generation from v4 to v7x.
//  3. Launch wraps the kernels, in order, in StableHLO custom calls named
//     tpu_custom_call (call.go): a program that a PJRT plugin compiles.
//  4. Target.Check says before any compiler runs what it would refuse or, worse,
//     accept: blocks that break the tiling, products that a generation lacks,
//     blocks and scratch that no VMEM holds (tiling.go, text.go).
//
// Scratch that a step stores and reads again is a value in between, and scratch that no other
// step reads is nothing else (held.go).
//
// Copies that a program starts itself become DMAs and their counters semaphores (copy.go);
// inputs that are Buffered are staged by such copies first. Of a program over a mesh the
// text is that of one device: its coordinates come with the launch, ahead of the tables.
//
// Floats are computed in float32 and integers in int32 between the places where the program
// rounds; the operands of a Dot stay as narrow as they are. Where a Dot contracts over the end of
// an array both operands are masked, in the last block only.
//
// What the package does not do: compile or run anything, choose a block shape,
// or know a clock. A program it cannot write is an *UnsupportedError that names
// the operation, the ref and the line of the kernel.
package mosaic
