// Package plan is what passes make of a tile program and workers then run: its arrays as matrices,
// the statements as steps, how the operands of each product are packed and kept, and how the grid
// is dealt to workers. A plan prints itself. Nothing changes it once it is built.
package plan

import (
	"fmt"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/rows"
	"matladder/backend/cpu/internal/vexp"
	"matladder/machine"
	"matladder/tile"
)

// Plan is a program on its way through the passes, and in the end what workers
// run. Workers only read it.
type Plan struct {
	Program *tile.Program
	Machine Machine
	Loops   rows.Loops // of the instruction set, as the next
	Exps    vexp.Loops

	Slots    map[*tile.Ref]*tile.Ref // of refs that are parts of scratch, that scratch
	Refs     []Matrix
	Steps    []*Step
	Operands []*Operand
	Vectors  int // row vectors that values need at once
	Chained  int // chains
	Memos    int // numbers that values need once in each program
	Wides    []*Wide

	ByColumns bool // workers share blocks of a, and have blocks of b of their own
	Ordered   bool // one worker runs the grid in the order of the program
	Tasks     Tasks

	Spare int64 // bytes of the cache that no kept block needs

	SharedBytes, LocalBytes int // memory that workers share, and of each of them
	Buffers                 []Buffer

	Scratch []memory.Region // of a worker's memory, by ref
	Rows    memory.Region   // of a worker's memory: row vectors
	Sums    memory.Region   // of a worker's memory: what micro-kernels keep of a product
}

// A Buffer is memory besides the arrays.
type Buffer struct {
	What   string
	Bytes  int
	Shared bool // by all workers; else each has one
	Used   int  // of bytes: the rest is never touched
}

// What memory helps products with.
const (
	HelpPiece = "a piece of b, packed"
	HelpSums  = "sums of tiles"
)

// Machine is what a program is compiled for.
type Machine struct {
	Kernels      *gemm.Kernels
	Workers      int
	CacheBytes   int64 // of packed blocks that workers share
	OwnBytes     int64 // of packed blocks that all workers together keep for themselves
	ProgramOrder bool
	L1, L2, L3   int64   // bytes of caches: of data, of a core's own, and of the one that cores share; 0 if unknown
	Figures      Figures // nil where nothing is measured: then nominal costs decide
	Choices      Choices
	Layout       backend.Layout
}

// Figures are what the machine that runs a plan was measured to do, or is as soon as it is
// asked. Passes measure nothing themselves.
type Figures interface {
	// CoreToCore is how fast memory that one worker has written reaches the others.
	CoreToCore() machine.CoreToCore
	// ReadCosts is what each way to read B costs x, for about so many rows of A, at most
	// gemm.MostRead, and a B of about so many bytes, in rows some bytes apart; or, where depth is
	// not 0, of one whose columns are rows of memory, of depth elements one behind the other.
	ReadCosts(x *Product, rows int, bytes int64, apart, depth int) map[gemm.ReadB]gemm.ReadCost
}

// Unsupported refuses what is written at pos.
func (p *Plan) Unsupported(pos tile.Pos, format string, args ...any) error {
	return fmt.Errorf("%w: %w", &tile.Error{Pos: pos, Program: p.Program.Name, Msg: fmt.Sprintf(format, args...)}, backend.ErrUnsupported)
}

// Number returns the number of r.
func (p *Plan) Number(r *tile.Ref) int {
	for i := range p.Refs {
		if p.Refs[i].Ref == r {
			return i
		}
	}
	panic("cpu: " + r.Name + " is not a ref of " + p.Program.Name)
}

// Programs is how many the grid has.
func (p *Plan) Programs() int { return p.Tasks.Outers * p.Tasks.Inners * p.Tasks.Steps }
