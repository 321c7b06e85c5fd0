//go:build amxemulated

package amx

// Emulated says that instructions of AMX are carried out by the test binary emulate.
const Emulated = true

// Missing finds nothing: this build is for tests under the test binary emulate.
func Missing() []string { return nil }
