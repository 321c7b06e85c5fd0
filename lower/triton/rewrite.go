package triton

import (
	"maps"
	"slices"

	"matladder/internal/each"
	"matladder/tile"
	"matladder/tile/groups"
)

// rewriter copies programs with other axes and refs. What it cannot copy makes it
// fail, and the program stays as it was.
type rewriter struct {
	axes   map[*tile.Axis]tile.IndexExpr // instead of the axis
	refs   map[*tile.Ref]*tile.Ref       // instead of the ref
	resize func(old []int) []int         // of a shape that does not follow from operands
	failed bool
	values tile.Rewriter
}

// ready is w that can rewrite values too.
func (w *rewriter) ready() *rewriter {
	w.values = tile.Rewriting(w.expr)
	return w
}

func (w *rewriter) index(x tile.IndexExpr) tile.IndexExpr {
	return tile.Substitute(x, func(a *tile.Axis) tile.IndexExpr {
		y, ok := w.axes[a]
		switch {
		case !ok:
			return a
		case y == nil:
			w.failed = true
			return a
		}
		return y
	}, w.ref)
}

func (w *rewriter) ref(r *tile.Ref) *tile.Ref {
	if to, ok := w.refs[r]; ok {
		return to
	}
	return r
}

func (w *rewriter) cond(c tile.Cond) tile.Cond {
	switch c := c.(type) {
	case tile.TestCond:
		return tile.TestCond{Op: c.Op, X: w.index(c.X), Y: w.index(c.Y)}
	case tile.AllCond:
		return tile.AllCond(each.Of(c, w.cond))
	case tile.AnyCond:
		return tile.AnyCond(each.Of(c, w.cond))
	case tile.NotCond:
		return tile.NotCond{Cond: w.cond(c.Cond)}
	}
	return c
}

func (w *rewriter) body(body []*tile.Stmt) []*tile.Stmt { return each.Of(body, w.stmt) }

func (w *rewriter) stmt(s *tile.Stmt) *tile.Stmt {
	c := *s
	if s.Value != nil {
		c.Ref, c.Value = w.ref(s.Ref), w.values.Expr(s.Value)
	}
	if s.Cond != nil {
		c.Cond = w.cond(s.Cond)
	}
	c.Body = w.body(s.Body)
	return &c
}

// expr makes of c, a copy of e with operands that are rewritten, e rewritten.
func (w *rewriter) expr(e, c *tile.Expr) *tile.Expr {
	if e.Ref != nil {
		c.Ref = w.ref(e.Ref)
	}
	if e.Index != nil {
		c.Index = w.index(e.Index)
	}
	switch {
	case w.resize == nil:
	case e.Op == tile.OpLoad:
		c.Shape = c.Ref.Shape()
	case e.Op.IsElementwise():
		c.Shape = c.Args[0].Shape
	case e.Op == tile.OpReduceMax || e.Op == tile.OpReduceSum:
		c.Shape = slices.Clone(c.Args[0].Shape)
		c.Shape[e.Dim] = 1
	default:
		c.Shape = w.resize(e.Shape)
	}
	return c
}

// cutBytes is how much of a block, in its working type, one program computes of
// what goes row by row: few enough that several programs share a multiprocessor.
const cutBytes = 32 << 10

// cut returns a program whose blocks have fewer rows, if it goes row by row: if it has no
// product, and no row of a block depends on another. A block that a TPU's memory holds would be
// too large for the registers of a multiprocessor, and too few of them would keep too few busy.
func cut(p *tile.Program) *tile.Program {
	for _, a := range p.Grid {
		if a.Semantics != tile.Parallel {
			continue
		}
		rows, ok := rowsAlong(p, a)
		if !ok {
			continue
		}
		smaller := p
		for n := rows; n > 1 && memoryOf(smaller, nil).Registers > cutBytes; {
			n /= 2
			if smaller = cutTo(p, a, rows, n); smaller == nil {
				break
			}
		}
		if smaller != nil {
			return smaller
		}
	}
	return p
}

// rowsAlong returns how many rows blocks have that move along an axis, one block a
// step; not ok if they are not alike, or a program's rows are not its own.
func rowsAlong(p *tile.Program, a *tile.Axis) (rows int, ok bool) {
	array := 0
	for _, r := range p.Refs {
		d := slices.IndexFunc(r.Index, func(x tile.IndexExpr) bool { return x == tile.IndexExpr(a) })
		if d < 0 {
			if r.Kind == tile.Out {
				return 0, false
			}
			continue
		}
		if r.Overlap() || r.ArrayDim(0) != d || len(r.Shape()) != 2 || rows != 0 && (r.Block[d] != rows || r.Array[d] != array) {
			return 0, false
		}
		rows, array = r.Block[d], r.Array[d]
	}
	ok = rows > 1
	p.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
		switch e.Op {
		case tile.OpDot:
			ok = false
		case tile.OpIota, tile.OpSlice, tile.OpConcat, tile.OpReduceMax, tile.OpReduceSum:
			ok = ok && e.Dim == 1
		case tile.OpInBounds:
			ok = ok && len(e.Shape) == 2 && (e.Dim == 0) == (e.Shape[0] > 1)
		}
		if n := len(e.Shape); n > 0 {
			ok = ok && n == 2 && (e.Shape[0] == 1 || e.Shape[0] == rows)
		}
	})
	for _, r := range p.RefsOf(tile.Scratch) {
		ok = ok && len(r.Array) == 2 && (r.Array[0] == 1 || r.Array[0] == rows)
	}
	return rows, ok
}

