package plugins

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"matladder/internal/files"
)

// maxUnpacked bounds what one wheel may unpack to.
const maxUnpacked = 4 << 30

// extract unpacks what w keeps of the wheel at path into dir, and returns the files.
func (in *installer) extract(ctx context.Context, w Wheel, path, name, dir string) ([]File, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s is not a wheel: %w", name, err)
	}
	defer archive.Close()
	var kept []*zip.File
	var size uint64
	for _, f := range archive.File {
		if !f.Mode().IsRegular() || !w.keeps(f.Name) {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return nil, fmt.Errorf("%s: %q lies outside the wheel", name, f.Name)
		}
		kept = append(kept, f)
		size += f.UncompressedSize64
	}
	if size > maxUnpacked {
		return nil, fmt.Errorf("%s: it unpacks to %d bytes, over the limit of %d", name, size, int64(maxUnpacked))
	}
	if err := in.room(int64(size)); err != nil {
		return nil, err
	}
	var list []File
	for _, f := range kept {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, err := in.extractFile(ctx, f, filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil {
			return nil, fmt.Errorf("%s: unpack %s: %w", name, f.Name, err)
		}
		list = append(list, File{f.Name, int64(f.UncompressedSize64), sum})
	}
	return list, nil
}

// extractFile unpacks one file and returns its SHA-256.
func (in *installer) extractFile(ctx context.Context, f *zip.File, to string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", in.writeError(err, 0)
	}
	from, err := f.Open()
	if err != nil {
		return "", err
	}
	defer from.Close()
	out, err := in.open(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return "", in.writeError(err, 0)
	}
	defer out.Close()
	sum := sha256.New()
	w := writer{in, out, int64(f.UncompressedSize64)}
	// One byte more than announced shows a size that lies.
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(files.Until(ctx, from), int64(f.UncompressedSize64)+1))
	if err != nil {
		return "", err // zip's own, or that of the checksum
	}
	if n != int64(f.UncompressedSize64) {
		return "", fmt.Errorf("it has not the %d bytes that it announces", f.UncompressedSize64)
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return "", in.writeError(err, 0)
	}
	mode := os.FileMode(0o644)
	if f.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return hex.EncodeToString(sum.Sum(nil)), os.Chmod(to, mode)
}

// writer explains what keeps a write from succeeding.
type writer struct {
	*installer
	file
	need int64
}

func (w writer) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	if err != nil {
		err = w.writeError(err, w.need)
	}
	return n, err
}
