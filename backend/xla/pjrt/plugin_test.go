//go:build linux && cgo

package pjrt

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"matladder/backend/worker"
	"matladder/backend/xla/aot"
	"matladder/plugins"
)

func TestMain(m *testing.M) {
	aot.Child()
	worker.Hook(map[string]worker.Opener{"pjrt": Opener})
	os.Exit(m.Run())
}

// requireVariable lists the plugins without which tests fail instead of being
// skipped, joined by commas.
const requireVariable = "MATLADDER_REQUIRE"

// cpuPlugin returns the path of XLA's CPU plugin.
func cpuPlugin(t testing.TB) string {
	t.Helper()
	p, err := plugins.Find("cpu")
	var missing *plugins.NotInstalledError
	switch {
	case err == nil:
		return p.Library()
	case errors.As(err, &missing) && !slices.Contains(strings.Split(os.Getenv(requireVariable), ","), "cpu"):
		t.Skip(err)
	}
	t.Fatal(err)
	return ""
}

// openCPU opens the plugin in this process.
func openCPU(t testing.TB, o Options) Backend {
	t.Helper()
	o.Name, o.Plugin = "xla-cpu", cpuPlugin(t)
	be, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return be
}
