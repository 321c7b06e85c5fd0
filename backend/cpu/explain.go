package cpu

import (
	"context"
	"io"
	"slices"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// Plan is what the passes made of the programs of one launch: each decision, as
// workers carry it out. String prints it. Sizes are in bytes unless they are said
// to be elements.
type Plan struct {
	Machine  PlanMachine
	Passes   []string      // in the order in which they ran, on each program
	Programs []PlanProgram // in the order of the launch
	Memory   PlanMemory
}

// PlanMachine is what programs were compiled for.
type PlanMachine struct {
	Name, Note  string // of the processor; instruction set and threads, as Device has them
	ISA, Why    string // instruction set, and why it is this one
	Better      []PlanISA
	Workers     int
	L1D, L2, L3 int    // caches as one core sees them; 0 for unknown
	CacheBytes  int64  // limit of packed blocks that workers share
	OwnBytes    int64  // limit of packed blocks that all workers together keep for themselves
	Asked       string // choices that were asked for, in place of rules: k=v pairs
}

// PlanISA is an instruction set that is not in use although it ranks higher.
type PlanISA struct {
	Name    string
	Missing []string // what this machine lacks for it; none if it would run
}

// PlanProgram is what became of one program. Each field says which pass filled it.
type PlanProgram struct {
	Name     string
	Grid     []*tile.Axis  // verify
	Refs     []PlanRef     // see; what they are used for, all later ones
	Body     []*tile.Stmt  // match
	Steps    []PlanStep    // match, fuse, epilogue; conditions are taken apart
	Products []PlanProduct // layout, thin, stream
	Operands []PlanOperand // layout, thin, rows, share
	Schedule PlanSchedule  // schedule
	Buffers  []PlanBuffer  // buffers
}

// PlanRef is a ref whose block is seen as a matrix.
type PlanRef struct {
	*tile.Ref
	Blocks int   // of the array; 0 for scratch and tables
	Stride int64 // from row to row of a block; 0 for a table
	Uses   []PlanUse
}

// PlanUse is one way in which a ref is met.
type PlanUse string

// The uses. That of a b that is not packed as a whole is its ReadWay.
const (
	UsePacked   PlanUse = "packed"                      // copied into panels, for products
	UseWidened  PlanUse = "widened in pieces"           // for a micro-kernel that needs no panels
	UseTiles    PlanUse = "loaded in place"             // by tiles, a row at a time
	UseRows     PlanUse = "read along rows"             // in place, by the vectors of other values
	UseProduct  PlanUse = "written by the micro-kernel" // in place
	UseVectors  PlanUse = "written along rows"          // in place, by vectors
	UseMerged   PlanUse = "not stored"                  // scratch whose product went into the value that read it
	UseFill     PlanUse = "filled"                      // by a fill that no accumulation took in
	UseIndexMap PlanUse = "places blocks"               // a table
	UseExtent   PlanUse = "asked for its extent"        // which elements are inside the array
)

// PlanStep is a statement, or as many as a loop in the body was written out to.
type PlanStep struct {
	Statement string
	Dst       string     // ref
	Adds      bool       // the value is added to what Dst holds
	Rounds    tile.Dtype // what the sum is then rounded to; InvalidDtype if it is as wide as the value
	When      tile.Cond  // it runs where this holds; nil for always
	Times     int        // statements of a loop, of which Statement is the first
	Zeroed    tile.Cond  // fuse: where it stores what it would add to zero; nil for nowhere
	Through   string     // fuse: scratch that held the product, which went into this value; "" for none
	Beside    string     // fuse: Dst of the step before it that goes along rows together with it; "" for none
	Way       StepWay
	Ops       []tile.Op // of the value that compute something, but for products
	Products  []int     // of Products

	Rows, Cols int // elements of the destination that are computed at once; 0 without products
	Loops      []PlanLoop
}

// StepWay is how a step's value comes to its destination.
type StepWay string

// The ways.
const (
	WayFill    StepWay = "fill"    // a pass of its own over the block
	WayDirect  StepWay = "direct"  // the micro-kernel writes the block: nothing else to do
	WayPieces  StepWay = "pieces"  // a piece of each product, then the value of that piece
	WayVectors StepWay = "vectors" // no product: a pass of its own over the block, along rows
)

// PlanLoop is one loop around the register tile of a step, for whole blocks.
type PlanLoop struct {
	Count int
	What  string
}

// PlanProduct is a product of two operands.
type PlanProduct struct {
	A, B    int      // of Operands
	Path    string   // of the micro-kernel: instruction set, rows x columns of the register tile, format
	Others  []string // paths for these dtypes that were not taken
	MR, NR  int      // rows and columns of the register tile
	Sum     tile.Dtype
	K0, K1  int     // of the elements of k of the blocks
	ReadsA  bool    // a is not packed: tiles load its rows where they lie
	ReadsB  bool    // no block of b is packed as a whole: it is read as Way says, where it lies or as widened a piece at a time
	Way     ReadWay // how b is read; of ReadsB
	Streams bool    // what it computes is written past the caches
	Copies  bool    // what it computes is copied to the output beside the next products
	Asked   bool    // that is because it was asked for
	Scales  bool    // its sums are scaled as the micro-kernel writes them, and rounded to the output's dtype
	Narrows bool    // its sums are rounded to bfloat16 as the micro-kernel writes them
	Depth   int     // elements of k of one chunk of packed operands
	Run     int     // elements of k that a tile stays in registers for
	Rows    int     // of a that stay in L2 while panels of b pass; all where b is not packed
	Cols    int     // of b, whose sums with Rows stay in L2 from run to run; all but on tiles, or in pieces
}

// ReadWay is how a b is read whose blocks are not packed as a whole.
type ReadWay string

// The ways.
const (
	ReadStreams ReadWay = "read in place along its rows"                    // row of a after row of a
	ReadTiles   ReadWay = "read in place by register tiles"                 // which go down its rows
	ReadAlong   ReadWay = "read in place by register tiles, which widen it" // and go along its rows
	ReadPieces  ReadWay = "packed piece by piece into L2"                   // one at a time, for every use anew
)

// PlanOperand is a ref as one side of products.
type PlanOperand struct {
	Ref        string
	Side       string // a or b
	Transposed bool
	Dtype      tile.Dtype // in memory
	Format     string     // of packed panels: dtype of elements, x elements of k in a word of 32 bits
	Lanes      int        // rows or columns of one panel
	Unit       int        // elements of k that are stored together
	Words      int        // of 32 bits that they take in one lane
	Depth      int        // elements of k of one chunk
	Block      int        // of one packed block

	Packed      string // of a: why its rows are not loaded in place
	Meets, Pays int    // of b: rows of a that meet one block of it, and up to how many it would not be packed
	Asked       bool   // of b: whether it is packed is no matter of Pays, but was asked for
	PaysOn      string // path that would then read it in place
	Keep        Keep
	Why         string
	Room        int64      // that Why speaks of
	Kept        int        // blocks in one copy
	Bytes       int        // of one copy, or of the buffer of pieces
	Copies      int        // 1 if workers share it
	Deep        bool       // pieces have all of k at once
	Piece       int        // rows or columns of a piece
	WidenedTo   tile.Dtype // what is multiplied in its place; InvalidDtype if that is Dtype
	Ways        []ReadWay  // of b with KeepUnpacked: how products read it
	InPlace     bool       // of b with KeepUnpacked: the micro-kernel widens it, or a piece as it is packed
}

// Keep is where packed blocks stay.
type Keep string

// The ways to keep.
const (
	KeepPiece    Keep = "pieces"   // nowhere: a piece is packed when it is needed
	KeepUnpacked Keep = "unpacked" // no block is packed as a whole: a as its rows lie, b in the ways of Ways; a b of another dtype than is multiplied is widened by the micro-kernel, or a piece at a time
	KeepOwn      Keep = "own"      // each worker keeps the last ones that it packed
	KeepAll      Keep = "all"      // all blocks of the array, once for all workers
	KeepGroup    Keep = "group"    // those of the tasks of one phase, once for all workers
)

var keepNames = [...]Keep{keepPiece: KeepPiece, keepUnpacked: KeepUnpacked, keepOwn: KeepOwn, keepAll: KeepAll, keepGroup: KeepGroup}

// PlanSchedule is how workers go through the grid. A task is a point of the axes
// Outer and Inner; the worker that takes it runs all points of the axes Serial.
// Tasks that follow each other share blocks of a, or of b if ByColumns.
type PlanSchedule struct {
	Outer, Inner, Serial []string // axes, the fastest last
	Ordered              string   // why one worker runs all in order; "" if it does not
	ByColumns            bool
	Programs, Tasks      int
	Steps                int     // programs of a task
	Phases               int     // which run one after another
	Workers, Idle        int     // threads that take tasks, and that find none
	Least, Most          int     // tasks that a worker is dealt, over all phases; one that is done takes from others
	Balance              float64 // Tasks / (Most · the machine's workers): 1 if none waits, tasks being alike
}

// PlanBuffer is memory besides the arrays.
type PlanBuffer struct {
	What   string
	Bytes  int
	Shared bool // by all workers; else each has one
	Used   int  // of Bytes: the rest is never touched
}

// PlanMemory is what one executable allocates. Programs run one after another in
// the same buffers.
type PlanMemory struct {
	Arrays, Shared, Worker int64 // Worker is of each
	Workers                int
	Gaps                   int64 // between what different workers write
	HugePages              bool  // asked for; the system may refuse
}

// WritePlan writes the plan of Explain.
func (b *Backend) WritePlan(ctx context.Context, w io.Writer, programs []*tile.Program, params backend.Params) error {
	p, err := b.Explain(ctx, programs, params)
	if err == nil {
		_, err = io.WriteString(w, p.String())
	}
	return err
}

// Explain compiles programs as Compile does and returns the plan instead of
// running it. It allocates nothing, so programs that do not fit memory have a plan
// too. Other errors are those of Compile.
func (b *Backend) Explain(ctx context.Context, programs []*tile.Program, params backend.Params) (*Plan, error) {
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return nil, err
	}
	p := e.explain()
	p.Machine.Why = b.why
	p.Machine.Asked = backend.Params{Extra: params.Extra}.String()
	if params.ISA != "" && params.ISA != b.options.ISA {
		p.Machine.Why = whyAsked
	}
	return p, nil
}

