package matladder

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/tile"
)

// MaxRank is how many dimensions a tensor may have.
const MaxRank = 8

// Tensor is a view of memory that its maker owns: a dtype, a shape, strides. It is a plain
// value, and making one copies and allocates nothing. What is wrong with one the call tells
// that gets it, naming the argument.
type Tensor struct {
	form
	data   []byte // from the first element to the last
	packed *packed
}

// form is all of a tensor but where it lies.
type form struct {
	code           uint64 // of all else, if there is no fault and it fits; else 0
	shape, strides [MaxRank]int
	rank           int
	dtype          tile.Dtype
	fault          fault
}

// fault is what is wrong with a tensor.
type fault uint8

const (
	noFault fault = iota
	badRank
	badShape
	badLength
	badStrides
	badDtype
	unaligned
)

// Of is a slice as a tensor of a shape, the last dimension fastest: Of(xs, 2, 3) has rows
// of three. The slice has just as many elements; of Int4x2, half as many. Of(xs) has one
// element and no dimension.
func Of[T Element](data []T, shape ...int) Tensor { return whole(dtypeOf[T](), bytesOf(data), shape) }

// Strided is a slice as a tensor whose elements lie apart: by strides[i] elements along dimension
// i. The slice begins with the first element and reaches to the last or beyond. Rows that lie apart
// (strides ld, 1) are read and written where they are; elements that do are copied by each call.
func Strided[T Element](data []T, shape, strides []int) Tensor {
	t := view(dtypeOf[T](), bytesOf(data), shape)
	if t.fault != noFault {
		return t
	}
	if len(strides) != t.rank || t.dtype.Bits()%8 != 0 {
		t.fault = badStrides
		return t
	}
	t.strides = [MaxRank]int{}
	last, size := 0, t.dtype.Bits()/8
	for i, s := range strides {
		n := t.shape[i] - 1
		if s < 0 || n > 0 && s > (len(t.data)/size-last)/n {
			t.fault = badStrides
			return t
		}
		t.strides[i] = s
		last += n * s
	}
	if (last+1)*size > len(t.data) {
		t.fault = badStrides
		return t
	}
	t.data = t.data[:(last+1)*size]
	t.encode()
	return t
}

// Make is a new tensor of zeros with its memory, which begins where a cache line does and
// is on large pages if it is large: what is read and written fastest. The slice is nil
// where the shape makes no sense.
func Make[T Element](shape ...int) ([]T, Tensor) {
	t := view(dtypeOf[T](), nil, shape)
	if t.fault != noFault {
		return nil, t
	}
	t.data = cpu.Buffer(int(t.dtype.Bytes(t.elements())))
	t.encode()
	var x T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.data))), len(t.data)/int(unsafe.Sizeof(x))), t
}

// FromTile is a tensor of package tile.
func FromTile(x tile.Tensor) Tensor { return whole(x.Dtype, x.Data, x.Shape) }

// whole is data as a tensor without gaps, of just as many elements.
func whole(d tile.Dtype, data []byte, shape []int) Tensor {
	t := view(d, data, shape)
	if t.fault == noFault && int64(len(t.data)) != t.dtype.Bytes(t.elements()) {
		t.fault = badLength
	}
	t.encode()
	return t
}

// mostBytes is more than any tensor has.
const mostBytes = 1 << 46

// view is data as a tensor without gaps, its length not looked at.
func view(d tile.Dtype, data []byte, shape []int) Tensor {
	t := Tensor{form: form{dtype: d, rank: len(shape)}, data: data}
	if len(shape) > MaxRank {
		t.rank, t.fault = MaxRank, badRank
		return t
	}
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		t.shape[i], t.strides[i] = shape[i], n
		if shape[i] < 1 || shape[i] > mostBytes/n {
			t.fault = badShape
			continue
		}
		n *= shape[i]
	}
	switch bytes := uintptr(d.Bits() / 8); {
	case d == tile.InvalidDtype || int(d) > int(tile.Int4) || d == tile.Bool:
		t.fault = badDtype
	case bytes > 1 && uintptr(unsafe.Pointer(unsafe.SliceData(data)))%bytes != 0:
		t.fault = unaligned
	}
	return t
}

