package child

import "syscall"

// attributes are a process group of its own, and an end with that of the parent, even
// where the child is stopped or does not read.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
