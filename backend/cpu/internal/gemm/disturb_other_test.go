//go:build !linux

package gemm

// Other systems are left to what the runtime itself does to threads.
func interruptThreads() int      { return 0 }
func involuntarySwitches() int64 { return 0 }
