//go:build !((linux || darwin) && (amd64 || arm64))

package library

import "errors"

// Available returns why functions of shared libraries cannot be called here, or nil.
func Available() error {
	return errors.New("functions of shared libraries are called on Linux and macOS, on amd64 and arm64")
}

func load(Library) (call Call, on func(func()), stop func(), err error) {
	return nil, nil, nil, Available()
}
