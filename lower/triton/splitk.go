package triton

import (
	"cmp"
	"slices"

	"matladder/internal/each"
	"matladder/tile"
)

// splitK returns a program of a product as two: one in which n programs each sum a
// part of the steps along k, and one that adds the parts and does what the last
// step did. It keeps a machine busy whose multiprocessors outnumber the blocks of
// the output. The sums are the same but for the order in which they are rounded.
func splitK(p *tile.Program, n int) ([]*tile.Program, error) {
	s := splitter{program: p, n: n}
	if err := s.parse(); err != nil {
		return nil, err
	}
	parts, sum := s.parts(), s.sum()
	return []*tile.Program{parts, sum}, cmp.Or(parts.Verify(), sum.Verify())
}

// splitter knows the parts of a program that sums blocks along k in scratch and
// stores what becomes of them.
type splitter struct {
	program *tile.Program
	n       int
	outer   []*tile.Axis // the axes but k
	k       *tile.Axis
	acc     *tile.Ref
	fill    *tile.Stmt
	each    []*tile.Stmt
	last    []*tile.Stmt
	like    *tile.Ref // the output that is cut as the sums are
}

func (s *splitter) parse() error {
	p := s.program
	refuse := func(format string, args ...any) error {
		return unsupported(p.Body[0].Pos, p, "split_k", "", format, args...)
	}
	_, loops := split(p.Grid)
	loops = slices.DeleteFunc(slices.Clone(loops), func(a *tile.Axis) bool { return a.Size == 1 })
	if len(loops) != 1 {
		return refuse("it sums along no axis of its own")
	}
	s.k = loops[0]
	s.outer = slices.DeleteFunc(slices.Clone(p.Grid), func(a *tile.Axis) bool { return a == s.k })
	if s.k.Size%s.n != 0 {
		return refuse("%d parts of the %d blocks along %s would not be alike: take a divisor", s.n, s.k.Size, s.k.Name)
	}
	first, each, last := peel(p.Body, s.k)
	s.each = each
	if len(first) != 1 || len(first[0].Body) != 1 || first[0].Body[0].Kind != tile.Fill || first[0].Body[0].Value.Value != 0 {
		return refuse("its first step does more than fill an accumulator with zero")
	}
	s.fill = first[0].Body[0]
	s.acc = s.fill.Ref
	if s.acc.Kind != tile.Scratch || !adds(each, s.acc) || s.keeps(last) {
		return refuse("its sums are not one accumulator in scratch, to which each step adds")
	}
	for _, w := range last {
		if c, ok := w.Cond.(tile.TestCond); !ok || c != s.k.Last().(tile.TestCond) {
			return refuse("its last step depends on more than %s", s.k.Name)
		}
		s.last = append(s.last, w.Body...)
	}
	for _, w := range s.last {
		if w.Ref != nil && w.Ref.Kind == tile.Out && slices.Equal(w.Ref.Shape(), s.acc.Array) {
			s.like = w.Ref
		}
	}
	if s.like == nil {
		return refuse("no output is cut as its accumulator is")
	}
	if w := s.without(); w.failed {
		return refuse("what its last step sees moves along %s", s.k.Name)
	}
	return nil
}

// keeps reports whether the last step sees other scratch than the sums.
func (s *splitter) keeps(last []*tile.Stmt) bool {
	return slices.ContainsFunc(s.program.RefsOf(tile.Scratch), func(r *tile.Ref) bool { return r != s.acc && reads(last, r) })
}

// adds reports whether statements only add to r, and never read it; beside it they may
// store in scratch what the step itself sees.
func adds(body []*tile.Stmt, r *tile.Ref) bool {
	return !slices.ContainsFunc(body, func(s *tile.Stmt) bool {
		switch s.Kind {
		case tile.Loop:
			return !adds(s.Body, r)
		case tile.Accumulate:
			return s.Ref != r || tile.Loads(s.Value, r)
		case tile.Store:
			return s.Ref == r || s.Ref.Kind != tile.Scratch || tile.Loads(s.Value, r) || tile.Loads(s.Value, s.Ref)
		}
		return true
	})
}

