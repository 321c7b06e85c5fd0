// Package stablehlo writes StableHLO text: the language that every PJRT plugin compiles.
//
//  1. Baseline writes the vendor's own matmul: one dot_general, accumulated as
//     the kernels accumulate, with scales, activation and cast around it.
//  2. Interpret writes what tile programs mean: a loop over the grid with
//     dynamic slices of padded arrays, each operation by its definition. It is
//     slow, runs on any plugin, and shares nothing with package tile/interp but
//     the programs: two implementations that check each other.
//  3. Both return a Launch, the function of one launch. Launch.Once makes a
//     module that runs it once; Launch.Loop one that runs it as often as an
//     argument says, so that the time of one launch can be told from the time to
//     start a program; Launch.Chain one that waits for the launch before it.
//  4. Launch.Sharded spreads a product over the devices of a mesh, and Exchanged writes
//     tokens that go to experts and back: both return a Spread, one module for all devices,
//     annotated for XLA's partitioner.
//
// What the package does not do: compile, run or time anything, choose a device, or write a kernel
// in a device's own language. Interpret does not check what only a run can show: a table that
// looks up a block outside its array reads the nearest one inside.
package stablehlo
