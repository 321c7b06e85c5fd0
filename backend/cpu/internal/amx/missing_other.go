//go:build !(linux && amd64)

package amx

// Emulated says that no instruction of AMX is emulated.
const Emulated = false

// Missing says that other systems are not asked for permission.
func Missing() []string { return []string{"linux on amd64"} }
