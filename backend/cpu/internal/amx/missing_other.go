//go:build !(linux && amd64)

package amx

// Missing says that other systems are not asked for permission.
func Missing() []string { return []string{"linux on amd64"} }
