//go:build aix || solaris

package files

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock locks f for this process until a file of the same name is closed or the process
// dies, or returns ErrLocked.
func TryLock(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return ErrLocked
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// SyncFolder does nothing here.
func SyncFolder(string) error { return nil }