// partSums declares the sums of the parts, in the place of some kind.
func (s *splitter) partSums(kind tile.RefKind, part *tile.Axis, index []tile.IndexExpr) *tile.Ref {
	return &tile.Ref{
		Name: s.acc.Name + "_parts", Kind: kind, Dtype: s.acc.Dtype, Pos: s.acc.Pos,
		Array: append([]int{s.n}, s.like.Array...),
		Block: append([]int{tile.Squeezed}, s.like.Block...),
		Index: append([]tile.IndexExpr{part}, index...),
	}
}

func when(c tile.Cond, body ...*tile.Stmt) *tile.Stmt {
	return &tile.Stmt{Kind: tile.When, Cond: c, Body: body, Pos: body[0].Pos}
}

func (s *splitter) load(r *tile.Ref) *tile.Expr {
	return &tile.Expr{Op: tile.OpLoad, Ref: r, Dtype: r.Dtype, Shape: r.Shape(), Pos: r.Pos}
}

// parts is the program that sums each part.
func (s *splitter) parts() *tile.Program {
	part := &tile.Axis{Name: "part", Size: s.n, Semantics: tile.Parallel}
	k := &tile.Axis{Name: s.k.Name, Size: s.k.Size / s.n, Semantics: tile.Arbitrary}
	w := s.moved(tile.Plus(tile.Times(part, k.Size), k), func(r *tile.Ref) bool {
		return r.Kind != tile.Out && (r == s.acc || reads(s.each, r))
	})
	p := &tile.Program{Name: s.program.Name + "_parts", Grid: append(append([]*tile.Axis{part}, s.outer...), k), Refs: w.all(s.program)}
	sums := s.partSums(tile.Out, part, s.like.Index)
	p.Refs = append(p.Refs, sums)
	p.Body = append(p.Body, when(k.First(), w.body([]*tile.Stmt{s.fill})...))
	p.Body = append(p.Body, w.body(s.each)...)
	p.Body = append(p.Body, when(k.Last(), &tile.Stmt{Kind: tile.Store, Ref: sums, Value: s.load(w.ref(s.acc)), Pos: s.fill.Pos}))
	return p
}

// sum is the program that adds the parts and does what the last step did.
func (s *splitter) sum() *tile.Program {
	part := &tile.Axis{Name: "part", Size: s.n, Semantics: tile.Arbitrary}
	w := s.without()
	p := &tile.Program{Name: s.program.Name + "_sum", Grid: append(slices.Clone(s.outer), part), Refs: w.all(s.program)}
	sums := s.partSums(tile.In, part, s.like.Index)
	p.Refs = append(p.Refs, sums)
	p.Body = append(p.Body,
		when(part.First(), w.body([]*tile.Stmt{s.fill})...),
		&tile.Stmt{Kind: tile.Accumulate, Ref: w.ref(s.acc), Value: s.load(sums), Pos: s.fill.Pos},
		when(part.Last(), w.body(s.last)...))
	return p
}

// without copies what the last step sees, which may not move along k.
func (s *splitter) without() *rewriter {
	w := s.moved(nil, func(r *tile.Ref) bool { return r.Kind == tile.Out || r == s.acc || reads(s.last, r) })
	w.body(s.last)
	return w
}

// moved copies the refs that are used, with something else for k.
func (s *splitter) moved(k tile.IndexExpr, used func(*tile.Ref) bool) *rewriter {
	w := (&rewriter{axes: map[*tile.Axis]tile.IndexExpr{s.k: k}, refs: map[*tile.Ref]*tile.Ref{}}).ready()
	for _, r := range s.program.Refs {
		if r.Kind != tile.Table && !used(r) {
			continue
		}
		c := *r
		if r.Index != nil {
			c.Index = each.Of(r.Index, w.index)
		}
		w.refs[r] = &c
	}
	return w
}

// all are the copies of a program's refs, in order.
func (w *rewriter) all(p *tile.Program) []*tile.Ref {
	var refs []*tile.Ref
	for _, r := range p.Refs {
		if c, ok := w.refs[r]; ok {
			refs = append(refs, c)
		}
	}
	return refs
}

// reads reports whether statements read r.
func reads(body []*tile.Stmt, r *tile.Ref) bool {
	p := tile.Program{Body: body}
	return p.FindExpr(func(_ *tile.Stmt, e *tile.Expr) bool { return e.Ref == r }) != nil
}

// hasProduct reports whether a program multiplies matrices.
func hasProduct(p *tile.Program) bool {
	return p.FindExpr(func(_ *tile.Stmt, e *tile.Expr) bool { return e.Op == tile.OpDot }) != nil
}
