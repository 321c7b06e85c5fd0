package gemm

import (
	"fmt"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

const (
	wordBytes = 4
	cacheLine = memory.CacheLine
)

// words reinterprets the first n bytes of packed memory.
func words(b []byte, n int) []uint32 {
	b = first(b, n)
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), n/wordBytes)
}

// extent cuts s to the elements of a matrix whose rows are ld elements apart.
// What it lets pass is safe for routines that check nothing.
func extent[T any](s []T, rows, cols, ld int) []T {
	switch {
	case rows < 0 || cols < 0 || (rows > 1 && ld < cols):
		panic(fmt.Sprintf("gemm: %d×%d elements in rows %d apart", rows, cols, ld))
	case rows == 0 || cols == 0:
		return nil
	}
	return first(s, (rows-1)*ld+cols)
}

// nothing reports whether an m×n product over k needs no multiplication. Where k is 0 it
// zeroes the corner of c, unless it is added to.
func nothing[T any](c []T, ldc, m, n, k int, accumulate bool) bool {
	if m == 0 || n == 0 || k > 0 {
		return m == 0 || n == 0
	}
	if !accumulate {
		clearBlock(c, ldc, m, n)
	}
	return true
}

// clearBlock zeroes the m×n corner of c: the product where k is 0.
func clearBlock[T any](c []T, ldc, m, n int) {
	for i := range m {
		clear(c[i*ldc : i*ldc+n])
	}
}

// storeSums writes sums, rows of which are ld apart, to the rows×cols corner of c, or adds them.
func storeSums[C Sum](c []C, ldc int, sums []C, ld, rows, cols int, accumulate bool) {
	for i := range rows {
		to := c[i*ldc:][:cols]
		for j, v := range sums[i*ld:][:cols] {
			if accumulate {
				v += to[j]
			}
			to[j] = v
		}
	}
}

// first is s[:n], also refused where s is shorter but has the capacity.
func first[T any](s []T, n int) []T { return s[:len(s):len(s)][:n] }

// span views n elements from p on.
func span[T any](p *T, n int) []T { return unsafe.Slice(p, n) }

// at is where element i of s lies.
func at[S any](s []S, i int) unsafe.Pointer { return unsafe.Pointer(&s[i]) }

// offset is the element some bytes behind p.
func offset[T any](p *T, bytes int) *T { return (*T)(unsafe.Add(unsafe.Pointer(p), bytes)) }

// address is only that, not to be read through.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
