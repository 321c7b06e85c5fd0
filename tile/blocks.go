package tile

import (
	"fmt"
	"strconv"
	"strings"
)

// Blocks is a block shape: of a matmul bm×bk×bn. Other problems have up to three sides of
// their own in that order, and 0 in place of those that they have not.
type Blocks struct{ M, K, N int }

// String is the sides joined by x, without those behind the last that is not 0.
func (b Blocks) String() string {
	switch {
	case b.N != 0, b == (Blocks{}):
		return fmt.Sprintf("%dx%dx%d", b.M, b.K, b.N)
	case b.K != 0:
		return fmt.Sprintf("%dx%d", b.M, b.K)
	}
	return strconv.Itoa(b.M)
}

// ParseBlocks reads up to three sides, written with x or ×: 512x1024x1024.
func ParseBlocks(s string) (Blocks, error) {
	parts := strings.Split(strings.ReplaceAll(s, "×", "x"), "x")
	var v [3]int
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if len(parts) > 3 || err != nil || n < 1 {
			return Blocks{}, fmt.Errorf("blocks %q: want positive numbers joined by x, such as 512x1024x1024", s)
		}
		v[i] = n
	}
	return Blocks{M: v[0], K: v[1], N: v[2]}, nil
}

// Clip returns the blocks cut to arrays of m, k and n: a block never needs to be larger
// than its array.
func (b Blocks) Clip(m, k, n int) Blocks { return Blocks{min(b.M, m), min(b.K, k), min(b.N, n)} }

// Candidates clips each of bs to m×k×n and merges those that become equal.
func Candidates(m, k, n int, bs ...Blocks) []Blocks {
	var out []Blocks
	seen := map[Blocks]bool{}
	for _, b := range bs {
		if b = b.Clip(m, k, n); !seen[b] {
			seen[b] = true
			out = append(out, b)
		}
	}
	return out
}

// Machine is what a kernel may know of a machine when it proposes blocks.
type Machine struct {
	FastBytes int64            // fast memory of one worker (VMEM, shared memory, L2); 0 if unknown
	Granted   int64            // of FastBytes, what the compiler grants a program unless it asks for more; 0 for all
	Ahead     Ahead            // where an input comes ahead of a launch
	Parallel  int              // programs that run at once; at least 1
	Align     map[Dtype][2]int // rows and columns of a block should be multiples of these; none if absent
	// AccumulatorBytes is how much of an accumulator a program can keep in registers,
	// where it must: on a GPU. 0 for no limit.
	AccumulatorBytes int64
	PackedB          bool      // the second operand of products is packed ahead of launches
	Cores            *Cores    // where each program runs on a core with caches; nil elsewhere, or if unknown
	Pipeline         *Pipeline // where a core brings blocks in while it computes; nil elsewhere, or if unknown
}

// Need is what the programs of a launch take of fast memory.
type Need struct {
	Bytes   int64 // blocks and scratch, but for sums that no step leaves for the next
	Without int64 // of Bytes, what is left without the blocks of the largest input
	Largest int64 // bytes of that input, all of it
	Dtype   Dtype // its
	Block   int64 // bytes of a block of it
	Cut     bool  // whether a block ends inside its rows
	// Product has the sides of the product of a step where programs multiply two inputs of
	// one dtype as they are and nothing else; zero for others.
	Product Blocks
}

// Ahead says where a compiler puts an input of a launch behind the launch before, so that no
// step waits for it: the largest (XLA's cross-program prefetch). The zero value is a machine
// on which all inputs are in main memory when a launch begins.
type Ahead struct {
	Bytes int64 // of that memory
	Apart bool  // from fast memory: blocks are still brought. Else it is all of fast memory, and blocks are read where they lie
	// Keeps says that the compiler copies inputs inside of launches too, as it likes: what is to
	// come ahead must fit twice, or leave it hardly any room.
	Keeps bool
}

// Holds reports whether an input of so many bytes comes ahead beside programs that may take
// limit bytes of fast memory.
func (a Ahead) Holds(bytes, limit int64) bool {
	const hardly = 8 << 20
	room := a.Bytes
	if !a.Apart {
		room -= limit
	}
	return bytes > 0 && bytes < room && (!a.Keeps || 2*bytes < room || room-bytes <= hardly)
}

// Limited is the machine whose programs may have no more than so many bytes of fast memory,
// without asking for more: what a user's vmem_limit says. 0 is no such limit.
func (m Machine) Limited(bytes int64) Machine {
	if bytes > 0 {
		m.FastBytes, m.Granted = bytes, bytes
	}
	return m
}

// Pipeline is what the time of a block shape follows from on a core that brings the
// blocks of the next step into fast memory while it computes with those of this one.
type Pipeline struct {
	Rates   map[Dtype]float64 // FLOPs/s of one core by dtype of the operands
	Memory  float64           // bytes/s that one core moves
	Step    float64           // seconds that a step takes beside computing and moving
	Drain   float64           // seconds until a step's first sums leave the matrix unit
	Overlap float64           // p: both together take (compute^p + move^p)^(1/p)
	Cores   int               // that share a grid
	Unit    int               // side of the matrix units
	Pass    int               // columns of a product that a row of a meets at one time
}

// Cores is what the time of a block shape follows from on cores with caches: figures
// that the machine gave of itself.
type Cores struct {
	L2, L3 int64   // bytes of a core's own cache, and of the one that cores share
	Shared float64 // bytes/s that a core reads from beyond its own cache, on its way from end to end
	Memory float64 // bytes/s that all cores read from memory together
	Launch float64 // seconds of a launch of a program for each core, which computes hardly anything
	Pair   float64 // that of two cores; one alone needs none
	Task   float64 // seconds that a program takes beside its products
	Kept   int64   `json:",omitempty"` // bytes of packed blocks of a that a core keeps from one program to the next; 0 for no limit
	Sharing
	Rates map[Dtype]ProductRate // by dtype of the operands
}

// Exposed is the part of the shorter of computing and moving that the longer one does not
// hide, on cores: register tiles ask ahead for what comes next.
const Exposed = 0.25

// Sharing is how fast memory that one core has written reaches another. It does not follow
// from the kind of processor: cores of one chiplet are nearer to each other than cores of two,
// and the host of a virtual machine may move threads from one to the other.
type Sharing struct {
	Line        float64 // seconds from a core's writing a cache line to another's seeing it, on average
	ReadOthers  float64 // bytes/s at which others read what a core has just written, the slowest of them
	WriteOthers float64 // bytes/s at which a core writes anew what others have read
}

// Meeting is the seconds for cores to agree on who packs a block, and to see that it is
// packed: a cache line goes to another core, and one comes back.
func (s Sharing) Meeting() float64 { return 2 * s.Line }

// ProductRate is how fast one core multiplies operands of one dtype.
type ProductRate struct {
	Rows, Columns int     // of the register tile
	Depth         int     // elements of k that are packed together
	Few           int     // last columns of b that cost no more than their share; more cost half a register tile at least
	FLOPs         float64 // per second, of packed operands in its own cache
	Fetch         float64 // bytes/s of a packed b that comes from beyond its own cache meanwhile, where few rows meet it
	PackA, PackB  float64 // bytes of rows of a and of b that are packed per second
	InPlace       int     // columns of b up to which rows of a are read without packing; 0 for none
	Direct        int     // rows of a up to which b is read without packing; 0 for none
}
