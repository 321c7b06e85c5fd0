package plugins

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestEnvironment: libraries, programs and the files of CUDA are found in front of
// what the environment has already.
func TestEnvironment(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "/driver")
	t.Setenv("PATH", "/bin")
	t.Setenv("XLA_FLAGS", "--mine")
	i := Installed{Root: "/p", Files: []File{
		{Path: "x/xla_cuda_plugin.so"}, {Path: "nvidia/cu13/lib/libcublas.so.13"}, {Path: "nvidia/cu13/lib/libcudart.so.13"},
		{Path: "nvidia/cu13/bin/ptxas"}, {Path: "nvidia/cu13/nvvm/libdevice/libdevice.10.bc"},
	}}
	want := []string{
		"LD_LIBRARY_PATH=" + filepath.FromSlash("/p/nvidia/cu13/lib") + ":" + filepath.FromSlash("/p/x") + ":/driver",
		"PATH=" + filepath.FromSlash("/p/nvidia/cu13/bin") + ":/bin",
		"XLA_FLAGS=--xla_gpu_cuda_data_dir=" + filepath.FromSlash("/p/nvidia/cu13") + " --mine",
	}
	if got := i.Environment(); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := i.Tool("ptxas"); got != filepath.FromSlash("/p/nvidia/cu13/bin/ptxas") {
		t.Errorf("ptxas: %q", got)
	}
	if got := (Installed{Root: "/p", Files: []File{{Path: "x/libtpu.so"}}}).Environment(); got != nil {
		t.Errorf("one library needs nothing, has %q", got)
	}
}

func TestDriver(t *testing.T) {
	for text, want := range map[string]string{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\n":          "535.54.03, too old: CUDA 13 needs 580 or newer",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version:\n": "580.159.04",
		"": "",
	} {
		if got := driver(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
