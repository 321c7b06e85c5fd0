package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strconv"

	"matladder/plugins/plugintest"
)

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func itoa(n int) string { return strconv.Itoa(n) }

// serve offers content as the wheel, with its right SHA-256.
func serve(content []byte) func(*plugintest.Index, *installer) {
	return func(x *plugintest.Index, _ *installer) { x.Add("xla-cpu-pjrt", cpuFile, content) }
}

// announce makes the index say that the wheel has another SHA-256.
func announce(sum string) plugintest.Faults {
	return plugintest.Faults{Sums: map[string]string{cpuFile: sum}}
}

// flip damages one byte of a file inside a wheel.
func flip(wheel []byte) []byte {
	wheel[len(wheel)/2] ^= 0xFF
	return wheel
}

// failing lets so many bytes be written, then returns err as the system would.
func failing(open func(string, int) (file, error), bytes int, err error) func(string, int) (file, error) {
	return func(path string, flags int) (file, error) {
		f, openErr := open(path, flags)
		if openErr != nil {
			return nil, openErr
		}
		return &failingFile{f, &bytes, err}, nil
	}
}

type failingFile struct {
	file
	left *int
	err  error
}

func (f *failingFile) Write(b []byte) (int, error) {
	if *f.left -= len(b); *f.left < 0 {
		return 0, &fs.PathError{Op: "write", Path: "plugin", Err: f.err}
	}
	return f.file.Write(b)
}
