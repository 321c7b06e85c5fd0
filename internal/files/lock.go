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

// lockPoll is between two looks at a lock that another process holds. What is done
// under one takes milliseconds.
const lockPoll = 5 * time.Millisecond

// Lock waits until no other process has the file path to itself, and has it for this
// one until unlock, or until the process dies. The file need not exist and may be
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
				// Before it is given back: who waits then sees that its file is not
				// there any more.
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
		if err == nil { // of a file that was removed
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
