package triton

import "matladder/tile"

// body writes statements.
func (k *kernel) body(body []*tile.Stmt) {
	for _, s := range body {
		k.Pos = s.Pos
		switch s.Kind {
		case tile.When:
			k.when(s)
		case tile.Loop:
			k.loop(s)
		default:
			k.statement(s)
		}
	}
}

func (k *kernel) when(s *tile.Stmt) {
	c := k.Cond(s.Cond)
	if _, known := c.Known(); !known {
		k.Line("// when %s", s.Cond)
		k.branch(c, s.Body)
	} else if c.Is(1) {
		k.body(s.Body)
	}
}

func (k *kernel) loop(s *tile.Stmt) {
	if s.Axis.Size > unrolled {
		k.repeat(s.Axis, writtenScratch(k.program, s.Body), func() { k.body(s.Body) })
		return
	}
	for i := range s.Axis.Size {
		k.Line("// %s = %d", s.Axis.Name, i)
		k.ids[s.Axis] = k.Int(i)
		k.body(s.Body)
	}
}

// statement writes a Fill, Store or Accumulate.
func (k *kernel) statement(s *tile.Stmt) {
	k.Line("// %s %s", s.Kind, s.Ref.Name)
	k.loads = map[*tile.Ref]value{}
	k.Forget()
	e := s.Value
	var v value
	switch {
	case s.Kind != tile.Accumulate:
		v = k.Expr(e)
	case (e.Op == tile.OpDot || k.sums[e]) && s.Ref.Kind == tile.Scratch && s.Ref.Dtype == e.Dtype:
		// The matrix unit starts from what is there. Not from a block in memory: what
		// feeds a product the compiler loads steps ahead, before it is written.
		v = k.addTo(e, k.scratch[s.Ref])
	default:
		x := k.Wide(k.Expr(e), e.Dtype)
		v = k.Add(k.Wide(k.load(s.Ref), s.Ref.Dtype), x)
	}
	v = k.Narrow(v, s.Ref.Dtype)
	if s.Ref.Kind == tile.Scratch {
		if _, known := v.Known(); !known {
			v = k.Vector(v, k.scratchType(s.Ref))
		}
		k.scratch[s.Ref] = v
		return
	}
	if k.reread[s.Ref] && k.written {
		k.barrier() // another thread may have yet to load what this one overwrites
	}
	k.store(s.Ref, v)
}

// scratchType is the type of what scratch holds. A row or column that a product
// is stored to has as many equal rows or columns as a matrix unit makes.
func (k *kernel) scratchType(r *tile.Ref) shaped {
	dims := k.Physical(r.Shape())
	if len(r.Shape()) == 2 && productIn(k.program, r) {
		for d := range dims {
			dims[d] = max(dims[d], k.least)
		}
	}
	return shaped{Elem: storage[r.Dtype], Dims: dims}
}

// productIn reports whether a program stores what a Dot made to r.
func productIn(p *tile.Program, r *tile.Ref) bool {
	return p.FindExpr(func(s *tile.Stmt, e *tile.Expr) bool { return s.Ref == r && e.Op == tile.OpDot }) != nil
}
