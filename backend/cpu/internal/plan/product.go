package plan

import (
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/tile"
)

// Product multiplies blocks of one pair of element types.
type Product struct {
	Name string // of its path: instruction set, register tile, format
	A, B Packing
	Sum  tile.Dtype // of the result: float32 or int32
	// Multiply is for a b that is packed, and an a that is, or that need not be where
	// ReadsA: then k is whole units.
	Multiply    func(x Call)
	ReadsA      bool
	WantsPanels func(n int, packedB bool) bool // n columns of b end with some that are slow with such an a
	Work        int                            // bytes of memory that helps it
	// Streams reports whether Call.Write makes a difference to a c whose rows are ldc
	// elements apart, the first on a cache line.
	Streams func(ldc int) bool
	// Whole is Multiply into whole panels of c, of float32, or of bfloat16 if narrow, of sums
	// that are scaled; nil if there is none.
	Whole func(x Call, narrow bool, by gemm.Scaling)
	// Unpacked multiplies by a b that is not packed. At first it takes elements as they are
	// multiplied, and, in pieces of b, also an a that is not packed where ReadsA. The passes
	// put Dots in its place where columns of b are rows of memory, or Columns where those are few
	// for rows of a as they lie (nil if the path has none), or what InPlace has for a b that lies in
	// memory as dtype inB, rows being whole numbers of so many elements, and groups of k having
	// scales or not (nil if it has none).
	Unpacked, Dots, Columns *Reader
	PaysColumns             func(m, n, k int) bool // so few are they
	InPlace                 func(inB tile.Dtype, whole int, grouped bool) *Reader
	Strips                  func(rows int) // packs b, ahead of launches of so many rows of a, as is best for these; nil for panels
	Path                    any            // the *gemm.MicroKernels of both, which Figures measure; nil where A and B have different ones

	Blocking func(m, n, k int) (run, rows, cols int) // as block and rows divide them
	Routine  func(read gemm.ReadB) string            // the micro-kernel, in assembly; "" for none
}

// A Reader multiplies by a b that is not packed, whose rows in memory are ldb elements apart. It
// chooses a way by the rows of a.
type Reader struct {
	Rows     int // of a, up to which it pays; 0 if it may not be called
	Multiply func(x Call)
	Read     func(m, ldb int) gemm.ReadB
	// Blocking is how many elements of k and how many columns of b one run goes over, and how
	// many rows and columns a register tile has.
	Blocking func(m, n, k, ldb int, far bool) (run, cols int, tile [2]int)
	Work     func(m, ldb int) int // bytes of memory that help it
}

// Call is a product of parts of blocks: the m×n corner of c is a·b, or c + a·b if
// accumulate, over k elements.
type Call struct {
	C          []byte
	Off, LDC   int // elements: where in memory c starts, and from row to row
	M, N, K    int
	K0, Depth  int // of b, if it is packed: k elements from k0 on, of panels so deep
	A, B       Factor
	Accumulate bool
	Work       []byte // memory of the worker that helps
	Write      gemm.Write
	Tape       *gemm.Tape // of what it calls; nil for none
}

// Factor is one side of a call: packed, or elements of memory from off on, in rows
// that are ld apart.
type Factor struct {
	Mem     []byte
	Packed  bool
	Far     bool // it comes from beyond L2, and what lies behind in memory is next
	Off, LD int
	Scales  ScalesOfGroups // of a b that is not packed
}

// Packing lays one operand out in panels of lanes rows of a, or columns of b.
type Packing struct {
	Format   string
	Lanes    int             // lanes of one panel
	Unit     int             // elements of k stored together
	Words    int             // of 32 bits that they take in one lane
	Panel    func(k int) int // bytes of one panel k deep
	Pack     PackFunc
	Widening *Widening // that pack begins with; nil for none
	InPlace  bool      // b: where it is not packed it is widened as it is read
	AsItLies bool      // it is not packed, but read along its rows or, a b, its columns
	Chunk    int       // words of a lane that a chunk has at most
}

// A PackFunc reads element l of lane i at src[off+i*ld+l], or at src[off+l*ld+i] if the lanes are
// the columns of memory. Panels follow each other, but those of columns of b lie apart bytes apart,
// as k may be part of theirs. Elements are multiplied by scales, if there are any.
type PackFunc func(dst []byte, apart int, src []byte, off, ld, lanes, k int, columns bool, by ScalesOfGroups)

// ScalesOfGroups are scales in memory of lanes and elements of k that are packed: that of element l
// of lane i is number Off + i·Lane + (First+l)/Size·Group. There are none where Size is 0.
type ScalesOfGroups struct {
	Mem              []byte
	Read             *Widening // to float32
	Off, Lane, Group int
	First, Size      int // elements of the first group ahead of those packed, and in a group
}

// From are those from a lane on.
func (s ScalesOfGroups) From(lane int) ScalesOfGroups {
	s.Off += lane * s.Lane
	return s
}

// Row sets dst to the scales of one group, lane by lane.
func (s ScalesOfGroups) Row(dst []float32, group int) {
	off, to := s.Off+group*s.Group, memory.BytesOf(dst)
	if s.Lane == 1 {
		s.Read.Rows(to, s.Mem, off, 0, 1, len(dst), 0)
		return
	}
	for i := range dst {
		dst[i] = s.Read.One(s.Mem, off+i*s.Lane)
	}
}

// An operand whose dtype is not the factor's is widened while it is packed, or just before it is
// multiplied, or by the micro-kernel, so that it moves as few bytes as it has.

// Widening is how numbers of the dtype in memory become factors.
type Widening struct {
	Size int // bytes of a factor
	// Rows widens n elements from element off on, and as many from off+ld on, …,
	// to rows of dst that lie to factors apart.
	Rows func(dst, src []byte, off, ld, rows, n, to int)
	One  func(src []byte, i int) float32 // element i of scales
	// Scale multiplies rows × n factors, rows to factors apart, by scales. Lanes of those are rows, or
	// else columns.
	Scale func(dst []byte, rows, n, to int, columns bool, by ScalesOfGroups)
}
