package aot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/internal/known"
	"matladder/lower/mosaic"
	"matladder/lower/triton"
	"matladder/machine"
	"matladder/model"
	"matladder/tile"
)

// BackendOptions say what a Backend predicts for, and what with.
type BackendOptions struct {
	Options
	Topology string // a generation: v5e
	// Cache is the folder of what libtpu said before; "" for CacheVariable's, or
	// else matladder/aot in the user's cache folder.
	Cache string
}

// Backend predicts executions on a TPU; none is used.
type Backend struct {
	compiler *Compiler
	cache    cache
	topology Topology
	target   mosaic.Target
	device   machine.Device
	noCache  error

	apart    sync.Once // opens others, which reads more of programs than compiler does
	others   *Compiler
	noOthers error
}

var (
	_ backend.Backend           = (*Backend)(nil)
	_ backend.Predictor         = (*Backend)(nil)
	_ backend.BaselinePredictor = (*Backend)(nil)
	_ backend.Plugged           = (*Backend)(nil)
)

// OpenBackend returns a backend for one generation. Errors are those of Open, and
// of a topology that is not known.
func OpenBackend(o BackendOptions) (*Backend, error) {
	b := &Backend{}
	err := b.aim(o.Topology)
	if err != nil {
		return nil, err
	}
	o.Schedules, o.Optimized = true, true
	if b.compiler, err = Open(o.Options); err != nil {
		return nil, err
	}
	b.cache, b.noCache = openCache(o.Cache, b.compiler.about("libtpu"))
	return b, nil
}

// aim takes a generation.
func (b *Backend) aim(topology string) (err error) {
	if b.topology, err = FindTopology(topology); err != nil {
		return err
	}
	if b.target, err = mosaic.FindTarget(topology); err != nil {
		return err
	}
	b.device, err = b.topology.Device()
	return err
}

// Name is aot.
func (*Backend) Name() string { return "aot" }

// Device is one device of the generation as the chip table has it.
func (b *Backend) Device() machine.Device { return b.device }

// Plugin names libtpu.
func (b *Backend) Plugin() (name, version string) {
	name = strings.TrimSuffix(filepath.Base(b.compiler.options.Library), ".so")
	return name, b.compiler.options.version
}

// Pace sets the power state of the chip, by which its clock is. The error says which are known.
func (b *Backend) Pace(state int) (err error) {
	b.device, err = b.device.InPState(state)
	return err
}

// Kept returns why outcomes are not kept on disk, nil if they are.
func (b *Backend) Kept() error { return b.noCache }

// MostVMEM is how many bytes a kernel may ask for on this generation.
func (b *Backend) MostVMEM() int64 { return b.target.VMEMBytes }

// Close ends the compiler's processes.
func (b *Backend) Close() error {
	b.apart.Do(func() {})
	if b.others != nil {
		return errors.Join(b.compiler.Close(), b.others.Close())
	}
	return b.compiler.Close()
}

// foreign is b for programs that somebody else wrote.
func (b *Backend) foreign() (*Backend, error) {
	if b.compiler.options.Foreign {
		return b, nil
	}
	b.apart.Do(func() {
		o := b.compiler.options
		o.Foreign = true
		b.others, b.noOthers = Open(o)
	})
	return &Backend{compiler: b.others, cache: b.cache, topology: b.topology, target: b.target, device: b.device}, b.noOthers
}

// Topology is a generation of TPU as libtpu and the chip table know it.
type Topology struct {
	Name   string // the generation: v5e
	Libtpu string // the smallest arrangement that libtpu compiles for
	Chip   string // key in package machine

	granule int64 // bytes: the unit in which its schedules count what a transfer moves
	split   bool  // a device is one core of a chip that the table has as one device
}

var topologies = []Topology{
	{"v4", "v4:2x2x1", "tpu_v4", 512, true},
	{"v5e", "v5e:2x2", "tpu_v5e", 32, false},
	{"v5p", "v5p:2x2x1", "tpu_v5p", 32, false},
	{"v6e", "v6e:2x2", "tpu_v6e", 32, false},
	{"v7x", "tpu7x:2x2x1", "tpu_v7x", 32, false},
}

// Device is the chip that the compiler takes one device of the topology for.
func (t Topology) Device() (machine.Device, error) {
	d, err := machine.Find(t.Chip)
	if err == nil && t.split {
		d = d.Split()
	}
	return d, err
}

// Topologies lists the generations, the oldest first.
func Topologies() []Topology { return append([]Topology(nil), topologies...) }

// FindTopology returns the generation of a name.
func FindTopology(name string) (Topology, error) {
	return known.Find("TPU topology", name, topologies, func(t Topology) string { return t.Name })
}

// CompileKernels compiles tile programs for a generation, as one launch. What lower/mosaic
// already knows not to work never reaches the compiler, whose own answer may take minutes.
func (c *Compiler) CompileKernels(ctx context.Context, topology string, programs []*tile.Program, params backend.Params) (*Compiled, error) {
	var b Backend
	if err := b.aim(topology); err != nil {
		return nil, err
	}
	launch, err := lowered(b.target, b.device, programs, params)
	if err != nil {
		return nil, err
	}
	return c.Compile(ctx, b.topology.Libtpu, launch.Module(), optionsOf(params))
}

// lowered is a launch of programs for a generation that can run them.
func lowered(target mosaic.Target, device machine.Device, programs []*tile.Program, params backend.Params) (*mosaic.Launch, error) {
	o := mosaic.Options{VMEMBytes: params.VMEMBytes}
	if params.Prefetch { // as XLA treats its own product; otherwise as Pallas would write it
		const side = 128
		if device.MXUSide == side {
			o.Pieces = side
		}
		ahead, err := model.Prefetched(programs, device.Prefetch().Apart)
		if err != nil {
			return nil, err
		}
		if ahead != nil {
			o.Prefetched = ahead.Name
		}
	}
	launch, err := mosaic.Lower(programs, o)
	if err == nil {
		err = target.Check(programs, o)
	}
	if err != nil {
		return nil, refusal(err)
	}
	return launch, nil
}

// optionsOf are those that libtpu needs for what params ask of programs. A kernel says itself
// what it may take of VMEM; what comes ahead has the rest if that is said of the whole program.
func optionsOf(params backend.Params) hlo.Options {
	if !params.Prefetch {
		return nil
	}
	options := libtpu.Prefetch()
	if limit, err := libtpu.VMEMLimit(params.VMEMBytes); err == nil { // else no block fits either
		maps.Copy(options, limit)
	}
	return options
}

// refusal is an error of lower/mosaic or lower/triton as one of package backend.
func refusal(err error) error {
	var unsupported *triton.UnsupportedError
	var big *mosaic.TooBigError // triton's too
	switch {
	case errors.As(err, &unsupported):
		return fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	case errors.As(err, &big):
		return &backend.TooBigError{What: big.What, Needed: big.Needed, Limit: big.Limit}
	}
	return err
}
