package inspect

import (
	"strings"
	"testing"

	"matladder/backend/registry/registrytest"
	"matladder/internal/cli"
	"matladder/kernels/doublingtest"
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

// TestFamily: kernels of a problem family that is registered can be looked at.
func TestFamily(t *testing.T) {
	doublingtest.Run(t, func(t *testing.T) {
		for args, want := range map[string]string{
			"doubling/1 --sizes 64x32":                        "v1_twice\n  grid (i,) = (",
			"doubling/twice --sizes 64x32 --as counts":        "bytes moved       16384 ",
			"doubling/v1 --sizes 64x32 --blocks 8 --as steps": "loads",
			"doubling/1 --sizes 64x32 --as stablehlo":         "module @v1_twice",
			"doubling/1 --sizes 64x32 --as plan --threads 1":  "64 items of 32 float32",
		} {
			code, stdout, stderr := inspect(strings.Fields(args)...)
			if code != cli.OK || !strings.Contains(stdout, want) {
				t.Errorf("inspect %s: exit %d, want %q in\n%s\n%s", args, code, want, stdout, stderr)
			}
		}
	})
}
