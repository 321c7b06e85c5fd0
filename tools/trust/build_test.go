package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"matladder/internal/thoroughtest"
)

// TestBuild: what makes a kernel slower on purpose still fits the source that it changes: its
// package is built, with MATLADDER_TESTS=all the programs.
func TestBuild(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not installed")
	}
	o := options{folder: t.TempDir()}
	if !thoroughtest.All() {
		_, source, text, err := slowedSource(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		overlay, err := o.overlay(slow2, source, text)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-overlay", overlay, ".")
		cmd.Dir = filepath.Dir(source)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go build: %v\n%s", err, said)
		}
		return
	}
	if err := o.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range []program{reference, slow2, slow5} {
		if info, err := os.Stat(o.path(p)); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s: %v, %v", p.name, info, err)
		}
	}
}
