package passes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// slotted makes parts of scratch that copies go to, and that the body multiplies, inputs of
// their own: blocks of the scratch, which a program sees as those of an array. It returns
// which scratch each is of.
func slotted(p *plan.Plan, program *tile.Program) (*tile.Program, map[*tile.Ref]*tile.Ref, error) {
	if !program.CopiesItself() {
		return program, nil, nil
	}
	slots := map[*tile.Ref]*tile.Ref{}
	copied := program.Copied()
	var err error
	part := func(_, e *tile.Expr) *tile.Expr {
		if e.Op != tile.OpSlice || e.Args[0].Op != tile.OpLoad {
			return e
		}
		base := e.Args[0].Ref
		if base.Kind != tile.Scratch || !slices.Contains(copied, base) {
			return e
		}
		index, ok := inBlocks(e.Index, e.Shape[e.Dim])
		if !ok || len(base.Array) != 2 || base.Array[e.Dim]%e.Shape[e.Dim] != 0 {
			err = p.Unsupported(e.Pos, "a slice of %s from %s on: copies bring blocks of %d", base.Name, e.Index, e.Shape[e.Dim])
			return e
		}
		at := []tile.IndexExpr{tile.Const(0), tile.Const(0)}
		at[e.Dim] = index
		r := &tile.Ref{Name: fmt.Sprintf("%s.%d", base.Name, len(slots)), Kind: tile.In, Dtype: base.Dtype, Array: base.Array, Block: e.Shape, Index: at, Pos: e.Pos}
		slots[r] = base
		return &tile.Expr{Op: tile.OpLoad, Ref: r, Dtype: e.Dtype, Shape: e.Shape, Pos: e.Pos}
	}
	q := *program
	q.Body = tile.RewriteBody(program.Body, part)
	parts := slices.SortedFunc(maps.Keys(slots), func(a, b *tile.Ref) int { return strings.Compare(a.Name, b.Name) })
	q.Refs = slices.Concat(q.Refs, parts)
	return &q, slots, err
}

// inBlocks is x / size where that is whole in every program.
func inBlocks(x tile.IndexExpr, size int) (tile.IndexExpr, bool) {
	switch x := x.(type) {
	case tile.Const:
		return tile.Const(int(x) / size), int(x)%size == 0
	case tile.Scaled:
		if x.Op == tile.Product {
			return tile.Times(x.X, x.By/size), x.By%size == 0
		}
	}
	return nil, size == 1
}

// copying puts the value of a loop's variable into what a statement says of copies.
func (a assignment) copying(s *tile.Stmt) {
	slot := func(x tile.Slot) tile.Slot {
		if x.Index != nil {
			x.Index = a.index(x.Index)
		}
		return x
	}
	part := func(p tile.Part) tile.Part {
		p.Index = slices.Clone(p.Index)
		for d, x := range p.Index {
			p.Index[d] = a.index(x)
		}
		return p
	}
	if s.Copy != nil {
		c := *s.Copy
		c.From, c.To, c.Arrived, c.Sent = part(c.From), part(c.To), slot(c.Arrived), slot(c.Sent)
		if c.Device != nil {
			c.Device = a.index(c.Device)
		}
		s.Copy = &c
	}
	if s.Signal != nil {
		x := *s.Signal
		x.To, x.Device = slot(x.To), a.index(x.Device)
		s.Signal = &x
	}
	s.Slot = slot(s.Slot)
}
