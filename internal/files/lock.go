package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// ErrLocked says that another process holds a lock.
var ErrLocked = errors.New("another process holds it")

// lockPoll is how often a lock that another process holds is tried again. It is held for
// milliseconds.
const lockPoll = 5 * time.Millisecond

// Lock waits until no other process holds the lock of the file path, and holds it until
// unlock, or until this process dies. It keeps out those alone that call Lock too. The file need not exist and may be
// replaced meanwhile: the lock is that of a file .<name>.lock beside it, which is there
// only while somebody has or wants it, on Windows for good. An error is ctx's, or says
// that nothing can be written there.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	target := resolve(path)
	beside := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".lock")
	for {
		f, err := os.OpenFile(beside, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, fail(path, err)
		}
		err = TryLock(f)
		switch {
		case err == nil && isAt(f, beside):
			return func() {
				// Removed before the lock is released: a process that has the removed
				// file open then sees so (isAt) and opens another.
				if runtime.GOOS != "windows" {
					os.Remove(beside)
				}
				f.Close()
			}, nil
		case err != nil && !errors.Is(err, ErrLocked):
			f.Close()
			return nil, fail(path, err)
		}
		f.Close()
		if err == nil { // locked, but it has been removed meanwhile: another file has the lock
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// isAt reports whether an open file is still the one at path.
func isAt(f *os.File, path string) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(have, there)
}
