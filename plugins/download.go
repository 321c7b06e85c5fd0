package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stallBytes is what a download must bring in the time that installer.stall says, or
// it is tried again: a server that sends a byte now and then would hold it for ever.
const stallBytes = 256 << 10

// maxWheel is the most bytes that a wheel may have.
const maxWheel = 2 << 30

// download brings f into the folder of partial downloads and returns its path.
// The file is named by its SHA-256, so that what an earlier attempt left there
// is of the same file, whatever index it came from.
func (in *installer) download(ctx context.Context, f indexFile, progress func(done, total int64)) (string, error) {
	path := filepath.Join(in.partial(), f.SHA256+".whl")
	err := in.retry(ctx, func() error { return in.fetch(ctx, f, path, progress) })
	if err != nil {
		return "", err
	}
	sum, err := sumFile(path)
	if err != nil {
		return "", err
	}
	if sum != f.SHA256 {
		os.Remove(path)
		says := "the index says"
		if f.pinned {
			says = "the one known here is"
		}
		return "", fmt.Errorf("%s: its SHA-256 is %s, %s %s: the download is damaged or not what it should be; nothing was installed", f.Name, sum, says, f.SHA256)
	}
	return path, nil
}

// fetch appends to path what is missing of f.
func (in *installer) fetch(ctx context.Context, f indexFile, path string, progress func(done, total int64)) error {
	file, err := in.open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return in.writeError(err, 0)
	}
	defer file.Close()
	have, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return in.writeError(err, 0)
	}
	header := http.Header{}
	if f.Size > 0 && have > f.Size { // no beginning of this file
		if have, err = 0, file.Truncate(0); err != nil {
			return in.writeError(err, 0)
		}
	}
	if have > 0 {
		if sum, err := sumFile(path); err == nil && sum == f.SHA256 {
			progress(have, have)
			return nil
		}
		header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := in.get(ctx, f.URL, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch start, ok := rangeStart(resp); {
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable, resp.StatusCode == http.StatusPartialContent && (!ok || start != have):
		// What is there is no beginning of the file.
		if err := file.Truncate(0); err != nil {
			return in.writeError(err, 0)
		}
		return transient{fmt.Errorf("%s: the server does not continue at byte %d", f.Name, have)}
	case resp.StatusCode == http.StatusOK:
		if have, err = 0, file.Truncate(0); err != nil {
			return in.writeError(err, 0)
		}
	case resp.StatusCode != http.StatusPartialContent:
		return statusError(resp)
	}
	if _, err := file.Seek(have, io.SeekStart); err != nil {
		return in.writeError(err, 0)
	}
	total := int64(-1)
	if resp.ContentLength >= 0 {
		total = have + resp.ContentLength
	}
	most := int64(maxWheel) // what is taken of a wheel whose size nobody tells
	switch {
	case max(total, f.Size) > maxWheel:
		return fmt.Errorf("%s: %d bytes, over the limit of %d; nothing was installed", f.Name, max(total, f.Size), int64(maxWheel))
	case f.Size > 0 && total >= 0 && total != f.Size:
		return fmt.Errorf("%s: the server has %d bytes of it, the index says %d; nothing was installed", f.Name, total, f.Size)
	case f.Size > 0:
		most, total = f.Size, f.Size
	case total >= 0:
		most = total
	}
	if err := in.room(max(0, total-have)); err != nil {
		return err
	}
	err = in.copyBody(ctx, resp.Body, file, f.Name, have, total, most, progress, cancel)
	if errors.As(err, new(*tooLongError)) {
		file.Truncate(0)
	}
	return err
}

// tooLongError is a download that goes on past the end of its file.
type tooLongError struct {
	name string
	most int64
}

func (e *tooLongError) Error() string {
	return fmt.Sprintf("%s: the server sends more than its %d bytes; nothing was installed", e.name, e.most)
}

// copyBody appends body to file, which has the first have of total bytes (-1 if that is not known),
// and syncs it. More than most bytes are a *tooLongError. cancel ends ctx, and with it the request,
// when too little comes (stallBytes). What breaks off is transient: the next attempt resumes.
func (in *installer) copyBody(ctx context.Context, body io.Reader, file file, name string, have, total, most int64, progress func(done, total int64), cancel context.CancelCauseFunc) error {
	stalled := fmt.Errorf("next to nothing came for %v", in.stall)
	timer := time.AfterFunc(in.stall, func() { cancel(stalled) })
	defer timer.Stop()
	body = &stallReader{Reader: body, timer: timer, after: in.stall}
	buf := make([]byte, 1<<18)
	progress(have, total)
	for {
		n, err := body.Read(buf)
		if have+int64(n) > most {
			return &tooLongError{name, most}
		}
		if n > 0 {
			if _, err := file.Write(buf[:n]); err != nil {
				return in.writeError(err, total-have)
			}
			have += int64(n)
			progress(have, total)
		}
		switch {
		case errors.Is(err, io.EOF) && (total < 0 || have == total):
			return file.Sync()
		case err != nil:
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return transient{fmt.Errorf("%s: the download broke off at byte %d of %d: %w; run the command again to resume", name, have, total, cause(err))}
		}
	}
}

// rangeStart reads the first byte's position in a Content-Range header.
func rangeStart(resp *http.Response) (int64, bool) {
	rest, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes ")
	if !ok {
		return 0, false
	}
	first, _, _ := strings.Cut(rest, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	return start, err == nil
}

func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
