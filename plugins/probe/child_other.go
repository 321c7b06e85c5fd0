//go:build !(linux && (amd64 || arm64))

package probe

const supported = false

// Child returns: no process here loads plugins.
func Child() {}
