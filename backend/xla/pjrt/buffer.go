//go:build linux && cgo

package pjrt

import (
	"unsafe"

	"matladder/problem"
	"matladder/tile"

	"github.com/gomlx/compute/dtypes"
	binding "github.com/gomlx/go-xla/pjrt"
)

// bufferTypes are the types of arrays whose bytes a plugin takes as they are.
var bufferTypes = map[tile.Dtype]dtypes.DType{
	tile.Float32: dtypes.Float32, tile.BFloat16: dtypes.BFloat16, tile.Float16: dtypes.Float16,
	tile.Float8E4M3FN: dtypes.F8E4M3FN, tile.Float8E5M2: dtypes.F8E5M2, tile.Float8E8M0FNU: dtypes.Uint8,
	tile.Int32: dtypes.Int32, tile.Int8: dtypes.Int8, tile.Uint8: dtypes.Uint8,
}

// buffer is an array in the memory of the device. Where that is the host's, view
// is the array itself.
type buffer struct {
	*binding.Buffer
	view tile.Tensor
	raw  unsafe.Pointer // memory that is to be freed after the buffer; nil for none
}

// newInput allocates an input that host and device share.
func (b *pjrtBackend) newInput(a problem.Operand) (*buffer, error) {
	n := bytesOf(a)
	raw := binding.AlignedAlloc(uintptr(max(n, 1)), binding.BufferAlignment)
	h, err := b.client.CreateViewOfDeviceBuffer(raw, bufferTypes[a.Dtype], a.Shape, b.target)
	if err != nil {
		binding.AlignedFree(raw)
		return nil, wrap("allocate "+a.Name, err)
	}
	return &buffer{Buffer: h, raw: raw, view: tile.Tensor{Dtype: a.Dtype, Shape: a.Shape, Data: unsafe.Slice((*byte)(raw), n)}}, nil
}

// transfer copies an array to the device.
func (b *pjrtBackend) transfer(name string, t tile.Tensor) (*buffer, error) {
	data, typ := t.Data, bufferTypes[t.Dtype]
	if t.Dtype.Bits() == 4 {
		data, typ = apart4(t), dtypes.Int4
	}
	h, err := b.client.BufferFromHost().FromRawData(data, typ, t.Shape).ToDevice(b.target).Done()
	if err != nil {
		return nil, wrap("transfer "+name, err)
	}
	return &buffer{Buffer: h}, nil
}

// apart4 is an array of int4, or of float4 whose codes these bits are, as a plugin takes it from its host: a byte for each. On the
// device two share a byte, or do not, as the plugin likes.
func apart4(t tile.Tensor) []byte {
	data := make([]byte, tile.Elements(t.Shape))
	for i := range data {
		data[i] = byte(int8(t.Data[i/2]>>(4*(i%2))<<4) >> 4)
	}
	return data
}

// scalar is an int32 on the device.
func (b *pjrtBackend) scalar(n int) (*buffer, error) {
	t := tile.NewTensor(tile.Int32)
	t.Set(0, float64(n))
	return b.transfer("the number of launches", t)
}

// read copies an array from the device into t.
func (b *buffer) read(name string, t tile.Tensor) error {
	return wrap("transfer "+name, b.ToHost(t.Data))
}

// look returns the array for reading: itself where the memory is shared, else a copy.
func (b *buffer) look(a problem.Operand, shared bool) (tile.Tensor, error) {
	if b.view.Data != nil {
		return b.view, nil
	}
	if shared {
		p, err := b.UnsafePointer()
		if err != nil {
			return tile.Tensor{}, wrap("read "+a.Name, err)
		}
		return tile.Tensor{Dtype: a.Dtype, Shape: a.Shape, Data: unsafe.Slice((*byte)(p), bytesOf(a))}, nil
	}
	t := tile.NewTensor(a.Dtype, a.Shape...)
	return t, b.read(a.Name, t)
}

// free destroys the buffer and its memory; nil is nothing to free.
func (b *buffer) free() error {
	if b == nil {
		return nil
	}
	err := b.Destroy()
	if b.raw != nil {
		binding.AlignedFree(b.raw)
		b.raw = nil
	}
	return wrap("free", err)
}
