package plugins

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"matladder/plugins/plugintest"
)

// TestLink takes packages that Python has installed: the plugin's files are theirs, in
// folders as of wheels, and the tools and libraries beside it are found.
func TestLink(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("plugins are for Linux")
	}
	site := t.TempDir()
	library := plugintest.Library(runtime.GOARCH, plugintest.Healthy)
	for name, content := range map[string][]byte{
		"jax_cuda13_pjrt-9.8.7.dist-info/METADATA": nil, "jax_plugins/xla_cuda13/xla_cuda_plugin.so": library,
		"nvidia/cu13/bin/ptxas": {1}, "nvidia/cu13/lib/libcublas.so.13": {2}, "nvidia/cu13/include/cublas.h": {3},
		"triton/backends/nvidia/bin/nvdisasm": {4}, "triton/__init__.py": {5}, "torch/lib/libtorch.so": {6},
		// Triton's own, of another CUDA:
		"triton/backends/nvidia/bin/ptxas": {7}, "triton/backends/nvidia/lib/libdevice.10.bc": {8}, "triton/backends/nvidia/lib/cupti/libcupti.so.12": {9},
	} {
		path := filepath.Join(site, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	t.Setenv(FolderVariable, folder)
	checked := ""
	o := Options{Name: "cuda", Check: func(_ context.Context, path string) (string, error) { checked = path; return "0.1", nil }}
	for range 2 { // and once more
		i, err := Link(t.Context(), o, site)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Find("cuda")
		if err != nil || found.Root != i.Root || found.Version != "9.8.7" || !found.Unpinned || found.API != "0.1" || checked == "" {
			t.Fatalf("%+v, %v, checked %s", found, err, checked)
		}
		if len(found.Files) != 4 || found.Tool("ptxas") == "" || found.Tool("nvdisasm") == "" {
			t.Errorf("%+v", found.Files)
		}
		if path, err := filepath.EvalSymlinks(found.Library()); err != nil || path != filepath.Join(site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so") {
			t.Errorf("%s, %v", path, err)
		}
	}
	if err := os.Remove(filepath.Join(site, "nvidia/cu13/bin/ptxas")); err != nil {
		t.Fatal(err)
	}
	if _, err := Find("cuda"); err == nil || !strings.Contains(err.Error(), "ptxas is missing: install it again") {
		t.Errorf("a package that is gone: %v", err)
	}
	for dir, want := range map[string]string{
		t.TempDir():               "0 packages jax-cuda13-pjrt there",
		filepath.Join(site, "no"): "no such file",
		filepath.Join(site, "triton", "__init__.py"): "not a folder",
	} {
		if _, err := Link(t.Context(), o, dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	o.Check = func(context.Context, string) (string, error) { return "", errors.New("it does not load") }
	if _, err := Link(t.Context(), o, site); err == nil || !strings.Contains(err.Error(), "it does not load") {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".staging-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	o = Options{Name: "tpu"}
	if _, err := Link(t.Context(), o, site); err == nil || !strings.Contains(err.Error(), "0 packages libtpu there") {
		t.Errorf("%v", err)
	}
}
