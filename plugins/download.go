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

// stall is how long a download may bring nothing before it is tried again.
const stall = 60 * time.Second

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
		return "", fmt.Errorf("%s: its SHA-256 is %s, the index says %s: the download is damaged or not what it should be; nothing was installed", f.Name, sum, f.SHA256)
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
		if err := in.room(resp.ContentLength); err != nil {
			return err
		}
	}
	return in.copyBody(ctx, resp.Body, file, f.Name, have, total, progress, cancel)
}

// errStalled is why a download that brings nothing is cancelled.
var errStalled = fmt.Errorf("nothing came for %v", stall)

func (in *installer) copyBody(ctx context.Context, body io.Reader, file file, name string, have, total int64, progress func(done, total int64), cancel context.CancelCauseFunc) error {
	timer := time.AfterFunc(stall, func() { cancel(errStalled) })
	defer timer.Stop()
	body = stallReader{body, timer, stall}
	buf := make([]byte, 1<<18)
	progress(have, total)
	for {
		n, err := body.Read(buf)
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
