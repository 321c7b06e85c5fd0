// Package registrytest shows that commands have no list of backends of their own: it runs
// a command's test again, in a child process that has registered one more backend.
package registrytest

import (
	"context"
	"os"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/registry"
	"matladder/internal/subprocesstest"
)

// variable is set in the environment of child processes, which have the backend.
const variable = "MATLADDER_TEST_ABACUS"

// Abacus is the name of the backend: one core of this machine.
const Abacus = "abacus"

type abacus struct{ *cpu.Backend }

func (abacus) Name() string { return Abacus }

// Hook registers the backend if Run started this process. Call it in TestMain.
func Hook() {
	if os.Getenv(variable) == "" {
		return
	}
	registry.Register(registry.Entry{
		Name: Abacus, Help: "beads on wires", Can: registry.Measures,
		Params: []registry.Param{registry.Number("beads", "beads on a wire", "10", 1, 100)},
		Open: func(_ context.Context, r registry.Request) (*registry.Device, error) {
			b, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: !r.Probe})
			if err != nil {
				return nil, err
			}
			return &registry.Device{Backend: abacus{b}, Params: backend.Params{Threads: 1}, Summary: r.Params["beads"] + " beads"}, nil
		},
	})
}

// Run runs f in a process of its own that has the backend.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	subprocesstest.Run(t, variable, f)
}
