package tune

import (
	"strings"
	"testing"

	"matladder/backend/registry/registrytest"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/kernels/doublingtest"
)

// TestRegistered: a backend that is in the registry can be tuned.
func TestRegistered(t *testing.T) {
	registrytest.Run(t, func(t *testing.T) {
		t.Chdir(t.TempDir())
		code, stdout, stderr := tuneWith(strings.Fields("--backend abacus --kernel 4 --sizes 16 --dtype float32 --candidates 2 --time-budget 5s --out table.yaml")...)
		if code != cli.OK || !strings.Contains(stderr, " beads: 1 problem to tune") {
			t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
		}
		if table, err := tuned.ReadFile("table.yaml"); err != nil || len(table.Rows) != 1 {
			t.Errorf("%v %v", err, table)
		}
	})
}

// TestFamily: a problem family that is registered can be tuned, and its rows are found.
func TestFamily(t *testing.T) {
	doublingtest.Run(t, func(t *testing.T) {
		t.Chdir(t.TempDir())
		code, stdout, stderr := tuneWith(strings.Fields("--family doubling --sizes 70x80 --threads 1 --candidates 2 --time-budget 5s --out table.yaml")...)
		if code != cli.OK || !strings.Contains(stdout, "v1_twice 70x80 float32→float32: blocks ") {
			t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
		}
		table, err := tuned.ReadFile("table.yaml")
		if err != nil || len(table.Rows) != 1 || table.Rows[0].Problem.Family().Name != doublingtest.Family {
			t.Fatalf("%v %v", err, table)
		}
		if a, ok := table.Lookup(table.Rows[0].Key); !ok || a.Source != tuned.Exact && a.Source != tuned.Exact+"_by_budget" {
			t.Errorf("%v %v", a, ok)
		}
	})
}
