// Package traverse follows a program through its grid: which block of each array
// every program touches, in order, and what that has cost so far.
//
//  1. Steps walks the grid in program order, one step at a time, with running
//     counters: grid steps, loads, loads skipped because the block index did not
//     change, bytes moved, bytes moved again, fast memory in use. It holds one
//     step and a bit for each block touched, never the grid.
//  2. Sum walks to the end and says what each ref moved.
//  3. Table writes the steps as text or CSV. Record keeps the first steps for
//     WriteJSON, WriteHTML (a player in one file) and other pictures.
//
// # What counts
//
// Blocks move as the pipeline of a TPU moves them: a block is loaded, or stored, where its index
// differs from that of the step before. A block of an output counts at the first step that sees
// it, though a device writes it back when it is left. A scalar table is loaded once, whole, at
// the first step of its program. Only what lies inside the array counts as bytes.
//
// The totals are those of model.Count where that can count, and those of tile/interp always. A
// backend that keeps more than one block of each input (the CPU's, with its cache) loads less,
// and one of several workers may load what they have in common once each.
//
// The package needs no data but the scalar tables that index maps look up. It knows no clock and
// no device, and runs no body: what a block is used for is tile/interp's to tell.
package traverse
