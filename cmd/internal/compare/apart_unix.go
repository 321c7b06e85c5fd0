//go:build unix

package compare

import (
	"os/exec"
	"syscall"
)

// apart puts a program into a process group of its own, so that Ctrl-C on the terminal
// reaches compare alone, which then interrupts the group and waits for it.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}
