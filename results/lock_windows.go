package results

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// lock holds f for this process until f is closed or the process dies. A lock
// on Windows also stops readers, so it covers one byte far past any file's
// end: plots can be drawn while the sweep runs.
func lock(f *os.File) error {
	place := &windows.Overlapped{OffsetHigh: 1 << 30}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, place)
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrLocked
	case errors.Is(err, windows.ERROR_NOT_SUPPORTED), errors.Is(err, windows.ERROR_INVALID_FUNCTION):
		return nil
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// syncFolder does nothing: a folder cannot be synced here.
func syncFolder(string) error { return nil }
