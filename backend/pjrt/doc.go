// Package pjrt runs on any PJRT plugin: a TPU through libtpu, an NVIDIA GPU
// through the CUDA plugin, or this machine's CPU through XLA's own.
//
//  1. Open loads a plugin, makes a client and chooses a device, which is looked
//     up in the chip table.
//  2. Baseline compiles XLA's own matmul. Compile compiles what tile programs
//     mean, as StableHLO (package lower/stablehlo): slow, for comparing results
//     and not for plots.
//  3. LoadSeeded makes the inputs: in the device's memory where that is the
//     host's, else beside it and then across.
//  4. Run times launches by one of the methods below; Check verifies what the
//     last of them left.
//
// The methods, of Options.Method or a compilation's parameter method:
//
//   - loop: one call of a program that launches n times on the device, the
//     launches held apart and in place by optimization barriers. A caller that
//     times two or more n has the time of a launch as the slope, and that of
//     starting a program as the intercept.
//   - wall: n calls of a program that launches once, each waited for.
//
// A plugin may print, hang, abort or read its environment, so that this package
// is meant to run in a worker (package worker): Opener is what that needs.
//
// What the package does not do: install plugins, write kernels in a device's own
// language, or queue launches without waiting for each (method chain), which the
// binding has no call for. It needs cgo and Linux; elsewhere Open says so.
package pjrt
