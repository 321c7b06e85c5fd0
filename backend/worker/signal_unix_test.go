//go:build unix

package worker

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

func abortProcess() { syscall.Kill(os.Getpid(), syscall.SIGABRT); select {} }
func stopProcess()  { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// isRunning reports whether a process is there and no zombie.
func isRunning(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // where there is one
	return err != nil || !strings.Contains(string(status), "State:\tZ")
}