// encode sets the code: the dtype, the rank, whether there are gaps, the sizes, and the
// strides if there are gaps, in as many bits each as there are for so many.
func (f *form) encode() {
	if f.fault != noFault {
		return
	}
	numbers, gaps := f.rank, uint64(0)
	for i, n := f.rank-1, 1; i >= 0; i-- {
		if f.strides[i] != n {
			numbers, gaps = 2*f.rank, 1
		}
		n *= f.shape[i]
	}
	const head = 9 // 4 bits for each of dtype and rank, 1 for gaps
	bits := (64 - head) / max(1, numbers)
	code, beyond := uint64(0), 0
	for _, n := range f.shape[:f.rank] {
		code, beyond = code<<bits|uint64(n), beyond|n>>bits
	}
	for _, n := range f.strides[:numbers-f.rank] {
		code, beyond = code<<bits|uint64(n), beyond|n>>bits
	}
	if beyond == 0 {
		f.code = code<<head | uint64(f.dtype)<<5 | uint64(f.rank)<<1 | gaps
	}
}

// Dtype is the type of an element.
func (t Tensor) Dtype() tile.Dtype { return t.dtype }

// Shape is a copy of the shape.
func (t Tensor) Shape() []int { return slices.Clone(t.shape[:t.rank]) }

// String is the dtype and the shape: float32[2, 3].
func (t Tensor) String() string {
	return t.dtype.String() + "[" + strings.ReplaceAll(strings.Trim(fmt.Sprint(t.shape[:t.rank]), "[]"), " ", ", ") + "]"
}

func (t *Tensor) elements() int64 { return tile.Elements(t.shape[:t.rank]) }

// sameTensors reports whether two lists are the same views of the same memory.
func sameTensors(a, b []Tensor) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].is(&b[i]) {
			return false
		}
	}
	return true
}

// is looks at three words where forms have codes.
func (t *Tensor) is(u *Tensor) bool {
	return t.code == u.code && unsafe.SliceData(t.data) == unsafe.SliceData(u.data) && t.packed == u.packed &&
		(t.code != 0 || t.form == u.form && len(t.data) == len(u.data))
}

// complaint is what is wrong with a tensor on its own; "" for nothing.
func (t *Tensor) complaint() string {
	switch t.fault {
	case badRank:
		return fmt.Sprintf("has more than %d dimensions", MaxRank)
	case badShape:
		return t.String() + ": each size must be at least 1, and all together fit memory"
	case badLength:
		return fmt.Sprintf("%s has %d bytes, its slice %d", t.String(), t.dtype.Bytes(t.elements()), len(t.data))
	case badStrides:
		return t.String() + ": strides: want one of at least 0 for each dimension, none that leads beyond the slice, and elements of whole bytes"
	case badDtype:
		return "no arrays of dtype " + t.dtype.String()
	case unaligned:
		return t.String() + " begins where no element may: its address is no multiple of an element's size"
	}
	return ""
}

// A layout is how the elements of a tensor lie.
type layout uint8

const (
	dense      layout = iota // without gaps
	rowStrided               // each row, along the last dimension, without gaps
	scattered
)

// lies says how.
func (t *Tensor) lies() layout {
	if t.rank == 0 {
		return dense
	}
	n, kind, row := 1, dense, t.shape[t.rank-1]
	for i := t.rank - 1; i >= 0; i-- {
		if t.shape[i] == 1 { // its stride is never taken
			continue
		}
		switch s := t.strides[i]; {
		case s == n:
		case i == t.rank-1 || s < row:
			return scattered
		default:
			kind = rowStrided
		}
		n *= t.shape[i]
	}
	return kind
}

// packed is an input as Program.Prepack laid it out.
type packed struct {
	variant *variant
	input   int
	backend.Packed
}

// PackedBytes is the memory of what Program.Prepack made of a tensor; 0 of others.
func (t Tensor) PackedBytes() int64 {
	if t.packed == nil {
		return 0
	}
	return t.packed.Bytes()
}
