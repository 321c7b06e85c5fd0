// Package triton writes tile programs as Triton, the language in which a kernel
// is given to XLA's compiler for NVIDIA GPUs.
//
//  1. Lower writes each program as one kernel: a function over pointers. The
//     Parallel axes become program ids, in grouped order (grid.go); Arbitrary
//     axes behind them become loops (loop.go), their first and last steps taken
//     out of the loop where the program names them.
//  2. Scratch lives in registers, carried from step to step; blocks of outputs
//     live in memory, and are read and written where the program does so
//     (memory.go). An accumulator in scratch is therefore what it is in Triton's
//     own matrix product, and one in the output block pays for its traffic.
//  3. A dimension of a Triton block is a power of two. One of another size is
//     computed as the next, of at least 16 elements, and what lies past its end is
//     masked: where it is loaded and stored, contracted over or reduced. A mask is
//     written only where an array or a block ends inside a Triton block.
//     A product whose operands pass through registers takes little of k at a time
//     (pieces.go): what comes from memory is loaded in as many parts.
//  4. Launch wraps the kernels, in order, in StableHLO custom calls named
//     __gpu$xla.gpu.triton (kernel.go): a program that a PJRT plugin compiles.
//  5. Params are what a tuner may choose; Target is what a generation has. What
//     needs more registers or shared memory than there is, is a *TooBigError
//     before any compiler runs (size.go).
//
// Floats are computed in float32 and integers in int32 between the places where the program
// rounds; the operands of a Dot stay as narrow as they are. A Dot of float32 multiplies as TF32
// by default and as float32 at tile.Highest; one of float8 adds in the tensor cores' narrower
// sums by default and in float32 at tile.Highest.
//
// A loop over groups along k, whose sums of float8 or float4 are scaled and added, is one
// tt.dot_scaled on Blackwell (scaled.go). It takes float4 in pairs along k, so b is copied to lie so.
// XLA's Triton (jax-cuda13-pjrt 0.11.2) compiles pairs along n too, rhs_k_pack = false, but widens
// them: on sm_100 to float8, with scales of e4m3 to float16; on sm_120 to bfloat16, float4 beside
// float8 as well. What would be widened, and all on other targets, is decoded by the program.
//
// Addresses are pointers. Tensor descriptors (TMA) compile, but the custom call gives a kernel no
// memory to make them in: jax-cuda13-pjrt 0.11.2 has the address of that memory as 0.
//
// What the package does not do: compile or run anything, choose a block shape,
// or know a clock. A program it cannot write is an *UnsupportedError that names
// the operation, the ref and the line of the kernel.
package triton
