// Package worker runs a backend in a child process, so that a crash, a hang or
// an environment variable of a plugin stays there.
//
//  1. Hook, called first thing in main or TestMain, turns the process into a
//     worker if it was started as one: the same executable, told by an
//     environment variable.
//  2. Open starts one. Calls go to it, and answers come back, as package
//     internal/child has them; what plugins print is kept only to say why a worker
//     died.
//  3. Package backend/seeded makes inputs from their seed and verifies outputs in the child,
//     beside the device. Arrays cross for Load and Results alone.
//  4. A worker that dies, or does not answer in time and is killed, costs the
//     call it was in: an error that errors.As finds as *backend.CrashError, or
//     that wraps context.DeadlineExceeded. The next call starts another worker,
//     and executables are compiled and loaded there again when they are next
//     run.
//
// A worker ends when its parent does; Ctrl-C is for the parent to handle. What the package does not do: choose a
// backend, retry a call, or share a worker between processes.
package worker
