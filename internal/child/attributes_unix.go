//go:build unix && !linux

package child

import "syscall"

// attributes are a process group of its own. The child ends when it reads that its parent is gone.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
