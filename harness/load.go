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

// Load reads a sweep: the file called name if that ends in .yaml or .yml, or else
// one that comes with matladder.
func Load(name string) (Config, error) {
	text, file, err := readSweep(name)
	if err != nil {
		return Config{}, &ConfigError{Msg: err.Error()}
	}
	return Parse(file, text)
}

func readSweep(name string) (text []byte, file string, err error) {
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
