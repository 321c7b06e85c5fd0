package tile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"matladder/internal/each"
	"matladder/internal/float16"
)

// Tensor is a dense row-major matrix or array in host memory, little-endian.
// Elements of four bits are packed two to a byte, the first in the low nibble, over the
// whole array without padding at row ends. The caller owns Data.
type Tensor struct {
	Dtype Dtype
	Shape []int
	Data  []byte
}

// tensorAlign is the alignment of fresh tensors: a cache line and an AVX-512 register.
const tensorAlign = 64

// NewTensor returns a tensor of zeros whose data starts on a 64-byte boundary.
func NewTensor(d Dtype, shape ...int) Tensor {
	n := d.Bytes(Elements(shape))
	buf := make([]byte, n+tensorAlign)
	off := -uintptr(unsafe.Pointer(&buf[0])) & (tensorAlign - 1)
	return Tensor{Dtype: d, Shape: append([]int(nil), shape...), Data: buf[off : int64(off)+n : int64(off)+n]}
}

// Elements returns the product of the dimensions; 1 for a scalar.
func Elements(shape []int) int64 {
	n := int64(1)
	for _, s := range shape {
		n *= int64(s)
	}
	return n
}

// Len returns the number of elements.
func (t Tensor) Len() int { return int(Elements(t.Shape)) }

// Matches returns an error unless the tensor has the dtype, shape and number of
// bytes of the array that r stands for.
func (t Tensor) Matches(r *Ref) error {
	if t.Dtype != r.Dtype || !slices.Equal(t.Shape, r.Array) {
		return fmt.Errorf("%s: have %s[%s], want %s[%s]", r.Name, t.Dtype, shapeString(t.Shape), r.Dtype, shapeString(r.Array))
	}
	if want := r.Dtype.Bytes(Elements(r.Array)); int64(len(t.Data)) != want {
		return fmt.Errorf("%s: have %d bytes, want %d", r.Name, len(t.Data), want)
	}
	return nil
}

// Float32s views the data of a float32 tensor.
func (t Tensor) Float32s() []float32 { return view[float32](t, Float32) }

// Int32s views the data of an int32 tensor.
func (t Tensor) Int32s() []int32 { return view[int32](t, Int32) }

// Int8s views the data of an int8 tensor.
func (t Tensor) Int8s() []int8 { return view[int8](t, Int8) }

// BFloat16s views the data of a bfloat16 tensor as raw bits.
func (t Tensor) BFloat16s() []uint16 { return view[uint16](t, BFloat16) }

func view[T any](t Tensor, d Dtype) []T {
	if t.Dtype != d {
		panic(fmt.Sprintf("tile: %s view of a %s tensor", d, t.Dtype))
	}
	if len(t.Data) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(&t.Data[0])), len(t.Data)/int(unsafe.Sizeof(zero)))
}

// At returns element i (row-major) as a float64, exactly.
func (t Tensor) At(i int) float64 {
	switch t.Dtype {
	case Float32:
		return float64(*(*float32)(unsafe.Pointer(&t.Data[4*i])))
	case BFloat16:
		return float64(math.Float32frombits(uint32(*(*uint16)(unsafe.Pointer(&t.Data[2*i]))) << 16))
	case Float16:
		return float64(float16.Widen(*(*uint16)(unsafe.Pointer(&t.Data[2*i]))))
	case Float8E4M3FN, Float8E5M2, Float8E8M0FNU:
		return codeValues[t.Dtype][t.Data[i]]
	case Float4E2M1FN:
		return codeValues[t.Dtype][t.Data[i/2]>>(4*(i%2))&0xF]
	case Int32:
		return float64(*(*int32)(unsafe.Pointer(&t.Data[4*i])))
	case Int8:
		return float64(int8(t.Data[i]))
	case Uint8:
		return float64(t.Data[i])
	case Int4:
		return float64(int8(t.Data[i/2]>>(4*(i%2))<<4) >> 4)
	}
	panic("tile: At on a tensor of " + t.Dtype.String())
}

// Decode sets dst to every stride-th element of t, from element start on, exactly.
func (t Tensor) Decode(dst []float64, start, stride int) {
	switch {
	case t.Dtype == Float32 && stride == 1:
		for i, v := range t.Float32s()[start : start+len(dst)] {
			dst[i] = float64(v)
		}
	case t.Dtype == BFloat16 && stride == 1:
		for i, v := range t.BFloat16s()[start : start+len(dst)] {
			dst[i] = float64(math.Float32frombits(uint32(v) << 16))
		}
	case t.Dtype == Int8 && stride == 1:
		for i, v := range t.Int8s()[start : start+len(dst)] {
			dst[i] = float64(v)
		}
	case t.Dtype == Int32 && stride == 1:
		for i, v := range t.Int32s()[start : start+len(dst)] {
			dst[i] = float64(v)
		}
	default:
		for i := range dst {
			dst[i] = t.At(start + i*stride)
		}
	}
}

// Floats returns all elements, exactly.
func (t Tensor) Floats() []float64 {
	x := make([]float64, t.Len())
	t.Decode(x, 0, 1)
	return x
}

