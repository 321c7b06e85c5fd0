// Package fakegpu has tests run on a simulated GPU: a plugin that is XLA for CPUs
// under the name of an H100, on which kernels that multiply two matrices, each with a scale or
// not, multiply them. All but the kernels' own text is as on a GPU: the worker, transfers, the
// programs that are timed, sets of operands, the check. It measures nothing.
package fakegpu

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/internal/ccompilertest"
	"matladder/plugins"
)

//go:embed testdata/plugin.c
var source []byte

// Variable says what goes wrong with the GPU, in words that plugin.c lists.
const Variable = "FAKE_GPU"

// Install builds the plugin, on top of the plugin cpu, and installs it as cuda in a folder
// of its own, which alone has plugins until the test ends. Without the plugin cpu or a C
// compiler the test is skipped, unless MATLADDER_REQUIRE says that it is there.
func Install(t testing.TB) {
	t.Helper()
	xla, err := plugins.Find("cpu")
	if errors.As(err, new(*plugins.NotInstalledError)) && !slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "cpu") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	root := filepath.Join(folder, "cuda-0.0.0")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(root, "plugin.c")
	if err := os.WriteFile(text, source, 0o644); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(root, "plugin.so")
	ccompilertest.Shared(t, library, text)
	info, err := os.Stat(library)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := json.Marshal(plugins.Installed{
		Name: "cuda", Version: "0.0.0", Platform: runtime.GOOS + "/" + runtime.GOARCH, LibraryPath: "plugin.so",
		InstalledAt: time.Now(), Unpinned: true, Files: []plugins.File{{Path: "plugin.so", Size: info.Size()}},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "plugin.json"), manifest, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKE_GPU_XLA", xla.Library())
	t.Setenv(plugins.FolderVariable, folder)
}
