//go:build unix

package compare

import (
	"os"
	"os/exec"
	"syscall"
)

// apart puts a program into a process group of its own, so that Ctrl-C on the terminal
// reaches compare alone, which then interrupts the program and waits for it.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
}
