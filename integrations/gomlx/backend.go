package gomlx

import (
	"context"
	"strconv"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/notimplemented"
	"github.com/gomlx/compute/shapes"
	"github.com/pkg/errors"

	"matladder"
	"matladder/problem"
	"matladder/tile"
)

// Name is the backend's in GOMLX_BACKEND and compute.NewWithConfig.
const Name = "matladder"

func init() {
	compute.Register(Name, func(config string) (compute.Backend, error) { return New(config) })
}

// small is from how many multiplications on a product is worth a launch, and the segment of
// the graph that ends there.
const small = 32 * 32 * 32

// Backend runs on the cores of this machine. Its memory is that of gomlx's Go backend.
type Backend struct {
	compute.Backend // gomlx's own
	options         matladder.Options
	anchor          *matladder.Program // keeps the threads from one graph to the next
	small           int
}

var _ compute.Backend = (*Backend)(nil)

// New opens the backend. The configuration is a list with commas: a number is that of
// matladder's threads, one for each core if there is none; what else it has is for the Go
// backend (parallelism=2).
func New(config string) (*Backend, error) {
	b := &Backend{small: small}
	var rest []string
	for word := range strings.SplitSeq(config, ",") {
		if n, err := strconv.Atoi(word); err == nil && n > 0 {
			b.options.Threads = n
		} else {
			rest = append(rest, word)
		}
	}
	var err error
	if b.Backend, err = gobackend.New(strings.Join(rest, ",")); err != nil {
		return nil, errors.WithMessagef(err, "matladder: configuration %q: want a number of threads, or an option of gomlx's Go backend", config)
	}
	one := b.options
	one.Blocks = tile.Blocks{M: 1, K: 1, N: 1}
	if b.anchor, err = matladder.Compile(context.Background(), problem.New(1, 1, 1, tile.Float32), one); err != nil {
		return nil, errors.WithStack(err)
	}
	return b, nil
}

// Name is that of the backend.
func (*Backend) Name() string   { return Name }
func (*Backend) String() string { return Name }

// Description says what runs where.
func (b *Backend) Description() string {
	return "matladder: " + b.anchor.String() + "; " + b.Backend.Description()
}

// DeviceDescription is Description.
func (b *Backend) DeviceDescription(compute.DeviceNum) string { return b.Description() }

// Capabilities are those of the Go backend, and fused attention.
func (b *Backend) Capabilities() compute.Capabilities {
	c := b.Backend.Capabilities().Clone()
	c.Operations[compute.OpTypeFusedScaledDotProductAttention] = true
	return c
}

// Builder begins a graph.
func (b *Backend) Builder(name string) compute.Builder {
	x := &builder{Builder: notimplemented.Builder{ErrFn: missing}, backend: b, shadow: b.Backend.Builder(name), known: map[compute.Value]*node{}}
	x.main = x.function(nil, x.shadow.Main())
	return x
}

func missing(op compute.OpType) error {
	return errors.Wrapf(compute.ErrNotImplemented, "backend %s has no %s", Name, op)
}

// Finalize ends the threads. The backend is of no use then.
func (b *Backend) Finalize() {
	if !b.IsFinalized() {
		b.anchor.Close()
		b.Backend.Finalize()
	}
}

// buffer is one of the Go backend's that knows whose it is here.
type buffer struct {
	compute.Buffer
	backend *Backend
	donated bool // to an execution: its memory may be another's
}

func (x *buffer) Backend() compute.Backend { return x.backend }

// Finalize gives the memory back.
func (x *buffer) Finalize() error {
	if x.donated {
		return nil
	}
	return x.Buffer.Finalize()
}

// CopyToDevice is a copy, as there is one device.
func (x *buffer) CopyToDevice(n compute.DeviceNum) (compute.Buffer, error) {
	flat, err := x.Data()
	if err != nil {
		return nil, err
	}
	s, err := x.Shape()
	if err != nil {
		return nil, err
	}
	return x.backend.BufferFromFlatData(n, flat, s)
}

// BufferFromFlatData copies a slice.
func (b *Backend) BufferFromFlatData(n compute.DeviceNum, flat any, s shapes.Shape) (compute.Buffer, error) {
	x, err := b.Backend.BufferFromFlatData(n, flat, s)
	if err != nil {
		return nil, err
	}
	return &buffer{Buffer: x, backend: b}, nil
}

// NewSharedBuffer makes an array whose slice kernels read and write.
func (b *Backend) NewSharedBuffer(n compute.DeviceNum, s shapes.Shape) (compute.Buffer, any, error) {
	x, flat, err := b.Backend.NewSharedBuffer(n, s)
	if err != nil {
		return nil, nil, err
	}
	return &buffer{Buffer: x, backend: b}, flat, nil
}
