package gemm

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// interruptThreads sends every thread of the process the signal that the
// runtime preempts goroutines with, and returns how many it reached.
func interruptThreads() int {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	n := 0
	for _, entry := range threads {
		if id, err := strconv.Atoi(entry.Name()); err == nil && unix.Tgkill(os.Getpid(), id, syscall.SIGURG) == nil {
			n++
		}
	}
	return n
}

// involuntarySwitches is how often the system took a processor from a thread.
func involuntarySwitches() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Nivcsw
}
