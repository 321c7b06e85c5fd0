// Package library has anybody's functions measured beside the kernels: in the same rounds,
// on the same inputs, verified in the same way, into the same rows. A Backend of it solves
// problems and does nothing else, as one of package process does.
//
//  1. New takes a Go function, which runs in this process.
//  2. Open takes a function of a shared library, in C or any language that makes one. It
//     runs in a child process (package worker): a function that crashes or hangs costs
//     its point. Nothing is linked, and neither is built with cgo; the program calls Hook's
//     opener first thing in main (package builtin does that for commands).
//  3. harness.Sweep.Compare puts it into a sweep.
//
// A shared library's function has the sizes of the problem family, in its order, and then
// the arrays, inputs first, each row after row:
//
//	void gemm(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o);
//
// Arrays begin at a multiple of 64 bytes and stay where they are until others are loaded; elements
// of inputs are others from call to call (package seeded, Guest). The output
// holds nothing of use when the function is called, and must be whole when it returns. All calls
// come from one thread, so that a pool of threads that the function keeps is found again; the
// environment tells it how many to use (OMP_NUM_THREADS and the like).
package library
