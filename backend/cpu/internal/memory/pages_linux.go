package memory

import "golang.org/x/sys/unix"

// AsksForHugePages says that adviseHuge does something.
const AsksForHugePages = true

// adviseHuge asks for large pages, which spare most misses of the translation
// buffer. It is a wish: without them all works, slower.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
