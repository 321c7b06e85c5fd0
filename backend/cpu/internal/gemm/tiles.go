package gemm

import (
	"unsafe"

	"matladder/backend/cpu/internal/amx"
	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/probe"
	"matladder/internal/bfloat16"
)

// Shape of a kernel on AMX tiles: 2×2 tiles of sums, each 16×16; a step is a
// whole row of a tile of a, 64 bytes.
const (
	tilesMR, tilesNR = pack.TileLanes, pack.TileLanes
	tilesWords       = pack.TileWords
)

// A strip is one column of register tiles, cols ≤ NR wide, over steps ≥ 1 steps of panels of a,
// whole but for the last one's rows, and of one panel of b. Rows, panels and steps lie as many
// bytes apart as said; rows of a tile of b follow each other.
//
// A kernel for strips computes
//
//	for i := range rows {
//		for j := range cols {
//			s := 0
//			if accumulate {
//				s = sum[i, j]
//			}
//			for l := range steps {
//				for w := range Words {
//					s += dot(a[i, l*Words+w], b[l*Words+w, j])
//				}
//			}
//			c[i, j] = s
//		}
//	}
//
// The order of additions within a step is the kernel's. While it computes it
// asks for memory to be brought into the L2 cache: each step for four lines from
// nextB on, one after the other, and for two from nextA on, those of the next
// step aheadA bytes further. They are addresses only, never read.
//
// With a stream, the sums of a whole panel are left in sum, where rows follow each other, and
// written to c while the next panel is computed. Those of the last one stay there: the caller hands
// them to the next strip as copy and copyTo, or to flushSums. Columns of c are a whole panel then,
// and its rows lie on whole cache lines; rows that are no whole panel come to c at once, as they
// are. Denormal numbers that are rounded count as zero.
//
// From one panel to the next sum moves by sumPanel and sumAfter bytes in turn, and
// what by says of rows by those of a panel.
//
// Assembly knows the places of all fields but rows and cols.
type strip[C Sum] struct {
	config              amx.Config // of a kernel; the caller leaves it
	sum                 *C
	sumRow, sumPanel    int
	c                   *C
	row, panel          int
	a                   *uint32
	rowA, stepA, panelA int
	b                   *uint32
	steps, panels       int
	nextA, nextB        uintptr
	aheadA              int
	sumAfter            int
	copy, copyTo        *C
	at                  [7]uintptr // of a kernel
	tall, wide          bool       // shapes of tiles, as config has them
	accumulate          bool
	stream              streaming
	by, copyBy          scaling // of the sums of this strip, and of those at copy
	atBy                [3]uintptr

	rows, cols int
}

// A scaling is what sums are multiplied by and what is added, for streams that
// scale: of each row two factors, one for before those of columns and one for after; of 32
// columns their factors, and then what is added.
type scaling struct{ rows, columns *float32 }

// A streaming is a way for the sums of whole panels to come to c. Behind each by non-temporal
// stores is the same without.
type streaming uint8

const (
	streamNot              streaming = iota // as they are, at once
	streamSums                              // by non-temporal stores
	streamCopied                            // as they are
	streamNarrowPast                        // rounded to bfloat16, by non-temporal stores; c is of bfloat16
	streamNarrow                            // rounded to bfloat16
	streamScaledPast                        // scaled, by non-temporal stores; c is of float32
	streamScaled                            // scaled
	streamScaledNarrowPast                  // scaled and rounded to bfloat16, by non-temporal stores
	streamScaledNarrow                      // scaled and rounded to bfloat16
)

func (s streaming) scales() bool { return s >= streamScaledPast }

func (s streaming) narrows() bool {
	return s == streamNarrowPast || s == streamNarrow || s >= streamScaledNarrowPast
}

// A strips computes a strip.
type strips[C Sum] func(x *strip[C])

// flushSums writes the sums that a strip has left.
func flushSums[C Sum](from, to *C, row int, way streaming, by scaling) {
	if from == nil {
		return
	}
	for i := range tilesMR {
		sums, dst := span(offset(from, i*tileRow), tilesNR), offset(to, i*row)
		if way == streamSums || way == streamCopied {
			copy(span(dst, tilesNR), sums)
			continue
		}
		for j, s := range sums {
			x := float32(s)
			if way.scales() {
				x = by.of(x, i, j)
			}
			if way.narrows() {
				*(*uint16)(unsafe.Pointer(offset(to, i*row+j*memory.Size[uint16]()))) = narrow(x)
			} else {
				*(*float32)(unsafe.Pointer(offset(dst, j*wordBytes))) = x
			}
		}
	}
}

// of scales the sum s of row i and column j. The conversions round, so that no
// compiler adds what is not rounded.
func (by scaling) of(s float32, i, j int) float32 {
	s = float32(s * *offset(by.rows, 2*i*wordBytes))
	s = float32(s * *offset(by.columns, j*wordBytes))
	s = float32(s * *offset(by.rows, (2*i+1)*wordBytes))
	return s + *offset(by.columns, (tilesNR+j)*wordBytes)
}

// narrow rounds to the bits of a bfloat16 as VCVTNE2PS2BF16 does: to nearest, ties
// to even, denormal numbers to zero.
func narrow(x float32) uint16 { return bfloat16.Round(flush(x)) }

// tilesBlocking keeps a run of sixteen steps of a panel of b, 32 KiB, in L1 while
// panels of a come from L2; runs twice as deep or pieces of a twice as large
// were 10 to 20 % slower on the processor that this was measured on.
func tilesBlocking(host probe.HostInfo) blocking {
	return blocking{steps: 16, bytes: min(hostBlocking(host).bytes, 256<<10), work: 512 << 10}
}

// tilesDirectRows is the number of rows of a up to which a b that is read
// where it lies by vectors beats one packed for tiles, as measured: tiles multiply
// several times as fast as vectors, so packing pays sooner than for them.
const tilesDirectRows = 4