// explain tells the plans of an executable.
func (e *executable) explain() *Plan {
	p := &Plan{}
	for _, pass := range passes {
		p.Passes = append(p.Passes, pass.name)
	}
	for _, pl := range e.plans {
		p.Programs = append(p.Programs, pl.explain())
	}
	p.Machine = e.plans[0].machine.explain()
	for _, r := range e.everything() {
		p.Memory.Arrays += r.ArrayBytes()
	}
	shared, local, workers := e.buffers()
	p.Memory.Shared, p.Memory.Worker, p.Memory.Workers = int64(shared), int64(local), workers
	p.Memory.Gaps = gaps(workers)
	p.Memory.HugePages = asksForHugePages
	return p
}

func (m *machine) explain() PlanMachine {
	host := probe.Host()
	x := PlanMachine{
		Name: host.Name, ISA: m.kernels.ISA.String(), Note: note(m.kernels.ISA.String(), m.workers), Workers: m.workers,
		L1D: host.L1D, L2: host.L2, L3: host.L3, CacheBytes: m.cacheBytes, OwnBytes: m.ownBytes,
	}
	for isa := m.kernels.ISA + 1; isa <= gemm.AMX; isa++ {
		x.Better = append(x.Better, PlanISA{isa.String(), isa.Missing()})
	}
	return x
}

