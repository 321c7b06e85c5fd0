package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestBuild: what makes a kernel slower on purpose still fits the source that it changes.
func TestBuild(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not installed")
	}
	o := options{folder: t.TempDir()}
	if err := o.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range []program{reference, slow2, slow5} {
		if info, err := os.Stat(o.path(p)); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s: %v, %v", p.name, info, err)
		}
	}
}
