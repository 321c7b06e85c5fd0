package cpu

import (
	"fmt"
	"strings"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/rows"
	"matladder/backend/cpu/internal/vexp"
	"matladder/tile"
)

// passes turn a program into a plan, in this order.
var passes = []struct {
	name string
	run  func(*plan) error
}{
	{"verify", verify},       // the program makes sense on any machine; what steps cannot do at once → scratch
	{"matrices", matrices},   // blocks of refs as matrices in memory
	{"match", match},         // statements → steps
	{"fuse", fuse},           // a zeroing fill into the accumulation behind it, a product into the value, values of a row
	{"layout", layOut},       // products → packed operands
	{"skinny", skinny},       // b that few rows of a meet → not packed
	{"rows", readRows},       // a whose rows tiles can load → not packed
	{"writes", writes},       // outputs that tiles write once → rounded by them, non-temporal stores
	{"epilogue", epilogue},   // values → vectors along rows
	{"placement", placement}, // which packed blocks are kept, where
	{"schedule", schedule},   // grid → phases, tasks, workers; steps of a program → strips of rows
	{"buffers", buffers},     // sizes and places of all memory but the arrays
}

// plan is a program on its way through the passes, and in the end what workers
// run. Workers only read it.
type plan struct {
	program *tile.Program
	machine machine
	loops   rows.Loops // of machine.kernels' instruction set, as the next
	exps    vexp.Loops

	refs     []ref
	steps    []*step
	operands []*operand
	vectors  int // row vectors that values need at once

	byColumns bool // workers share blocks of a, and have blocks of b of their own
	ordered   bool // one worker runs the grid in the order of the program
	tasks     tasks

	spare int64 // bytes of the cache that no kept block needs

	sharedBytes, localBytes int // memory that workers share, and of each of them

	scratch []region // of a worker's memory, by ref
	rows    region   // of a worker's memory: row vectors
	sums    region   // of a worker's memory: what micro-kernels keep of a product
}

// machine is what a program is compiled for.
type machine struct {
	kernels      *gemm.Kernels
	workers      int
	cacheBytes   int64 // of packed blocks that workers share
	ownBytes     int64 // of packed blocks that all workers together keep for themselves
	programOrder bool
	measures     bool // strategies are chosen by measured costs, or else by nominal ones
	choices      choices
	layout       backend.Layout
}

// step is a statement as a worker executes it.
type step struct {
	stmt *tile.Stmt
	kind stepKind
	cond tile.Cond // when: run body where it holds
	body []*step   // and steps that go along rows together, or through them in strips

	dst    int       // fill and compute: ref
	zeroed tile.Cond // accumulate: dst counts as zero where it holds; nil for never
	dots   []*dot
	direct bool                       // the only dot is the value, in dst's own dtype: no epilogue
	store  writer                     // epilogue: dst = value
	add    writer                     // epilogue: dst = dst + value
	lanes  int                        // of a row, that these do at once
	down   func(w *frame, row, n int) // store, of a destination whose one column lies in one piece
	strip  int                        // rows that steps that go along rows together do at once

	factor   *tile.Expr // of rows of dst, to which the product is added; nil for none
	rescaled down       // its values

	rows, cols int // of the piece of a product that is computed at once

	through *tile.Ref // fuse: scratch that held the product before; nil for none
}

type stepKind uint8

const (
	stepFill stepKind = iota
	stepCompute
	stepWhen
	stepAbreast
	stepStrips
)

// dot is a product inside a step's value.
type dot struct {
	expr    *tile.Expr
	product *product
	options []option // how B may be read, the cheapest first; none where there is nothing to choose
	thin    *product // that reads b in place for few rows of a, which product need not
	a, b    int      // operands
	k0, k1  int      // of the blocks' elements of k
	temp    region   // of a worker's memory: the piece computed; unless the step is direct
	ld      int      // elements from row to row of temp
	narrow  bool     // its sums are rounded to bfloat16 as they are written
	scales  *scales  // its sums are scaled as they are written; nil if they are not
	write   gemm.Write
}

// compile runs the passes.
func compile(p *tile.Program, m machine) (*plan, error) {
	pl := &plan{program: p, machine: m, loops: rows.For(m.kernels.ISA.Has(gemm.AVX2), m.kernels.ISA.Has(gemm.AVX512)),
		exps: vexp.For(m.kernels.ISA.Has(gemm.AVX2), m.kernels.ISA.Has(gemm.AVX512))}
	for _, pass := range passes {
		if err := pass.run(pl); err != nil {
			return nil, fmt.Errorf("cpu: %s: %w", pass.name, err)
		}
	}
	return pl, nil
}

func verify(p *plan) error {
	if err := p.program.Verify(); err != nil {
		return err
	}
	p.program = canonicalize(p.program)
	return nil
}

// unsupported refuses what is written at pos.
func (p *plan) unsupported(pos tile.Pos, format string, args ...any) error {
	return fmt.Errorf("%w: %w", &tile.Error{Pos: pos, Program: p.program.Name, Msg: fmt.Sprintf(format, args...)}, backend.ErrUnsupported)
}

// ref returns the number of r.
func (p *plan) ref(r *tile.Ref) int {
	for i := range p.refs {
		if p.refs[i].Ref == r {
			return i
		}
	}
	panic("cpu: " + r.Name + " is not a ref of " + p.program.Name)
}

// programs is how many the grid has.
func (p *plan) programs() int { return p.tasks.outers * p.tasks.inners * p.tasks.steps }

func (p *plan) tellGrid() []string {
	if len(p.program.Grid) == 0 {
		return []string{"grid (): 1 program"}
	}
	var names, sizes, semantics []string
	for _, a := range p.program.Grid {
		names, sizes, semantics = append(names, a.Name), append(sizes, fmt.Sprint(a.Size)), append(semantics, a.Semantics.String())
	}
	return []string{fmt.Sprintf("grid (%s) = (%s), %s: %s", strings.Join(names, ", "), strings.Join(sizes, ", "),
		strings.Join(semantics, ", "), plural(p.programs(), "program"))}
}
