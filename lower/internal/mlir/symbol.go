// Package mlir holds what every MLIR text that this project prints has in common.
package mlir

// Symbol turns a name into one that a module, function or value may have.
func Symbol(name string) string {
	s := []byte(name)
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			s[i] = '_'
		}
	}
	if len(s) == 0 {
		return "_"
	}
	return string(s)
}
