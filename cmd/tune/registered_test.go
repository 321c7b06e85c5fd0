package main

import (
	"strings"
	"testing"

	"matladder/backend/registry/registrytest"
	"matladder/internal/cli"
	"matladder/tuned"
)

// TestRegistered: a backend that is in the registry can be tuned.
func TestRegistered(t *testing.T) {
	registrytest.Run(t, func(t *testing.T) {
		t.Chdir(t.TempDir())
		code, stdout, stderr := tuneWith(strings.Fields("--backend abacus --kernel 4 --sizes 80 --dtype float32 --candidates 4 --time-budget 5s --out table.yaml")...)
		if code != cli.OK || !strings.Contains(stderr, " beads: 1 problem to tune") {
			t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
		}
		if table, err := tuned.ReadFile("table.yaml"); err != nil || len(table.Rows) != 1 {
			t.Errorf("%v %v", err, table)
		}
	})
}
