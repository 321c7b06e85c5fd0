package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/pjrt"
	"matladder/backend/worker"
	"matladder/chips"
	"matladder/internal/cli"
	"matladder/plugins"
	"matladder/results"
)

// workers are the backends that run in child processes.
var workers = map[string]worker.Opener{"pjrt": pjrt.Opener}

// openLimit bounds how long a plugin may take to find its device.
const openLimit = time.Minute

// find returns an installed plugin, if this build can load it.
func find(name string) (plugins.Installed, error) {
	if err := pjrt.Available(); err != nil {
		return plugins.Installed{}, err
	}
	return plugins.Find(name)
}

// start opens a plugin in a worker.
func start(ctx context.Context, p plugins.Installed, o pjrt.Options) (backend.Backend, error) {
	o.Plugin, o.Version = p.Library(), p.Version
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	return worker.Open(ctx, worker.Options{Opener: "pjrt", Config: config, Env: libraryPath(p)})
}

// libraryPath lets a plugin of several libraries find them.
func libraryPath(p plugins.Installed) []string {
	var folders []string
	for _, f := range p.Files {
		if strings.Contains(filepath.Base(f.Path), ".so") {
			folders = append(folders, filepath.Join(p.Root, filepath.FromSlash(filepath.Dir(f.Path))))
		}
	}
	slices.Sort(folders)
	if folders = slices.Compact(folders); len(folders) < 2 {
		return nil
	}
	return []string{"LD_LIBRARY_PATH=" + strings.Join(folders, ":")}
}

// openXLA opens XLA on the cores of this machine: the baseline, and kernels as
// what they mean.
func openXLA(ctx context.Context, r request) (*device, error) {
	params, err := r.pluginParams()
	if err != nil {
		return nil, err
	}
	host, err := openCPU(ctx, request{threads: r.threads, probe: r.probe})
	if err != nil {
		return nil, err
	}
	defer host.Close()
	b, err := openHost(ctx, host, params)
	if err != nil {
		return nil, err
	}
	return &device{
		Backend: b, params: backend.Params{Threads: host.params.Threads}, lowering: results.Interpret,
		summary: fmt.Sprintf("%s, XLA, %s", host.Device().Names[0], cli.Plural(host.params.Threads, "thread")),
	}, nil
}

// openHost opens XLA on the cores that host is, with as many threads.
func openHost(ctx context.Context, host *device, params pluginParams) (backend.Backend, error) {
	p, err := find("cpu")
	if err != nil {
		return nil, err
	}
	return start(ctx, p, pjrt.Options{Name: "xla-cpu", Device: params.device, Method: params.method, Threads: host.params.Threads, Host: host.Device()})
}

// compareWithXLA finds the baseline of a backend that has none of its own, and
// opens it if it is to run.
func (d *device) compareWithXLA(ctx context.Context, open bool) {
	if d.Device().Kind != chips.CPU || d.lowering != "" {
		return
	}
	_, err := find("cpu")
	if err == nil && open {
		var b backend.Backend
		if b, err = openHost(ctx, d, pluginParams{}); err == nil {
			d.baseline = b
		}
	}
	if err != nil {
		d.noBaseline = err.Error()
	}
}
