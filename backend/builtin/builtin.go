// Package builtin registers the backends that come with matladder, one file each: to add
// one, write its file and put it into the list below.
//
//	cpu      cpu.go       the cores of this machine
//	xla-cpu  xla.go       XLA on those cores
//	tpu, gpu plugin.go    devices behind a PJRT plugin
//	aot      ahead.go     TPUs that need not be there
//	aot-gpu  ahead_gpu.go GPUs that need not be there
package builtin

import (
	"matladder/backend/aot"
	"matladder/backend/registry"
	"matladder/internal/pluginworker"
)

// Names of backends that others speak of.
const (
	CPU   = "cpu" // that of no --backend
	Ahead = "aot" // that of --topology
)

func init() {
	for _, e := range []registry.Entry{cpuEntry, xlaEntry, tpuEntry, gpuEntry, aheadEntry, aheadGPUEntry} {
		registry.Register(e)
	}
}

// Hook becomes the child process that a backend has started this executable for, if it
// was: the first thing in main, and in TestMain.
func Hook() {
	pluginworker.Hook()
	aot.Child()
}
