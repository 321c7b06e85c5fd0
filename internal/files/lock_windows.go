package files

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock locks f for this process until f is closed or the process dies, or returns ErrLocked.
// Where the file system has no locks it does nothing. A lock on Windows also stops readers, so it
// covers one byte far past any file's end: a results file can be read while it grows.
func TryLock(f *os.File) error {
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

// SyncFolder does nothing: a folder cannot be synced here.
func SyncFolder(string) error { return nil }
