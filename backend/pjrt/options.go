package pjrt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/chips"
)

// Options are for Open.
type Options struct {
	// Name is that of the backend: xla-cpu, tpu or gpu.
	Name string
	// Plugin is the absolute path of the plugin.
	Plugin string
	// Version is the plugin's, for the record.
	Version string
	// Device is the number of the device among those of this process.
	Device int
	// Method is how Run times launches: loop or wall; "" for loop.
	Method string
	// Threads is how many cores, and so threads, the CPU plugin may use; 0 for all.
	// The whole process is confined to them, from the first Open on.
	Threads int
	// Host is what the device is where its own plugin cannot say: the CPU, with
	// the peaks that were measured on it. The zero Device leaves it to the plugin.
	Host chips.Device
	// Client holds options for the plugin, which knows their names: strings,
	// integers, floats or booleans.
	Client map[string]any
}

// The methods.
const (
	Loop = "loop"
	Wall = "wall"
)

var methods = []string{Loop, Wall}

// methodParam is the parameter of a compilation that overrides Options.Method.
const methodParam = "method"

func (o Options) check() error {
	switch {
	case o.Plugin == "":
		return errors.New("pjrt: no plugin given")
	case o.Device < 0:
		return fmt.Errorf("pjrt: device %d: devices count from 0", o.Device)
	case o.Threads < 0:
		return fmt.Errorf("pjrt: threads = %d: must be positive, or 0 for one a core", o.Threads)
	}
	return checkMethod(o.Method)
}

func checkMethod(m string) error {
	switch {
	case m == "" || slices.Contains(methods, m):
		return nil
	case m == "chain":
		return fmt.Errorf("pjrt: method chain: the binding waits for each launch: %w", backend.ErrUnsupported)
	}
	return fmt.Errorf("pjrt: unknown method %q (known: %s)", m, strings.Join(methods, ", "))
}

// method returns how a compilation's launches are timed, or what of its
// parameters cannot be had.
func (o Options) method(p backend.Params) (string, error) {
	if p.ISA != "" {
		return "", fmt.Errorf("pjrt: isa %s: XLA chooses the instruction set itself: %w", p.ISA, backend.ErrUnsupported)
	}
	if p.Threads != 0 && p.Threads != o.Threads {
		return "", fmt.Errorf("pjrt: %d threads: the plugin was opened with %s: %w", p.Threads, threads(o.Threads), backend.ErrUnsupported)
	}
	if p.VMEMBytes != 0 {
		return "", fmt.Errorf("pjrt: vmem_limit: the binding hands no compiler options on: %w", backend.ErrUnsupported)
	}
	method := o.Method
	for k, v := range p.Extra {
		if k != methodParam {
			return "", fmt.Errorf("pjrt: unknown parameter %q (known: %s)", k, methodParam)
		}
		method = v
	}
	if method == "" {
		method = Loop
	}
	return method, checkMethod(method)
}

func threads(n int) string {
	if n == 0 {
		return "one thread a core"
	}
	return fmt.Sprintf("%d threads", n)
}

// Config encodes the options for Opener.
func (o Options) Config() ([]byte, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("pjrt: options: %w", err)
	}
	return text, nil
}

// Opener opens a backend from what Config returned; it is for package worker.
func Opener(_ context.Context, config []byte) (backend.Backend, error) {
	var o Options
	if err := json.Unmarshal(config, &o); err != nil {
		return nil, fmt.Errorf("pjrt: options: %w", err)
	}
	return Open(o)
}
