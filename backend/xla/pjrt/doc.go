// Package pjrt runs on any PJRT plugin: a TPU through libtpu, an NVIDIA GPU
// through the CUDA plugin, or this machine's CPU through XLA's own.
//
//  1. Open loads a plugin, makes a client and chooses a device, which is looked
//     up in the chip table.
//  2. Solve compiles XLA's own matmul. Compile compiles tile programs: on a TPU
//     as the kernels that they are (package lower/mosaic), elsewhere as what they
//     mean (package lower/stablehlo), which is slow, for comparing results and not
//     for plots.
//     A product that is asked for on a mesh (backend.ProblemSpec.Mesh) is spread over
//     devices of the plugin by Shardy (sharded.go), and timed by wall. Any program that
//     package lower/stablehlo spreads runs so; tests run tokens to experts and back.
//  3. Fill has the inputs made in the device's memory where that is the host's, else beside
//     it and then taken across.
//  4. Run times launches by one of the methods below; Outputs shows what the last of them
//     left.
//
// The methods, of Options.Method or a compilation's parameter method:
//
//   - loop: one call of a program that launches n times on the device, the
//     launches held apart and in place by optimization barriers. A caller that
//     times two or more n has the time of a launch as the slope, and that of
//     starting a program as the intercept.
//   - chain: n calls of a program that launches once, started one after another,
//     each on what the one before returned, and one wait at the end: the longer of
//     a launch and its start. At most 256 are on their way at a time, with results
//     of at most 1 GiB.
//   - wall: n calls of a program that launches once, each waited for.
//
// On some processors XLA's CPU plugin packs B once where it is an argument of the program,
// and keeps it for the calls that follow. By chain and wall a launch then does not pack B;
// by loop it does. New inputs have the program recompiled.
//
// On a TPU a loop has a trap: what it carries may come to stay in the memory next to the core, so
// that launches after the first do not read it from HBM. Its compiler is asked not to do that,
// unless the parameter operands is any; where a program has its operands is read from what the
// compiler made of it and stands in each sample.
//
// On a GPU the trap is the L2 cache, in which launches would find what the last ones
// left. By any method they take sets of arrays in turn, alike in what they hold, so many
// that the cache does not keep a set until its turn comes again; the sample says
// hbm. With operands=any, and where arrays are so small that it would take more than 64
// sets, there is one set, and the sample says l2. Outputs shows every set.
//
// The binding waits for each call, passes no options to the compiler and does not
// hand out what that made. It takes a plugin as a table of functions, though, and
// gets one in which three are ours and call the plugin's (table.go).
//
// A plugin may print, hang, abort or read its environment, so that this package
// is meant to run in a worker (package worker): Opener is what that needs.
//
// What the package does not do: install plugins, or write kernels for a GPU. It
// needs cgo and Linux; elsewhere Open says so.
package pjrt
