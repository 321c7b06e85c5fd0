// Package ccompilertest builds shared libraries for tests.
package ccompilertest

import (
	"cmp"
	"os"
	"os/exec"
	"testing"
)

// Shared builds a shared library of a C source, with the compiler of CC, or else cc, gcc
// or clang. Where there is none the test is skipped.
func Shared(t testing.TB, library, source string) {
	t.Helper()
	for _, name := range []string{os.Getenv("CC"), "cc", "gcc", "clang"} {
		compiler, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if out, err := exec.Command(compiler, "-O1", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", compiler, err, out)
		}
		return
	}
	t.Skip("no C compiler: install one (apt-get install gcc libc6-dev) or name it in CC, which is ", cmp.Or(os.Getenv("CC"), "not set"))
}
