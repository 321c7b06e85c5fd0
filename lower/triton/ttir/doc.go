// Package ttir reads kernels in Triton's own intermediate form, the .ttir files that
// Triton's compiler leaves in its cache, whoever wrote them.
//
//  1. Parse reads one kernel: its arguments and operations (parse.go).
//  2. Count runs what addresses, masks, conditions and trips depend on, program by
//     program, and counts products and bytes (run.go). Integers are exact; a tensor of
//     them is a sum of one vector a dimension (values.go), which pointer arithmetic of
//     blocks is. What is loaded is not known.
//  3. Module wraps the kernel in a StableHLO program that XLA's compiler for GPUs takes,
//     its numbers written as constants (call.go).
//
// What the package does not do: guess. A loop whose trips depend on loaded data, a
// condition on data round a product or a transfer, calls, branches and block pointers
// are an *UnsupportedError that names the line.
package ttir
