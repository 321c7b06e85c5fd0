//go:build !linux || !cgo

package pjrt

import (
	"errors"
	"runtime"
)

// Available says what is missing.
func Available() error {
	if runtime.GOOS != "linux" {
		return errors.New("pjrt: plugins run on Linux only, this is " + runtime.GOOS)
	}
	return errors.New("pjrt: this program was built without a C compiler, which PJRT plugins need: install gcc and build again (CGO_ENABLED=1)")
}

// Open says what is missing.
func Open(o Options) (Backend, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return nil, Available()
}
