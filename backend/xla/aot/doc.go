// Package aot compiles programs for a TPU with none at hand: libtpu, a library of
// the Python package index, holds the whole compiler and needs no device for it.
//
//  1. Open starts nothing yet; Compile sends a StableHLO program to a child
//     process (child_linux_amd64.go) that has libtpu loaded, with the environment
//     it needs. A child compiles many programs; several work at a time.
//  2. The child asks libtpu for a topology and compiles for it, through the table
//     of functions that a PJRT plugin exports (api_linux_amd64.go).
//  3. The outcome is a Compiled with what the compiler knows of the program, or an
//     error that says which kind of no it is: backend.TooBigError,
//     backend.ErrUnsupported, *CompileError or *CrashError, each with libtpu's own
//     reason in one line (package backend/internal/libtpu).
//  4. CompileKernels does so for tile programs: it lowers them, asks lower/mosaic
//     whether the generation can run them at all, and compiles what passes.
//     CompileSpread compiles a program with Shardy's annotations for a whole pod, and
//     lists what its devices exchange, and by which algorithm (mesh.go).
//  5. Backend predicts: with Options.Schedules each child dumps the schedule of what
//     it compiles (dump.go); its kernels, added up (part.go), go through the step
//     model of package model (predict.go). Outcomes are kept on disk under a key of
//     all that they depend on (cache.go): cycles and verdicts, never seconds.
//
// A child that hangs is killed at a time limit, one that crashes costs only the compilation it
// was at. Children are this same executable, told by an environment variable: a program that uses
// the package calls Child first thing in main, and in TestMain.
//
// libtpu runs on Linux on amd64, with or without cgo; elsewhere Open says so.
// What the package does not do: run or time anything.
package aot
