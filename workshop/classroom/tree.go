package classroom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"matladder/internal/files"
	"matladder/workshop"
)

// Pages is the folder of an archive that has the documentation as pages.
const Pages = "site"

// MakePages writes the documentation of the repository at folder as pages that need no network.
func MakePages(ctx context.Context, folder, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	site := exec.CommandContext(ctx, "go", "run", ".", "--out", out)
	site.Dir = filepath.Join(folder, "tools", "site")
	if _, err := os.Stat(site.Dir); err != nil {
		return errors.New("no tools/site here: run this from the repository's top folder")
	}
	if out, err := site.CombinedOutput(); err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("go run -C tools/site .: %w: %s", err, oneLine(out)))
	}
	return nil
}

// Reset puts an exercise of the repository at folder back to how it comes. What stood
// there is kept in a file, whose path is returned; "" if it was as it comes already.
func Reset(folder string, e workshop.Exercise, now time.Time) (kept string, err error) {
	blank, err := e.Blank()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, filepath.FromSlash(e.File()))
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return "", fmt.Errorf("%s is not here: run this from the repository's top folder", filepath.Dir(e.File()))
	}
	mine, err := os.ReadFile(path)
	switch {
	case os.IsNotExist(err):
	case err != nil:
		return "", err
	case bytes.Equal(withoutCR(mine), withoutCR([]byte(blank))):
		return "", nil
	default:
		kept = filepath.Join(folder, "out", "exercises", fmt.Sprintf("ex%d-%s.go.txt", e.Number, now.UTC().Format("20060102T150405.000000")))
		if err := files.Write(kept, mine); err != nil {
			return "", err
		}
	}
	return kept, files.Replace(path, []byte(blank))
}

// withoutCR is text whose lines end as on Unix: a checkout on Windows may have others.
func withoutCR(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
