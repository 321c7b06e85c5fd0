// Package matladder compiles kernels and runs them on the arrays of a Go program, without
// cgo, at the speed that cmd/bench shows.
//
//	problem, or tile programs of one's own ─► Compile ─► Program ─► Run(out, in…) ─► Close
//
// A Program is of fixed shapes and dtypes; what changes from call to call beyond numbers
// (lengths of sequences, sizes of groups) are int32 inputs. Run computes on slices where
// they lie, and allocates nothing. Any number of goroutines may call Run at once: launches
// that need all cores take turns, small ones run side by side. What is wrong with an
// argument is an *ArgumentError that names it; nothing that a caller passes is a panic.
//
// Weights that are multiplied many times can be packed beforehand: Program.Prepack.
//
// docs/library.md goes on from here; folder examples has programs of a module of its own.
package matladder
