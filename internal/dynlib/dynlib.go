//go:build (linux || darwin) && (amd64 || arm64)

package dynlib

import (
	"cmp"
	"errors"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// Open loads a library by its path, or by a name that the system looks for. The error is the
// loader's reason, and never empty: the loader keeps it for the thread that asked alone, and a
// goroutine may go on in another.
func Open(path string) (handle uintptr, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err = purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, errors.New(cmp.Or(strings.TrimSpace(err.Error()), path+": the loader refuses it and says no reason"))
	}
	return handle, nil
}
