package main

import (
	"strings"
	"testing"

	"matladder/backend/registry/registrytest"
	"matladder/internal/cli"
)

// TestRegistered: a backend that is in the registry shows its plans, and its device is
// one to count for.
func TestRegistered(t *testing.T) {
	registrytest.Run(t, func(t *testing.T) {
		for args, want := range map[string]string{
			"v4 --sizes 256 --backend abacus --as plan":              "1 program in a launch\n",
			"v4 --sizes 256 --backend abacus --as counts":            "FLOPs per byte where the roofs meet",
			"v4 --sizes 256 --backend xla-cpu --as plan --threads 1": "",
			"--backend abacus --param help":                          "beads on a wire",
		} {
			code, stdout, stderr := inspect(strings.Fields(args)...)
			if want != "" && (code != cli.OK || !strings.Contains(stdout, want)) || want == "" && code == cli.OK {
				t.Errorf("inspect %s: exit %d\n%s\n%s", args, code, stdout, stderr)
			}
		}
	})
}
