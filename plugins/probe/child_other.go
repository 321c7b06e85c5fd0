//go:build !(linux && (amd64 || arm64))

package probe

import "os/exec"

const supported = false

// Child returns: no process here loads plugins.
func Child() {}

func ownGroup(*exec.Cmd) {}
