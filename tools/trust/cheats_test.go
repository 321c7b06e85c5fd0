package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"matladder/backend/worker"
)

func TestMain(m *testing.M) {
	worker.Hook(openers())
	os.Exit(m.Run())
}

// TestCheats: some tricks are refused, and functions that compute are not.
func TestCheats(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	var table strings.Builder
	only := "C:honest,C:memo_ends,C:incremental,C:affinity,C:beyond,Go:honest,Go:half,Go:goroutine"
	if err := cheats(t.Context(), []string{"--times", "1", "--only", only}, &table, io.Discard); err != nil {
		t.Errorf("%v\n%s", err, &table)
	}
}
