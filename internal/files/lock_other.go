//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package files

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// TryLock refuses: this system has no lock that dies with its holder, and two programs that
// write one file would spoil it in silence.
func TryLock(*os.File) error {
	return fmt.Errorf("lock: %w: %s has no locks of files that end with a program", errors.ErrUnsupported, runtime.GOOS)
}

// SyncFolder does nothing here.
func SyncFolder(string) error { return nil }
