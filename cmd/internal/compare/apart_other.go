//go:build !unix

package compare

import "os/exec"

// apart does nothing: where a process cannot be interrupted, it is killed.
func apart(*exec.Cmd) {}
