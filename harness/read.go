package harness

import (
	"path/filepath"

	"matladder/configs"
	"matladder/internal/files"
)

// maxSweep bounds the text of a sweep.
const maxSweep = 1 << 20

// ReadSweep returns the text of a sweep, and the name of its file for messages: of
// the file called name if that ends in .yaml or .yml, which must be a regular one, or
// else of one that comes with matladder.
func ReadSweep(name string) (text []byte, file string, err error) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return configs.Read(name)
	}
	text, err = files.ReadRegular(name, maxSweep)
	return text, name, err
}
