//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/lower/stablehlo"
	"matladder/machine"
	"matladder/plugins"
	"matladder/problem"
	"matladder/tile"

	binding "github.com/gomlx/go-xla/pjrt"
)

// pjrtBackend is one device of a client.
type pjrtBackend struct {
	options Options
	plugin  *table
	client  *binding.Client
	target  *binding.Device
	device  machine.Device
	shared  bool // the device's memory is the host's
	closed  bool
}

var (
	_ Backend         = (*pjrtBackend)(nil)
	_ backend.Plugged = (*pjrtBackend)(nil)
)

var errClosed = errors.New("pjrt: the backend is closed")

// Available is nil: this build can load plugins.
func Available() error { return nil }

// Open loads a plugin and makes a client of it.
func Open(o Options) (Backend, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(o.Plugin) {
		return nil, fmt.Errorf("pjrt: plugin %s: not an absolute path", o.Plugin)
	}
	if info, err := os.Stat(o.Plugin); err != nil {
		return nil, fmt.Errorf("pjrt: plugin: %w", err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("pjrt: plugin %s: not a file", o.Plugin)
	}
	if o.Threads > 0 {
		if err := confine(o.Threads); err != nil {
			return nil, err
		}
	}
	for _, kv := range plugins.Environment("tpu") {
		k, v, _ := strings.Cut(kv, "=")
		os.Setenv(k, v)
	}
	plugin, err := loadPlugin(o.Plugin)
	if err != nil {
		return nil, fmt.Errorf("pjrt: %s is no plugin for this machine: %s", o.Plugin, oneLine(err.Error()))
	}
	client, err := plugin.plugin.NewClient(o.Client)
	if err != nil {
		return nil, wrap("no device for "+o.Name, err)
	}
	devices := client.AddressableDevices()
	if o.Device >= len(devices) {
		client.Destroy()
		return nil, fmt.Errorf("pjrt: no device %d: %s has %d, counted from 0", o.Device, filepath.Base(o.Plugin), len(devices))
	}
	b := &pjrtBackend{options: o, plugin: plugin, client: client, target: devices[o.Device]}
	b.shared = kind(client.Platform()) == machine.CPU
	b.device = o.Host
	if b.device.Key == "" {
		b.device = describe(client.Platform(), chipName(client.Platform(), plugin.deviceKind(b.target), client.PlatformVersion()))
	}
	return b, nil
}

// Name is the word of --backend.
func (b *pjrtBackend) Name() string { return b.options.Name }

// Plugin is the file of the plugin, and its version or else that of its interface.
func (b *pjrtBackend) Plugin() (name, version string) {
	name = strings.TrimSuffix(filepath.Base(b.options.Plugin), ".so")
	if version = b.options.Version; version == "" {
		major, minor := b.client.Plugin().Version()
		version = fmt.Sprintf("PJRT %d.%d", major, minor)
	}
	return name, version
}

// Device is the chip, as the table has it.
func (b *pjrtBackend) Device() machine.Device { return b.device }

// Solve compiles XLA's own way to compute a problem, or the given program.
func (b *pjrtBackend) Solve(ctx context.Context, spec backend.ProblemSpec) (backend.Executable, error) {
	if spec.Mesh != "" {
		return b.sharded(ctx, spec)
	}
	launch, err := solution(spec)
	if err != nil {
		return nil, refused(err)
	}
	var limit hlo.Options
	if b.device.Kind == machine.TPU { // elsewhere compile refuses it
		if limit, err = libtpu.VMEMLimit(spec.Params.VMEMBytes); err != nil {
			return nil, fmt.Errorf("pjrt: %w", err)
		}
	}
	return b.compile(ctx, launch, float64(spec.Problem.FLOPs()), spec.Params, limit)
}

// Compile compiles kernels for a TPU or a GPU; for others, what programs mean.
func (b *pjrtBackend) Compile(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	launch, err := launchOf(b.device, programs, params)
	if err != nil {
		return nil, err
	}
	return b.compile(ctx, launch, flopsOf(programs), params, nil)
}

// compile compiles a launch under what params ask for and what is asked of the compiler besides.
func (b *pjrtBackend) compile(ctx context.Context, launch *stablehlo.Launch, flops float64, params backend.Params, asked hlo.Options) (backend.Executable, error) {
	if b.closed {
		return nil, errClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	how, err := b.options.how(params, b.device.Kind)
	if err != nil {
		return nil, err
	}
	e := &executable{backend: b, launch: launch, method: how.method, sets: 1}
	var need int64
	for i, a := range slices.Concat(launch.In, launch.Out) {
		_, ok := bufferTypes[a.Dtype]
		if operand := i < len(launch.In); a.Dtype.Bits() == 4 && operand && !b.shared { // which transfer writes
			ok = true
		}
		if !ok {
			return nil, fmt.Errorf("pjrt: array %s of %s: no such buffers: %w", a.Name, a.Dtype, backend.ErrUnsupported)
		}
		need += bytesOf(a)
	}
	if b.device.Kind == machine.GPU {
		e.sets, e.operands = 1, inL2
		if sets := setsOf(b.device, need); how.turns && sets > 0 && !b.shared {
			e.sets, e.operands = sets, OperandsHBM
		}
	}
	if limit := b.device.MemoryBytes; limit.Known() && need > int64(limit.Value) {
		return nil, fmt.Errorf("pjrt: %w", &backend.TooBigError{What: "memory", Needed: need, Limit: int64(limit.Value)})
	}
	if launch.Whole() {
		e.method = Wall
	}
	text := module(launch, e.method, together(b.device, flops), e.sets)
	e.program.compile = func() error { return e.build(text, how.options, asked) }
	if err := e.program.compile(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return b.running(launch.In, launch.Out, e), nil
}

// build compiles the program with options, without those that this compiler does not know, and
// with what is asked of it, known or not; and reads where it keeps the arrays.
func (e *executable) build(text string, options, asked hlo.Options) error {
	b, what := e.backend, "compile "+e.launch.Name
	b.plugin.mu.Lock()
	defer b.plugin.mu.Unlock()
	b.plugin.options = append(hlo.Overrides(options), hlo.Overrides(asked)...)
	defer func() { b.plugin.options = nil }()
	var err error
	if e.program.LoadedExecutable, err = b.client.Compile().WithStableHLO([]byte(text)).Done(); unknownOption(err, options) {
		b.plugin.options = hlo.Overrides(asked)
		e.program.LoadedExecutable, err = b.client.Compile().WithStableHLO([]byte(text)).Done()
	}
	if err != nil && b.device.Kind == machine.TPU {
		return wrapTPU(what, err)
	} else if err != nil {
		return wrap(what, err)
	}
	if whole := e.launch.Whole(); whole || b.device.Kind == machine.TPU {
		m, err := hlo.Read(b.plugin.optimized())
		if err == nil && b.device.Kind == machine.TPU {
			e.operands = operandsOf(m)
		}
		if whole && err == nil {
			err = fits(e.launch, m)
		}
		if whole && err != nil {
			return errors.Join(err, e.program.close())
		}
	}
	return nil
}

func bytesOf(a problem.Operand) int64 { return a.Dtype.Bytes(tile.Elements(a.Shape)) }

// Close destroys the client. Its executables must be closed before.
func (b *pjrtBackend) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	return wrap("close", b.client.Destroy())
}
