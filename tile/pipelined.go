package tile

import (
	"cmp"
	"slices"

	"matladder/internal/each"
)

// Buffered says how many blocks of an input fast memory holds: the one at work and those
// that are brought ahead. It is advice about time, not part of what the program means: a
// machine may hold as many as it likes. Pipelined writes the copies that it asks for.
func (b BlockSpec) Buffered(n int) BlockSpec {
	b.buffers = n
	return b
}

// maxBuffers is more blocks than are of use.
const maxBuffers = 64

// buffers: it is inputs whose blocks are brought ahead, in whole blocks of two dimensions.
func buffers(v *verifier) {
	for _, r := range v.program.Refs {
		switch {
		case r == nil || r.Buffers == 0:
		case r.Buffers < 0 || r.Buffers > maxBuffers:
			v.errorf(r.Pos, "%s: %d buffers: want 1 … %d", r.Name, r.Buffers, maxBuffers)
		case r.Kind != In || r.Main:
			v.errorf(r.Pos, "%s: buffers are for blocks of inputs", r.Name)
		case len(r.Block) == len(r.Array) && len(r.Shape()) != 2:
			v.errorf(r.Pos, "%s: buffers are for blocks of two dimensions", describe(r))
		case slices.ContainsFunc(v.program.Grid, func(a *Axis) bool { return a != nil && a.Bound != nil }):
			v.errorf(r.Pos, "%s: buffers: a table says where the grid ends", r.Name)
		case !TableFree(r.Index...):
			v.errorf(r.Pos, "%s: buffers: a table says which block it sees, so that nobody knows the next", r.Name)
		case len(r.Block) == len(r.Array):
			for d := range r.Array {
				if size := r.BlockSize(d); size > 0 && r.Array[d]%size != 0 {
					v.errorf(r.Pos, "%s: buffers: copies bring whole blocks, and %d elements along dimension %d are none of %d", describe(r), r.Array[d], d, size)
				}
			}
		}
	}
}

// Pipelined returns a program that means the same and brings the blocks of inputs that are
// Buffered itself: from arrays in main memory to as many slots of scratch, ahead of the
// programs that need them as far as slots are free. It is p if no input is.
//
// A block is brought once for each value of the axes that its index map uses, down to the
// last of these. Copies go on from program to program along the Arbitrary axes behind the
// last Parallel one, and begin anew where that moves on.
func (p *Program) Pipelined() *Program {
	if !slices.ContainsFunc(p.Refs, func(r *Ref) bool { return r.Buffers > 0 }) {
		return p
	}
	level := 0
	for i, a := range p.Grid {
		if a.Semantics == Parallel && a.Size > 1 {
			level = i + 1
		}
	}
	q := *p
	q.Refs, q.Semaphores = nil, slices.Clone(p.Semaphores)
	replaced := map[*Ref]func() *Expr{}
	var ahead []*Stmt
	for _, r := range p.Refs {
		if r.Buffers == 0 {
			q.Refs = append(q.Refs, r)
			continue
		}
		s := newStage(r, p.Grid[level:])
		q.Refs, q.Semaphores = append(q.Refs, s.array, s.here), append(q.Semaphores, s.came)
		ahead = append(ahead, s.stmts()...)
		replaced[r] = s.load
	}
	q.Body = append(ahead, RewriteBody(p.Body, func(from, c *Expr) *Expr {
		if load := replaced[from.Ref]; load != nil && from.Op == OpLoad {
			return load()
		}
		return c
	})...)
	return &q
}

// stage is what brings the blocks of one input.
type stage struct {
	ref, array, here *Ref
	came             *Semaphore
	axes             []*Axis   // that tell its blocks apart
	rest             AllCond   // holds in the first program that sees a block
	visit            IndexExpr // number of the block that is seen
	visits           int
}

func newStage(r *Ref, grid []*Axis) *stage {
	s := &stage{ref: r, visit: Const(0), visits: 1}
	last := 0
	for i, a := range grid {
		if r.DependsOn(a) {
			last = i + 1
		}
	}
	for _, a := range grid[last:] {
		if a.Size > 1 {
			s.rest = append(s.rest, a.First())
		}
	}
	for _, a := range grid[:last] {
		s.axes, s.visits, s.visit = append(s.axes, a), s.visits*a.Size, Plus(Times(s.visit, a.Size), a)
	}
	s.array = arrayRef(r.Name, In, r.Dtype, r.Array, HBM)
	s.array.Pos = r.Pos
	shape := r.Shape()
	dims := []int{r.Buffers * shape[0], shape[1]}
	s.here = &Ref{Name: r.Name + ".here", Kind: Scratch, Dtype: r.Dtype, Array: dims, Block: dims, Pos: r.Pos}
	s.came = &Semaphore{Name: r.Name + ".came", Slots: r.Buffers, Pos: r.Pos}
	return s
}

// copy is the one that brings the block of a visit.
func (s *stage) copy(visit IndexExpr) *Copy {
	digits, n := map[*Axis]IndexExpr{}, 1
	for _, a := range slices.Backward(s.axes) {
		digits[a] = Mod(FloorDiv(visit, n), a.Size)
		n *= a.Size
	}
	from := Part{s.array, BlockSpec{Shape: s.ref.Block}}
	digit := func(a *Axis) IndexExpr { return cmp.Or(digits[a], IndexExpr(a)) }
	from.Index = each.Of(s.ref.Index, func(x IndexExpr) IndexExpr { return Substitute(x, digit, nil) })
	slot := Mod(visit, s.ref.Buffers)
	return NewCopy(from, s.here.Part(Block(s.ref.Shape()...).At(slot, Const(0))), s.came.At(slot))
}

func (s *stage) stmts() []*Stmt {
	pos := s.ref.Pos
	start := func(visit IndexExpr) *Stmt { return &Stmt{Kind: Start, Copy: s.copy(visit), Pos: pos} }
	when := func(body []*Stmt, conds ...Cond) *Stmt {
		return &Stmt{Kind: When, Cond: AllCond(append(slices.Clip(s.rest), conds...)), Body: body, Pos: pos}
	}
	var out, first []*Stmt
	for n := range min(s.ref.Buffers-1, s.visits) {
		first = append(first, start(Const(n)))
	}
	if first != nil {
		out = append(out, when(first, Test(s.visit, EQ, Const(0))))
	}
	next := Plus(s.visit, Const(s.ref.Buffers-1))
	if s.visits >= s.ref.Buffers {
		out = append(out, when([]*Stmt{start(next)}, Test(next, LT, Const(s.visits))))
	}
	wait := &Stmt{Kind: Wait, Copy: s.copy(s.visit), Pos: pos}
	if len(s.rest) == 0 {
		return append(out, wait)
	}
	return append(out, when([]*Stmt{wait}))
}

// load is the block of the current program.
func (s *stage) load() *Expr {
	rows := s.ref.Shape()[0]
	return Slice(s.here, 0, Times(Mod(s.visit, s.ref.Buffers), rows), rows)
}
