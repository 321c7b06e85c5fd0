//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// apart keeps Ctrl-C from a program: it is the comparison's to deal with, which ends the
// program in the way it knows.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
}
