// Package files reads and writes files as a whole: what was read is all there was, and what was
// written is all there or not at all. Locks keep apart processes that write one file.
package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"matladder/internal/deadline"
)

// maxBytes bounds what Read takes in. A device may never end.
const maxBytes = 64 << 20

// Read returns the content of a file, or of a pipe. A folder, and what is longer than
// 64 MiB, is an error; each names the path.
func Read(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, not a file", path)
	}
	return read(path, maxBytes, fmt.Sprintf("%d MiB", maxBytes>>20))
}

// ReadRegular returns the content of a regular file of at most limit bytes. Anything
// else is an error that names the path, and is not opened: a pipe may have nobody at
// its other end, and a device no end.
func ReadRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder, not a file", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return read(path, limit, fmt.Sprintf("%d bytes", limit))
}

// read reads a file of at most limit bytes; the error of a longer one names the limit.
func read(path string, limit int64, told string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is longer than %s", path, told)
	}
	return text, err
}

// Replace makes data the content of the file path, in a folder that exists. A new file
// beside it takes its place, so that no reader ever sees half of it and an error leaves
// what was there; it is on disk when Replace returns. A symbolic link stays one, and its
// target is replaced; permissions stay; a file without permission to write is not replaced.
// What is not a regular file, such as /dev/stdout, is written to directly.
func Replace(path string, data []byte) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	return f.replace(data)
}

// Write is Replace where the folder may have to be made.
func Write(path string, data []byte) error {
	if err := MakeFolder(path); err != nil {
		return err
	}
	return Replace(path, data)
}

// MakeFolder makes the folder of the file path, if it is not there.
func MakeFolder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of %s: %w", path, err)
	}
	return nil
}

// Writable returns the error that Replace would return, as far as that can be told without data.
func Writable(path string) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	f.discard()
	return nil
}

// replacement is an open file that is to take the place of the file path, or that itself (direct).
type replacement struct {
	path   string // as it was named
	target string // where its links lead
	*os.File
	direct bool // the file is path itself, which is not regular
}

func open(path string) (*replacement, error) {
	r := &replacement{path: path, target: resolve(path)}
	mode := fs.FileMode(0o666)
	info, err := os.Stat(r.target)
	switch {
	case err == nil && info.IsDir():
		return nil, r.fail(errors.New("it is a folder"))
	case err == nil:
		r.direct = !info.Mode().IsRegular()
		mode = info.Mode().Perm()
		if r.File, err = os.OpenFile(r.target, os.O_WRONLY, 0); err != nil {
			return nil, r.fail(err)
		}
		if r.direct {
			return r, nil
		}
		r.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, r.fail(err)
	}
	name := fmt.Sprintf(".%s.%x", filepath.Base(r.target), rand.Uint64())
	r.File, err = os.OpenFile(filepath.Join(filepath.Dir(r.target), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, r.fail(err)
	}
	if info != nil {
		err = r.Chmod(mode) // whatever the mask of new files
	}
	if err != nil {
		r.discard()
		return nil, r.fail(err)
	}
	return r, nil
}

// resolve is where the links of a path lead, or path if that is nowhere.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// replace writes data and puts the file in place.
func (r *replacement) replace(data []byte) error {
	_, err := r.Write(data)
	if err == nil && !r.direct {
		err = r.Sync()
	}
	err = cmp.Or(err, r.Close())
	if err == nil && !r.direct {
		err = os.Rename(r.Name(), r.target)
	}
	if err != nil {
		r.discard()
		return r.fail(err)
	}
	if r.direct {
		return nil
	}
	return SyncFolder(filepath.Dir(r.target))
}

// discard gives the replacement up.
func (r *replacement) discard() {
	r.Close()
	if !r.direct {
		os.Remove(r.Name())
	}
}

func (r *replacement) fail(err error) error { return fail(r.path, err) }

// fail says what could not be written, by the name that the caller knows.
func fail(path string, err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		err = e.Err
	case *os.LinkError:
		err = e.Err
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}

// Until returns a reader of r that ends with the error of ctx once that has one: what
// reads a file of any length looks at its context at each piece of it.
func Until(ctx context.Context, r io.Reader) io.Reader { return until{ctx, r} }

type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

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
		if err := deadline.Sleep(ctx, lockPoll); err != nil {
			return nil, err
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
