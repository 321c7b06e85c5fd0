package matladder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/registry"
	"matladder/harness/tuned"
	"matladder/model/blocking"
	"matladder/problem"
)

// device is an open backend. All programs of this process that ask for the same share it,
// and with it its threads; it is closed with the last of them.
type device struct {
	key    deviceKey
	users  int // held by devices.mu
	opened func() error

	backend backend.Backend
	params  backend.Params // to compile with, but for what a program adds

	machine func() problem.Machine
	tuned   func() (*tuned.Table, error)
}

type deviceKey struct {
	name    string
	threads int
	params  string
}

// devices are those that are open: the cores of a machine are there once, whoever
// compiles for them.
var devices struct {
	mu   sync.Mutex
	open map[deviceKey]*device
}

const cpuName = "cpu"

// openDevice opens a backend, or finds the one that is open.
func openDevice(ctx context.Context, o Options) (*device, error) {
	name := o.Backend
	name = cmp.Or(name, cpuName)
	var own []string // parameters of the device
	for _, k := range slices.Sorted(maps.Keys(o.Params)) {
		if name != cpuName || k == "isa" {
			own = append(own, k+"="+o.Params[k])
		}
	}
	key := deviceKey{name, o.Threads, strings.Join(own, " ")}

	devices.mu.Lock()
	d := devices.open[key]
	if d == nil {
		d = &device{key: key}
		d.opened = sync.OnceValue(func() error { return d.start(ctx, name, o) })
		d.machine = sync.OnceValue(func() problem.Machine { return blocking.Of(d.backend.Device(), blocking.Setup{}).Machine })
		d.tuned = sync.OnceValues(func() (*tuned.Table, error) { return tuned.OfMachine(d.backend.Device(), d.params) })
		if devices.open == nil {
			devices.open = map[deviceKey]*device{}
		}
		devices.open[key] = d
	}
	d.users++
	devices.mu.Unlock()
	if err := d.opened(); err != nil {
		return nil, errors.Join(err, d.release())
	}
	return d, nil
}

// start opens the backend.
func (d *device) start(ctx context.Context, name string, o Options) error {
	if name == cpuName {
		params, err := cpu.ParseParams(o.Params)
		if err != nil {
			return &OptionError{"Params", err}
		}
		b, err := cpu.Open(cpu.Options{Threads: o.Threads, ISA: params.ISA})
		if err != nil {
			return &OptionError{"Threads, Params or the environment", err}
		}
		d.backend, d.params = b, backend.Params{Threads: b.Threads(), ISA: b.ISA()}
		return nil
	}
	e, err := registry.Find(name, registry.Measures)
	if err != nil {
		return &OptionError{"Backend", fmt.Errorf("%w: backends beside cpu are there in a program whose main begins with Hook of package backend/registry/builtin", err)}
	}
	opened, err := e.Start(ctx, registry.Request{Threads: o.Threads, Params: o.Params})
	var mistake *registry.RequestError
	if errors.As(err, &mistake) {
		return &OptionError{"Params", err}
	} else if err != nil {
		return fmt.Errorf("matladder: backend %s: %w", name, err)
	}
	d.backend, d.params = opened.Backend, opened.Params
	return nil
}

// release gives the device up.
func (d *device) release() error {
	devices.mu.Lock()
	d.users--
	last := d.users == 0
	if last {
		delete(devices.open, d.key)
	}
	devices.mu.Unlock()
	if last && d.backend != nil {
		return d.backend.Close()
	}
	return nil
}

// with are the parameters of one program.
func (d *device) with(o Options, tuned map[string]string) backend.Params {
	p := d.params
	extra := maps.Clone(tuned)
	if d.key.name == cpuName {
		for k, v := range o.Params {
			if k == "isa" {
				continue
			}
			if extra == nil {
				extra = map[string]string{}
			}
			extra[k] = v
		}
	}
	if extra != nil {
		p.Extra = extra
	}
	return p
}
