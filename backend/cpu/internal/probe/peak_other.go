//go:build !amd64 && !arm64

package probe

func loops(isa, dtype string) []loop {
	if isa != "generic" {
		return nil
	}
	return genericLoops(dtype)
}
