package builtin

import (
	"context"
	"time"

	"matladder/backend"
	"matladder/backend/worker"
	"matladder/backend/xla/pjrt"
	"matladder/internal/deadline"
	"matladder/machine"
	"matladder/plugins"
)

// opener is by which a worker knows pjrt.Opener.
const opener = "pjrt"

// openLimit bounds how long a plugin may take to find its device.
const openLimit = time.Minute

// FindPlugin returns an installed PJRT plugin, if this build can load it.
func FindPlugin(name string) (plugins.Installed, error) {
	if err := pjrt.Available(); err != nil {
		return plugins.Installed{}, err
	}
	return plugins.Find(name)
}

// openWorker opens a plugin in a worker: one that crashes or hangs costs no more than its child
// process. o says all but which plugin.
func openWorker(ctx context.Context, p plugins.Installed, o pjrt.Options) (*worker.Backend, error) {
	o.Plugin, o.Version = p.Library(), p.Version
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	ctx, cancel := deadline.WithTimeout(ctx, openLimit)
	defer cancel()
	return worker.Open(ctx, worker.Options{Opener: opener, Config: config, Env: p.Environment()})
}

// OpenXLA opens XLA on the cores that host describes, in a worker, with a number of threads; o
// may say more.
func OpenXLA(ctx context.Context, host machine.Device, threads int, o pjrt.Options) (*worker.Backend, error) {
	p, err := FindPlugin("cpu")
	if err != nil {
		return nil, err
	}
	o.Name, o.Host, o.Threads = "xla-cpu", host, threads
	return openWorker(ctx, p, o)
}

// OpenVerifier opens XLA on this machine for what is predicted to be verified by: its times are
// of no interest.
func OpenVerifier(ctx context.Context) (backend.Backend, error) {
	return OpenXLA(ctx, machine.Device{}, 0, pjrt.Options{Method: pjrt.Wall})
}
