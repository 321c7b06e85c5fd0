// Package interp says what a tile program means: the grid as nested loops, each operation as its
// definition. It is slow and obvious on purpose, and it is what every backend is compared with.
//
//  1. Run binds arrays to programs by name and turns every element into a
//     float64, which holds each value of each dtype exactly.
//  2. For each program of the grid, in row-major order or with the parallel
//     programs shuffled, index maps choose the blocks (run.go, view.go).
//  3. Each statement evaluates its expression as a tree of whole blocks
//     (eval.go) and writes the result (write.go).
//  4. After the last program every output element must have been written.
//
// # Values
//
// Floats are computed in float64 and rounded where the program rounds: by Cast, by a constant of
// a dtype, and by Fill, Store and Accumulate, since memory has a dtype. Between those a float32
// or bfloat16 expression keeps its float64 value, so the interpreter is at least as exact as any
// backend. Integers are exact and wrap in their dtype, as two's complement hardware does; Dot of
// integers wraps in int32. An expression is evaluated by the statement that uses it, on what
// memory holds then.
//
// # States
//
// Every element carries a state beside its value: good, padding along some
// dimension (it came from the overhang of a block), or poison (memory that was
// never written). States travel through the program:
//
//   - elementwise operations unite the states of their operands, but Select
//     takes the side it chose, and And or Or are known from one good operand
//     where that decides;
//   - Dot leaves out the products where an operand is padding along the
//     contraction: that is the zero mask;
//   - a row reduction over padding is padding of no dimension, which no mask
//     takes away again; so is padding that is broadcast along its dimension;
//   - InBounds is always good.
//
// Padding and poison are NaN in floats and the lowest value in integers. Neither
// is an error until it is stored inside an output array.
//
// # Refusals
//
// What Verify cannot know is checked here and returned as a *tile.Error with the line of the
// kernel: an element stored from padding or poison, an index out of range, an output block that two
// parallel programs visit or that one program leaves and visits again, an output element never
// written. Scratch is poisoned where a parallel program starts, since another worker may run it.
//
// # Copies
//
// RunMesh runs all devices of a mesh in turns: each goes on until it waits for another.
// Copies happen as late as they are waited for or, if asked, as early as they are started,
// and their accesses and waits are told to the detector of races that Verify uses
// (tile.Flight), here with the values of tables and to the end of the grid.
//
// What the package does not do: verify programs (those of a tile.Builder are
// verified), tell time, or hurry.
package interp
