package gemm

import (
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A streamKernel multiplies few rows of a by a b that is not packed, one row of a
// after another, reading rows of b from end to end.
type streamKernel[C Sum] struct {
	run  stream[C] // nil if there is none, and all is 0
	pays int       // rows of a up to which it is faster than the direct tile
	// words fills those of one row of a for streamRows elements of k, whose words lie apart from
	// step to step.
	words func(dst *[streamRows]uint32, a []uint32, apart int)
}

// A stream computes cols columns, a multiple of sixteen, of the product of one
// row of a by streamRows rows of b, ldb bytes apart, for a in words of as many
// elements of k as a multiplication has:
//
//	for j := range cols {
//		s := 0
//		for l := range words { // streamRows, or half as many pairs
//			s += dot(a[l], word(b[(l*KU)*ldb+j], …))
//		}
//		if accumulate {
//			s += c[j]
//		}
//		c[j] = s
//	}
//
// after is an address only, whose rows it asks for at the end of its own. Machines with wider
// vectors use those of AVX2 as well: it is memory that they wait for.
type stream[C Sum] func(c *C, a *uint32, b unsafe.Pointer, ldb, cols int, after uintptr, accumulate bool)

const (
	streamRows    = 8
	streamColumns = 16
	// streamBytes of b stay in L1 while the rows of a take turns.
	streamBytes = 16 << 10
)

// inStreams multiplies what whole streams there are: k elements of the rows of a by n columns.
func (x *directBlock[S, C]) inStreams(n, k int) {
	x.kernel.spoil()
	piece := n
	if x.m > 1 {
		piece = streamBytes / streamRows / memory.Size[S]()
	}
	for l := 0; l < k; l += streamRows {
		for j := 0; j < n; j += piece {
			from, after := at(x.b, l*x.ldb+j), unsafe.Pointer(unsafe.SliceData(x.b))
			switch {
			case j+piece < n:
				after = at(x.b, l*x.ldb+j+piece)
			case l+streamRows < k:
				after = at(x.b, (l+streamRows)*x.ldb)
			}
			for i := range x.m {
				apart := x.a.step / wordBytes
				words := span(offset(x.a.at(i/x.MR, l/x.KU), i%x.MR*x.a.row), (streamRows/x.KU-1)*apart+1)
				x.stream.words(&x.work.words, words, apart)
				x.stream.run(&x.c[i*x.ldc+j], &x.work.words[0], from, x.ldb*memory.Size[S](), min(piece, n-j), uintptr(after), x.accumulate || l > 0)
			}
		}
	}
}

// asTheyAre are the words of a stream that multiplies as many as those packed for
// streamRows elements: pairs are half of them.
func asTheyAre(words int) func(dst *[streamRows]uint32, a []uint32, apart int) {
	return func(dst *[streamRows]uint32, a []uint32, apart int) {
		for i := range words {
			dst[i] = a[i*apart]
		}
	}
}

// wordsOfPairs widens pairs of bfloat16 to words of float32.
func wordsOfPairs(dst *[streamRows]uint32, a []uint32, apart int) {
	for i := range streamRows / 2 {
		pair := a[i*apart]
		dst[2*i], dst[2*i+1] = pair<<16, pair&^0xffff
	}
}

// pairsOfQuads widens quads of bytes to pairs of int16.
func pairsOfQuads(dst *[streamRows]uint32, a []uint32, apart int) {
	wide := func(b uint32) uint32 { return uint32(uint16(int8(b))) }
	for i := range streamRows / 4 {
		q := a[i*apart]
		dst[2*i] = wide(q) | wide(q>>8)<<16
		dst[2*i+1] = wide(q>>16) | wide(q>>24)<<16
	}
}
