// Package pluginworker opens PJRT plugins that are installed, each in a worker: a
// plugin that crashes or hangs costs no more than its child process. It is what the
// commands that measure on plugins share.
package pluginworker

import (
	"context"
	"maps"
	"time"

	"matladder/backend"
	"matladder/backend/worker"
	"matladder/backend/xla/pjrt"
	"matladder/internal/awake"
	"matladder/machine"
	"matladder/plugins"
)

// opener is the name of the one opener.
const opener = "pjrt"

// openLimit bounds how long a plugin may take to find its device.
const openLimit = time.Minute

// Hook is worker.Hook for the workers that Open starts, and for those of other openers by
// their names: the first thing in main, and in TestMain.
func Hook(others map[string]worker.Opener) {
	all := map[string]worker.Opener{opener: pjrt.Opener}
	maps.Copy(all, others)
	worker.Hook(all)
}

// Find returns an installed plugin, if this build can load it.
func Find(name string) (plugins.Installed, error) {
	if err := pjrt.Available(); err != nil {
		return plugins.Installed{}, err
	}
	return plugins.Find(name)
}

// Open opens a plugin in a worker; o says all but which plugin.
func Open(ctx context.Context, p plugins.Installed, o pjrt.Options) (backend.Backend, error) {
	o.Plugin, o.Version = p.Library(), p.Version
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	ctx, cancel := awake.WithTimeout(ctx, openLimit)
	defer cancel()
	return worker.Open(ctx, worker.Options{Opener: opener, Config: config, Env: p.Environment()})
}

// OpenXLA opens XLA on the cores that host describes, with a number of threads; o may
// say more.
func OpenXLA(ctx context.Context, host machine.Device, threads int, o pjrt.Options) (backend.Backend, error) {
	p, err := Find("cpu")
	if err != nil {
		return nil, err
	}
	o.Name, o.Host, o.Threads = "xla-cpu", host, threads
	return Open(ctx, p, o)
}