// cutTo is p with blocks of n rows instead of rows along an axis; nil if something
// besides the index maps depends on the axis.
func cutTo(p *tile.Program, a *tile.Axis, rows, n int) *tile.Program {
	var array int
	resized := func(shape []int) []int {
		if len(shape) == 0 || shape[0] != rows {
			return shape
		}
		return append([]int{n}, shape[1:]...)
	}
	w := (&rewriter{axes: map[*tile.Axis]tile.IndexExpr{a: nil}, refs: map[*tile.Ref]*tile.Ref{}, resize: resized}).ready()
	out := &tile.Program{Name: p.Name}
	axis := *a
	for _, r := range p.Refs {
		c := *r
		switch {
		case r.Kind == tile.Scratch:
			c.Array, c.Block = resized(r.Array), resized(r.Block)
		case r.Kind != tile.Table:
			c.Block, c.Index = slices.Clone(r.Block), slices.Clone(r.Index)
			for d, x := range r.Index {
				if x == tile.IndexExpr(a) {
					c.Block[d], c.Index[d], array = n, &axis, r.Array[d]
				} else {
					c.Index[d] = w.index(x)
				}
			}
		}
		w.refs[r] = &c
		out.Refs = append(out.Refs, &c)
	}
	axis.Size = tile.Ceil(array, n)
	for _, g := range p.Grid {
		if g == a {
			g = &axis
		}
		out.Grid = append(out.Grid, g)
	}
	if out.Body = w.body(p.Body); w.failed {
		return nil
	}
	return out
}

// alongK are the inputs that the target's matrix units are to find with the elements along
// k side by side: operands of products that lie in memory with neighbours along m or n, and
// whose blocks more than one program reads. One reader alone turns its blocks as it goes.
// So is b where it is of float4 and turns says so.
func (t Target) alongK(p *tile.Program, scaled map[*tile.Expr]*groups.Product) map[*tile.Ref]bool {
	all := map[*tile.Ref]bool{}
	uses := map[*tile.Ref]int{} // other than as such an operand
	p.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
		if e.Op == tile.OpLoad {
			uses[e.Ref]++
		}
		if scaled[e] != nil && turns(p, e.Args[0].Ref, e.Args[1].Ref) {
			uses[e.Args[1].Ref]--
			all[e.Args[1].Ref] = true
		}
		if !t.readsAlongK || e.Op != tile.OpDot || strict(e) || e.Args[0].Dtype.Bits() == 16 {
			return
		}
		for i, across := range []bool{e.TransA, !e.TransB} {
			x := e.Args[i]
			if r := x.Ref; across && x.Op == tile.OpLoad && r.Kind == tile.In && r.Dtype.Bits() != 4 && canTurn(p, r) {
				uses[r]--
				all[r] = true
			}
		}
	})
	maps.DeleteFunc(all, func(r *tile.Ref, _ bool) bool { return uses[r] > 0 })
	return all
}

// canTurn reports whether rows and columns of an array may change places, and more than one
// program reads each block.
func canTurn(p *tile.Program, r *tile.Ref) bool {
	return r.ArrayDim(0) == len(r.Array)-2 && readers(p, r) > 1
}

// readers is how many programs read each block of a ref.
func readers(p *tile.Program, r *tile.Ref) int {
	n := 1
	for _, a := range p.Grid {
		if a.Semantics == tile.Parallel && !r.DependsOn(a) {
			n *= a.Size
		}
	}
	return n
}

// turnedName is what the copy of an array is called that lies along k.
func turnedName(r *tile.Ref) string { return r.Name + "_along_k" }

// turn is the kernel that makes such a copy, block by block. XLA would turn the array too,
// if the layout of an operand asked for it, but outside of a loop that times launches.
func (t Target) turn(r *tile.Ref) (*Kernel, error) {
	const side = 64
	p := &tile.Program{Name: "turn_" + r.Name}
	x := &tile.Ref{Name: r.Name, Kind: tile.In, Dtype: r.Dtype, Array: r.Array, Pos: r.Pos}
	for d, n := range r.Array {
		block, blocks := tile.Squeezed, n
		if d >= len(r.Array)-2 {
			block = min(n, side)
			blocks = tile.Ceil(n, block)
		}
		axis := &tile.Axis{Name: string(rune('a' + d)), Size: blocks, Semantics: tile.Parallel}
		p.Grid, x.Block, x.Index = append(p.Grid, axis), append(x.Block, block), append(x.Index, axis)
	}
	o := &tile.Ref{}
	if *o = *x; r.Dtype.Bits() == 4 { // pairs along k share bytes
		o = turned(x)
	}
	o.Name, o.Kind = turnedName(r), tile.Out
	p.Refs = []*tile.Ref{x, o}
	p.Body = []*tile.Stmt{{Kind: tile.Store, Ref: o, Pos: r.Pos, Value: &tile.Expr{Op: tile.OpLoad, Ref: x, Dtype: x.Dtype, Shape: x.Shape(), Pos: r.Pos}}}
	k, err := t.kernelOf(p, p, Params{Warps: leastWarps, Stages: 1, Group: defaultGroup}, memoryOf(p, nil), seen{alongK: map[*tile.Ref]bool{o: true}})
	if err == nil {
		k.Turns = true
	}
	return k, err
}