// Set rounds v to the tensor's dtype and stores it as element i (row-major).
func (t Tensor) Set(i int, v float64) {
	v = t.Dtype.Round(v)
	switch t.Dtype {
	case Float32:
		t.Float32s()[i] = float32(v)
	case BFloat16:
		t.BFloat16s()[i] = bfloat16Bits(v)
	case Float16:
		*(*uint16)(unsafe.Pointer(&t.Data[2*i])) = float16.Round(float32(v))
	case Float8E4M3FN, Float8E5M2:
		t.Data[i] = narrowBits(t.Dtype, v)
	case Float8E8M0FNU:
		t.Data[i] = 0xFF
		if v == v {
			t.Data[i] = byte(math.Ilogb(v) + 127)
		}
	case Float4E2M1FN:
		t.setNibble(i, narrowBits(t.Dtype, v))
	case Int32:
		t.Int32s()[i] = int32(v)
	case Int8:
		t.Data[i] = byte(int8(v))
	case Uint8:
		t.Data[i] = byte(v)
	case Int4:
		t.setNibble(i, byte(int8(v))&0xF)
	default:
		panic("tile: Set on a tensor of " + t.Dtype.String())
	}
}

// Code returns the bits of d nearest to x, of a float of at most 8 bits.
func (d Dtype) Code(x float64) byte {
	t := Tensor{Dtype: d, Data: []byte{0}}
	t.Set(0, x)
	return t.Data[0]
}

// Value returns the number of a code of d, a float of at most 8 bits.
func (d Dtype) Value(code byte) float64 { return codeValues[d][code] }

func (t Tensor) setNibble(i int, code byte) {
	shift := 4 * (i % 2)
	t.Data[i/2] = t.Data[i/2]&^(0xF<<shift) | code<<shift
}

// SetAll rounds values and stores them as the elements from i on.
func (t Tensor) SetAll(i int, values []float64) {
	switch t.Dtype {
	case Float32:
		data := t.Float32s()[i:][:len(values)]
		for j, v := range values {
			data[j] = float32(v)
		}
	case BFloat16:
		f, data := &floatFormats[BFloat16], t.BFloat16s()[i:][:len(values)]
		for j, v := range values {
			data[j] = bfloat16Bits(f.round(v))
		}
	case Int8, Uint8:
		for j, v := range values {
			t.Data[i+j] = byte(int(t.Dtype.Round(v)))
		}
	default:
		for j, v := range values {
			t.Set(i+j, v)
		}
	}
}

// bfloat16Bits returns the upper half of v as a float32, which must be a value of bfloat16.
func bfloat16Bits(v float64) uint16 {
	bits := math.Float32bits(float32(v))
	if v != v {
		bits |= 1 << 22 // keep a NaN a NaN when its low half is dropped
	}
	return uint16(bits >> 16)
}

// codeValues holds the value of each code of the floats of up to 8 bits.
var codeValues = [...][]float64{
	Float8E4M3FN:  decodeCodes(Float8E4M3FN, 0x7F, 0x7F),
	Float8E5M2:    decodeCodes(Float8E5M2, 0x7C, 0x7D),
	Float4E2M1FN:  decodeCodes(Float4E2M1FN, 8, 8),
	Float8E8M0FNU: powersOfTwo(),
}

// decodeCodes takes codes apart: a sign bit, an exponent, a mantissa. Codes
// without a sign bit from infinity on are infinite, from nan on NaN.
func decodeCodes(d Dtype, infinity, nan int) []float64 {
	half, f := 1<<(d.Bits()-1), floatFormats[d]
	v := make([]float64, 2*half)
	for c := range half {
		man, exp := c&(1<<f.mantissa-1), c>>f.mantissa
		x := math.Ldexp(float64(man+1<<f.mantissa), exp-1+f.minExp-f.mantissa)
		switch {
		case c >= nan:
			x = math.NaN()
		case c >= infinity:
			x = math.Inf(1)
		case exp == 0:
			x = math.Ldexp(float64(man), f.minExp-f.mantissa)
		}
		v[c], v[c+half] = x, math.Copysign(x, -1)
	}
	return v
}

func powersOfTwo() []float64 {
	v := each.Upto(256, func(c int) float64 { return math.Ldexp(1, c-127) })
	v[255] = math.NaN()
	return v
}

// narrowBits returns the code of v, which must be a value of d, float8 with a sign or float4. The
// last code of float8 without a sign bit is NaN.
func narrowBits(d Dtype, v float64) byte {
	nan := 1<<(d.Bits()-1) - 1
	sign := int(math.Float64bits(v)>>63) * (nan + 1)
	f, bits, size := &floatFormats[d], math.Float64bits(v), math.Abs(v)
	code := int(bits&^(1<<63)>>(52-f.mantissa)) - (1022+f.minExp)<<f.mantissa
	switch {
	case v != v:
		return byte(nan | sign)
	case math.IsInf(v, 0):
		code = nan >> f.mantissa << f.mantissa
	case size < math.Ldexp(1, f.minExp):
		code = int(math.Ldexp(size, f.mantissa-f.minExp))
	}
	if code > nan || codeValues[d][code] != size {
		panic(fmt.Sprintf("tile: %v is no value of %s", v, d))
	}
	return byte(code | sign)
}

func shapeString(s []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(s), " ", ", "), "[]")
}
