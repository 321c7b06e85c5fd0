package main

import (
	"fmt"
	"time"

	"matladder/backend"
	"matladder/backend/aot"
	"matladder/backend/cpu"
	"matladder/internal/cli"
	"matladder/tuned"
)

// device is an open backend and what is known of its machine.
type device struct {
	backend.Backend
	params   backend.Params
	machine  string // names the table
	summary  string // for people
	versions string
	limit    int64 // bytes of fast memory that a kernel may use; 0 for no limit
}

// open opens the backend that the flags ask for.
func (f *flags) open() (*device, error) {
	switch f.backend {
	case "cpu":
		return f.openCPU()
	case "aot":
		return f.openAhead()
	}
	return nil, cli.Usagef("--backend: unknown backend %q (known: cpu, aot)", f.backend)
}

// compileLimit is how long one candidate may take to compile: one that takes longer is
// large, and rarely the fastest.
const compileLimit = 90 * time.Second

// openAhead opens libtpu's compiler for a chip that is not there.
func (f *flags) openAhead() (*device, error) {
	if f.chip == "" {
		return nil, cli.Usagef("--backend aot needs --topology, the TPU to predict for, such as v5e")
	}
	if _, err := aot.FindTopology(f.chip); err != nil {
		return nil, cli.Usagef("--topology: %w", err)
	}
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: f.chip, Options: aot.Options{Limit: compileLimit}})
	if err != nil {
		return nil, err
	}
	d := b.Device()
	return &device{
		Backend: b, machine: tuned.MachineName(d, "", 0), limit: int64(d.FastDefaultBytes.Value),
		summary:  fmt.Sprintf("%s that is not there", d.Names[0]),
		versions: versions(b, ""),
	}, nil
}

func (f *flags) openCPU() (*device, error) {
	if f.chip != "" {
		return nil, cli.Usagef("--topology needs --backend aot")
	}
	b, err := cpu.Open(cpu.Options{Threads: f.config.Threads, NoProbe: f.list})
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	d := b.Device()
	return &device{
		Backend: b, params: backend.Params{Threads: b.Threads(), ISA: b.ISA()},
		machine:  tuned.MachineName(d, b.ISA(), b.Threads()),
		summary:  d.Names[0] + ", " + d.Note,
		versions: versions(b, b.ISA()),
	}, nil
}
