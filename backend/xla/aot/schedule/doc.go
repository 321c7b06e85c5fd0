// Package schedule reads what libtpu says of the machine code of one kernel: the
// bundles, one for each cycle that a TensorCore issues, as
// LIBTPU_INIT_ARGS=--xla_jf_dump_to=DIR leaves them in a folder.
//
//  1. Kernels lists the kernels of a dump; Read reads three files of one of them
//     (schedule.go): the bundles, the analysis that counts them, and the use of every
//     kind of slot by every bundle. The three must agree.
//  2. The bundles give the loops (loop.go) and, in the loop over the grid, the
//     regions that a branch may skip (region.go): the body of a grid step, and in
//     it what only some steps do, such as the first or the last of k.
//  3. The same text tells the transfers between HBM and VMEM.
//  4. Steady and Slots add up: cycles of one grid step, and which slots are in use (slots.go).
//
// A line that the package has no use for is skipped; a file that no longer has the
// form it knows is a *FormatError with file and line, never a wrong count.
//
// What it does not do: compile, or turn cycles into time. Bundles are issue slots:
// waiting for a transfer or for the matrix unit is not in them.
package schedule