// explain tells one plan.
func (p *plan) explain() PlanProgram {
	x := PlanProgram{Name: p.program.Name, Grid: p.program.Grid, Body: p.program.Body, Schedule: p.explainSchedule()}
	for _, o := range p.operands {
		x.Operands = append(x.Operands, p.explainOperand(o))
	}
	p.explainSteps(&x, p.steps, nil)
	for _, d := range x.Products {
		if b := &x.Operands[d.B]; d.ReadsB && !slices.Contains(b.Ways, d.Way) {
			b.Ways = append(b.Ways, d.Way)
		}
	}
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			for side, i := range []int{d.a, d.b} {
				if p.operands[i].packing.widening != nil {
					x.Operands[i].WidenedTo = multiplied(d.expr.Args[side].Dtype)
				}
			}
			// Where b is packed for a path that reads it in no other way, another path
			// might have read it in place.
			if b := &x.Operands[d.b]; b.Pays == 0 && d.thin != nil && d.thin != d.product && d.thin.directRows > 0 {
				b.Pays, b.PaysOn = d.thin.directRows, d.thin.name
			}
		}
	})
	x.Buffers = p.explainBuffers()
	for i := range p.refs {
		x.Refs = append(x.Refs, p.explainRef(i, x.Operands))
	}
	return x
}

