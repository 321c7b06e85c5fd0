//go:build amxemulated

package amx

// Emulated says that instructions of AMX are carried out by command emulate.
const Emulated = true

// Missing finds nothing: this build is for tests under command emulate.
func Missing() []string { return nil }
