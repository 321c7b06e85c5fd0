// Package program has StableHLO programs that somebody else wrote measured or predicted
// beside the kernels: in the same rounds, on the same inputs, verified in the same way.
//
//  1. Read takes a file: text, MLIR bytecode, or what jax.export serializes.
//  2. New makes a Backend of its program and of what runs it: a PJRT device (package
//     backend/xla/pjrt), which compiles it, or one that predicts (package backend/xla/aot).
//  3. harness.Sweep.Compare puts it into a sweep.
//
// A program's @main takes the inputs of a problem, in the order of its operands, and returns
// its outputs. Its shapes are part of it: points of other sizes are unsupported. Text becomes
// part of a loop that times launches on the device; bytecode, which only the compiler reads,
// is launched and waited for each time (method wall).
package program
