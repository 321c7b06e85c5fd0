package gomlxbackend

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/bfloat16"
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

// Backend runs on the cores of this machine.
type Backend struct {
	notimplemented.Backend
	options matladder.Options
	anchor  *matladder.Program // keeps the threads from one graph to the next
}

var _ compute.Backend = (*Backend)(nil)

// New opens the backend. The configuration is the number of threads, or nothing: one for
// each core.
func New(config string) (*Backend, error) {
	var o matladder.Options
	if config != "" {
		n, err := strconv.Atoi(config)
		if err != nil || n < 1 {
			return nil, errors.Errorf("matladder: configuration %q: want a number of threads", config)
		}
		o.Threads = n
	}
	one := o
	one.Blocks = tile.Blocks{M: 1, K: 1, N: 1}
	anchor, err := matladder.Compile(context.Background(), problem.New(1, 1, 1, tile.Float32), one)
	if err != nil {
		return nil, errors.WithStack(err)
	}
	return &Backend{options: o, anchor: anchor}, nil
}

// Name is that of the backend.
func (*Backend) Name() string   { return Name }
func (*Backend) String() string { return Name }

// Description says what runs where.
func (b *Backend) Description() string { return "matladder: " + b.anchor.String() }

// DeviceDescription is Description.
func (b *Backend) DeviceDescription(compute.DeviceNum) string { return b.Description() }

// operations are those that graphs may have.
var operations = []compute.OpType{
	compute.OpTypeParameter, compute.OpTypeConstant, compute.OpTypeIdentity,
	compute.OpTypeDotGeneral, compute.OpTypeFusedDense, compute.OpTypeFusedScaledDotProductAttention,
}

// Capabilities are those operations, of float32 and bfloat16; lengths are int32.
func (*Backend) Capabilities() compute.Capabilities {
	c := compute.Capabilities{Operations: map[compute.OpType]bool{}, DTypes: map[dtypes.DType]bool{dtypes.Float32: true, dtypes.BFloat16: true, dtypes.Int32: true}}
	for _, op := range operations {
		c.Operations[op] = true
	}
	return c
}

// Builder begins a graph.
func (b *Backend) Builder(name string) compute.Builder {
	missing := func(op compute.OpType) error {
		return errors.Wrapf(compute.ErrNotImplemented, "backend %s has no %s", Name, op)
	}
	x := &builder{Builder: notimplemented.Builder{ErrFn: missing}, backend: b, name: name}
	x.main = &function{Function: notimplemented.Function{ErrFn: missing}, builder: x}
	return x
}

// Finalize ends the threads.
func (b *Backend) Finalize() {
	if b.anchor != nil {
		b.anchor.Close()
		b.anchor = nil
	}
}

// IsFinalized says whether that was done.
func (b *Backend) IsFinalized() bool { return b.anchor == nil }

// HasSharedBuffers is true: kernels compute on the slices.
func (*Backend) HasSharedBuffers() bool { return true }

// buffer is an array.
type buffer struct {
	backend *Backend
	shape   shapes.Shape
	flat    any
}

// NewSharedBuffer makes an array of zeros.
func (b *Backend) NewSharedBuffer(_ compute.DeviceNum, s shapes.Shape) (compute.Buffer, any, error) {
	flat, err := makeFlat(s)
	if err != nil {
		return nil, nil, err
	}
	return &buffer{b, s, flat}, flat, nil
}

// BufferFromFlatData copies a slice.
func (b *Backend) BufferFromFlatData(_ compute.DeviceNum, flat any, s shapes.Shape) (compute.Buffer, error) {
	x, to, err := b.NewSharedBuffer(0, s)
	if err != nil {
		return nil, err
	}
	return x, copyFlat(to, flat)
}

func (x *buffer) Backend() compute.Backend              { return x.backend }
func (x *buffer) Shape() (shapes.Shape, error)          { return x.shape, nil }
func (x *buffer) DeviceNum() (compute.DeviceNum, error) { return 0, nil }
func (x *buffer) Data() (any, error)                    { return x.flat, nil }
func (x *buffer) ToFlatData(flat any) error             { return copyFlat(flat, x.flat) }
func (x *buffer) Finalize() error                       { x.flat = nil; return nil }
func (x *buffer) CopyToDevice(n compute.DeviceNum) (compute.Buffer, error) {
	if n != 0 {
		return nil, errors.Errorf("matladder: no device %d", n)
	}
	return x.backend.BufferFromFlatData(0, x.flat, x.shape)
}

// makeFlat is a slice for an array.
func makeFlat(s shapes.Shape) (any, error) {
	for _, n := range s.Dimensions {
		if n < 1 {
			return nil, errors.Wrapf(compute.ErrNotImplemented, "matladder: an array of shape %s", s)
		}
	}
	switch s.DType {
	case dtypes.Float32:
		flat, _ := matladder.Make[float32](s.Size())
		return flat, nil
	case dtypes.BFloat16:
		return make([]bfloat16.BFloat16, s.Size()), nil
	case dtypes.Int32:
		return make([]int32, s.Size()), nil
	}
	return nil, errors.Wrapf(compute.ErrNotImplemented, "matladder: arrays of %s", s.DType)
}

func copyFlat(to, from any) error {
	switch to := to.(type) {
	case []float32:
		return copied(to, from)
	case []bfloat16.BFloat16:
		return copied(to, from)
	case []int32:
		return copied(to, from)
	}
	return errors.Errorf("matladder: a slice of type %T", to)
}

func copied[T any](to []T, from any) error {
	x, ok := from.([]T)
	if !ok || len(x) != len(to) {
		return errors.Errorf("matladder: have %s, want %d of %T", fmt.Sprintf("%T", from), len(to), to)
	}
	copy(to, x)
	return nil
}

// tensor views a flat slice as a program wants it.
func tensor(flat any, dims, strides []int) matladder.Tensor {
	switch x := flat.(type) {
	case []float32:
		return matladder.Strided(x, dims, strides)
	case []bfloat16.BFloat16:
		return matladder.Strided(asOurs(x), dims, strides)
	case []int32:
		return matladder.Strided(x, dims, strides)
	}
	return matladder.Tensor{}
}

// dense are the strides of an array without gaps.
func dense(dims []int) []int {
	s, n := make([]int, len(dims)), 1
	for i := range slices.Backward(dims) {
		s[i] = n
		n *= dims[i]
	}
	return s
}
