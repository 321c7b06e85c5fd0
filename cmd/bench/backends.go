package main

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/cpu"
)

// device is an open backend and what its parameters stand for.
type device struct {
	backend.Backend
	params  backend.Params
	summary string // of the machine, for people
}

// A opener opens one backend. probe says whether its peaks are wanted.
type opener struct {
	name string
	open func(threads int, params map[string]string, probe bool) (*device, error)
}

// openers are the backends of this build, the best first.
var openers = []opener{{"cpu", openCPU}}

// noBaseline is why kernel 0 is skipped.
const noBaseline = "the XLA baseline needs a PJRT plugin, which this build does not have"

func known() string {
	var names []string
	for _, o := range openers {
		names = append(names, o.name)
	}
	return strings.Join(names, ", ")
}

// open opens the backend that the flags ask for.
func (f *flags) open(threads int, probe bool) (*device, error) {
	i := 0
	if f.backend != "" {
		i = slices.IndexFunc(openers, func(o opener) bool { return o.name == f.backend })
	}
	if i < 0 {
		return nil, usagef("--backend: this build has no backend %q (known: %s)", f.backend, known())
	}
	params := map[string]string{}
	for _, p := range f.params {
		key, value, ok := strings.Cut(p, "=")
		if _, twice := params[key]; twice || !ok || key == "" || value == "" {
			return nil, usagef("--param %q: want KEY=VALUE, each key once", p)
		}
		params[key] = value
	}
	return openers[i].open(threads, params, probe)
}

func openCPU(threads int, params map[string]string, probe bool) (*device, error) {
	o := cpu.Options{Threads: threads, NoProbe: !probe}
	for key, value := range params {
		if key != "isa" {
			return nil, usagef("--param %s: backend cpu has no such parameter (known: isa)", key)
		}
		o.ISA = value
	}
	b, err := cpu.Open(o)
	if err != nil {
		return nil, &usageError{err}
	}
	return &device{
		Backend: b,
		params:  backend.Params{Threads: b.Threads(), ISA: b.ISA()},
		summary: fmt.Sprintf("%s, %s, %s", b.Device().Names[0], b.ISA(), plural(b.Threads(), "thread")),
	}, nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
