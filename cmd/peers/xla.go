package main

import (
	"context"
	"time"

	"matladder/backend"
	"matladder/backend/pjrt"
	"matladder/backend/worker"
	"matladder/chips"
	"matladder/plugins"
)

// workers are the backends that run in child processes.
var workers = map[string]worker.Opener{"pjrt": pjrt.Opener}

// openLimit bounds how long the plugin may take to find its device.
const openLimit = time.Minute

// findXLA returns the installed plugin, if this build can load it.
func findXLA() (plugins.Installed, error) {
	if err := pjrt.Available(); err != nil {
		return plugins.Installed{}, err
	}
	return plugins.Find("cpu")
}

// openXLA opens XLA on the cores of the host with a number of threads.
func openXLA(ctx context.Context, threads int, host chips.Device) (backend.Backend, error) {
	p, err := findXLA()
	if err != nil {
		return nil, err
	}
	o := pjrt.Options{Name: "xla-cpu", Threads: threads, Host: host, Plugin: p.Library(), Version: p.Version}
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	return worker.Open(ctx, worker.Options{Opener: "pjrt", Config: config})
}
