package memory

import "unsafe"

// View reinterprets memory that is aligned for T.
func View[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/Size[T]())
}

// BytesOf is the memory of x.
func BytesOf[T any](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*Size[T]())
}

// Fill sets all of x to v, in copies that double.
func Fill[T any](x []T, v T) {
	if len(x) == 0 {
		return
	}
	x[0] = v
	for n := 1; n < len(x); n *= 2 {
		copy(x[n:], x[:n])
	}
}

// Size is the bytes of a T.
func Size[T any]() int {
	var x T
	return int(unsafe.Sizeof(x))
}
