//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock locks f for this process until f is closed or the process dies, or returns
// ErrLocked. Where the file system has no locks it does nothing.
func TryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrLocked
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOLCK):
		return nil
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// SyncFolder makes the names of files in a folder as durable as their content.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return nil // a folder may be writable without being readable
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return fmt.Errorf("%s: sync: %w", path, err)
	}
	return nil
}
