//go:build !(linux && amd64)

package aot

const supported = false

// Child returns: no process here loads libtpu.
func Child() {}
