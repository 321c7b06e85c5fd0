package memory

import "unsafe"

// hugePage is the size of the large pages of amd64 and arm64.
const hugePage = 2 << 20

// NewBuffer returns n zeroed bytes on a boundary of a cache line; many are on large pages,
// where the system has them.
func NewBuffer(n int) []byte {
	boundary := CacheLine
	if n >= 2*hugePage && AsksForHugePages {
		boundary = hugePage
	}
	b := make([]byte, n+boundary)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(boundary-1))
	b = b[off : off+n : off+n]
	if boundary == hugePage {
		adviseHuge(b[:n/hugePage*hugePage])
	}
	return b
}
