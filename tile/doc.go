// Package tile is the language every kernel is written in, once: a tile program is plain data
// that says which blocks of which arrays each program of a grid sees, and what it does with them.
//
// The vocabulary is that of Pallas:
//
//  1. A grid is a list of axes, the last one fastest. One point of it is a
//     program, its coordinates the program ids. Along a BoundedAxis as many run as
//     a table says when the grid starts.
//  2. A block spec gives a block shape and an index map: which block of the
//     array a program sees. Index maps are expressions over the axes, never
//     closures, so that they can be printed, checked, counted and lowered. Blocks
//     lie side by side, or begin Every so many elements and overlap.
//  3. The body sees refs (blocks of inputs and outputs, and scratch) and is a
//     list of statements: Fill, Store, StoreRows, Accumulate, When, Loop. Their
//     values are expressions over whole blocks: Dot, elementwise arithmetic,
//     reductions along a dimension, casts, slices.
//     An expression is data, not a value: each statement that uses it evaluates
//     it, at the place of that statement. Its loads see what statements before
//     left in the refs, so after Accumulate(acc, x) the same expression over acc
//     means something else.
//     A program may also move data itself: arrays that are HBM stay in main
//     memory, and Start, Wait and WaitSent are copies of parts of them to scratch
//     and back, or to the same program on another device of a mesh (MeshAxis),
//     counted by Semaphores; devices Signal each other and Await that. Buffered
//     asks for such copies of an input, and Pipelined writes them.
//  4. A Builder collects all that, Verify refuses what would be wrong on a
//     parallel machine, and Program is the result.
//
// Arrays need not be multiples of blocks. A block that overhangs its array is padded when loaded;
// Dot masks padding with zero in both operands where it contracts; a store drops it. PartialTiles
// says where padding may be. A reduction along an overhanging dimension must select with InBounds
// first, or Verify refuses it, as it does a program that would leave padding in an output.
//
// NaN and infinity spread as arithmetic has it, through a factor of zero, too: Select
// alone leaves an element out. All backends spread them as tile/interp does.
//
// What Verify refuses besides is told in verify.go, rule by rule; each message
// begins with the line of the kernel that it is about.
//
// What the package does not do: run anything (tile/interp and the backends do),
// know a clock or a device, or choose a block shape.
package tile