func (p *plan) explainSchedule() PlanSchedule {
	t := &p.tasks
	names := func(axes []int) []string {
		var s []string
		for _, i := range axes {
			s = append(s, p.program.Grid[i].Name)
		}
		return s
	}
	s := PlanSchedule{
		Outer: names(t.outer), Inner: names(t.inner), Serial: names(t.serial),
		Tasks: t.outers * t.inners, Steps: t.steps, Programs: t.outers * t.inners * t.steps,
		ByColumns: p.byColumns, Phases: t.phases(), Workers: t.workers, Idle: p.machine.workers - t.workers,
	}
	switch {
	case p.machine.programOrder:
		s.Ordered = whyAsked
	case p.ordered:
		s.Ordered = "scratch may carry values from one point of a parallel axis to the next"
	}
	for w := range t.workers {
		from, to := dealt(w, t.workers, t.count(0))
		lastFrom, lastTo := dealt(w, t.workers, t.count(s.Phases-1))
		n := (s.Phases-1)*(to-from) + lastTo - lastFrom
		if s.Most = max(s.Most, n); w == 0 || n < s.Least {
			s.Least = n
		}
	}
	s.Balance = float64(s.Tasks) / float64(p.machine.workers*s.Most)
	return s
}

func (p *plan) explainBuffers() []PlanBuffer {
	var list []PlanBuffer
	add := func(what string, r region, shared bool) {
		if r.size > 0 {
			list = append(list, PlanBuffer{what, r.size, shared, r.size})
		}
	}
	for _, o := range p.operands {
		switch name := p.refs[o.ref].Name; o.keep {
		case keepAll, keepGroup:
			add(name+" packed", o.mem, true)
		case keepOwn:
			add(name+" packed", o.mem, false)
		case keepUnpacked:
			add("a widened piece of "+name, o.mem, false)
		default:
			add("a piece of "+name, o.mem, false)
		}
	}
	help := PlanBuffer{What: "a piece of b, packed", Bytes: p.sums.size} // as BlockDirect does it
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			if d.product.work > 0 {
				help.What = "sums of tiles"
			}
			help.Used = max(help.Used, p.loopsOf(s, d).work())
		}
	})
	if help.Bytes > 0 {
		list = append(list, help)
	}
	temps := PlanBuffer{What: "pieces of products"}
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			if d.scales != nil {
				add("scales of a piece", d.scales.mem, false)
			}
			temps.Bytes += d.temp.size
		}
	})
	if temps.Used = temps.Bytes; temps.Bytes > 0 {
		list = append(list, temps)
	}
	for i, r := range p.scratch {
		add("scratch "+p.refs[i].Name, r, false)
	}
	add(plural(p.vectors, "row vector"), p.rows, false)
	return list
}
