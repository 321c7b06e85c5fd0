// Package builtin registers the backends that come with matladder, one file each or two: to add
// one, write its file and put it into the list below.
//
//	cpu      cpu.go       the cores of this machine
//	xla-cpu  cpu.go       XLA on those cores
//	tpu, gpu gpu.go       devices behind a PJRT plugin
//	aot      ahead.go     TPUs that need not be there
//	aot-gpu  ahead.go     GPUs that need not be there
package builtin

import (
	"matladder/backend/foreign/library"
	"matladder/backend/internal/nvml"
	"matladder/backend/registry"
	"matladder/backend/worker"
	"matladder/backend/xla/aot"
	"matladder/backend/xla/pjrt"
)

// Names of backends that other packages need.
const (
	CPU = "cpu" // the default
	AOT = "aot" // compiles ahead of time, for a TPU of --topology
)

func init() {
	for _, e := range []registry.Entry{cpuEntry, xlaEntry, tpuEntry, gpuEntry, aheadEntry, aheadGPUEntry} {
		registry.Register(e)
	}
}

// Hook runs the work of a child process and exits, if a backend started this executable
// as one: plugins, their compilers and functions of shared libraries run in children. Call it first in main and in
// TestMain.
func Hook() {
	worker.Hook(map[string]worker.Opener{opener: pjrt.Opener, library.OpenerName: library.Opener})
	aot.Child()
	nvml.Child()
}
