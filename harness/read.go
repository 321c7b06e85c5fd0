package harness

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"matladder/configs"
)

// maxSweep bounds the text of a sweep.
const maxSweep = 1 << 20

// ReadSweep returns the text of a sweep, and the name of its file for messages: of
// the file called name if that ends in .yaml or .yml, or else of one that comes with
// matladder.
func ReadSweep(name string) (text []byte, file string, err error) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return configs.Read(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxSweep+1))
	if err == nil && len(text) > maxSweep {
		err = fmt.Errorf("%s: larger than %d bytes", name, maxSweep)
	}
	return text, name, err
}
