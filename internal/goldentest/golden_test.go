package goldentest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a testing.TB that notes failures instead of failing.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Logf(string, ...any)       {}
func (r *recorder) Fatal(args ...any)         { r.failures = append(r.failures, fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, a ...any) { r.failures = append(r.failures, fmt.Sprintf(f, a...)) }

func TestAssert(t *testing.T) {
	defer func(given bool) { *update = given }(*update)
	*update = false
	path := filepath.Join(t.TempDir(), "x.golden")
	assert := func(got string) []string {
		r := &recorder{}
		Assert(r, path, []byte(got))
		return r.failures
	}
	left := func() bool { _, err := os.Stat(path + ".got"); return err == nil }

	if f := assert("one\ntwo\n"); len(f) != 1 || !strings.Contains(f[0], "-update") || !left() {
		t.Errorf("a missing golden: failures %q, .got left %v", f, left())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a missing golden was written without -update")
	}
	if err := os.WriteFile(path, []byte("one\r\ntwo\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f := assert("one\ntwo\n"); len(f) != 0 || left() {
		t.Errorf("a match up to line endings: failures %q, .got left %v", f, left())
	}
	f := assert("one\nthree\n")
	if len(f) != 1 || !strings.Contains(f[0], "three") || !strings.Contains(f[0], "two") || !left() {
		t.Errorf("a mismatch: failures %q, .got left %v", f, left())
	}

	*update = true
	if f := assert("one\nthree\n"); len(f) != 0 || left() {
		t.Errorf("-update: failures %q, .got left %v", f, left())
	}
	if b, _ := os.ReadFile(path); string(b) != "one\nthree\n" {
		t.Errorf("-update wrote %q", b)
	}
}
