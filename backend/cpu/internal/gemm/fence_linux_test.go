package gemm

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenced returns n elements whose end touches a page that faults when read.
func fenced[T any](t testing.TB, n int) []T {
	page := unix.Getpagesize()
	size := n * int(unsafe.Sizeof(*new(T)))
	length := ceil(max(size, 1), page) * page
	memory, err := unix.Mmap(-1, 0, length+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(memory[length:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&memory[length-size])), n)
}
