package matladder

import (
	"fmt"
	"slices"
	"unsafe"

	"matladder/internal/each"
	"matladder/tile"
)

// allowInPlace finds the inputs whose memory outputs may be.
func (p *Program) allowInPlace(names map[string]string) error {
	for out, in := range names {
		o := slices.IndexFunc(p.outputs, func(a argument) bool { return a.Name == out })
		i := slices.IndexFunc(p.inputs, func(a argument) bool { return a.Name == in })
		if o < 0 || i < 0 {
			return badOption("InPlace", "no output %s or no input %s", out, in)
		}
		if why := inPlace(p.programs, p.outputs[o].Ref, p.inputs[i].Ref); why != "" {
			return badOption("InPlace", "%s cannot be the memory of %s: %s", out, in, why)
		}
		if p.inPlace == nil {
			p.inPlace = map[int]int{}
		}
		p.inPlace[o] = i
	}
	return nil
}

// inPlace says why an output cannot lie where an input does, or "" if it can. It can where
// the last read of each element is by the program that overwrites it, for that element alone.
func inPlace(programs []*tile.Program, out, in *tile.Ref) string {
	if out.Dtype != in.Dtype || !slices.Equal(out.Array, in.Array) {
		return "they are of different dtypes or shapes"
	}
	var writes []write
	loads := 0
	for _, p := range programs {
		var o, i *tile.Ref
		for _, r := range p.Refs {
			switch r.Name {
			case out.Name:
				o = r
			case in.Name:
				i = r
			}
		}
		if i == nil {
			continue
		}
		if o == nil || !slices.Equal(o.Block, i.Block) || !slices.Equal(o.Index, i.Index) {
			return "programs see other blocks of them"
		}
		for _, s := range p.Body {
			writes = find(writes, s, o)
		}
		p.Walk(func(s *tile.Stmt) {
			if s.Value != nil {
				loads += count(s.Value, i)
			}
		})
		if len(writes) != 1 {
			return out.Name + " is written by more than one statement"
		}
		w := writes[0]
		for _, a := range p.Grid {
			if a.Size > 1 && !slices.Contains(w.once, a) && !o.DependsOn(a) {
				return fmt.Sprintf("a block of %s is written more than once along axis %s", out.Name, a.Name)
			}
		}
		if w.looped || w.stmt.Kind != tile.Store || elementwise(w.stmt.Value, i) != loads {
			return in.Name + " is read elsewhere than element by element where " + out.Name + " is stored"
		}
	}
	return ""
}

// write is a statement that writes an output.
type write struct {
	stmt   *tile.Stmt
	once   []*tile.Axis // along which it runs at one place only
	looped bool
}

// find adds the statements in s that write o.
func find(list []write, s *tile.Stmt, o *tile.Ref) []write {
	if s.Ref == o {
		list = append(list, write{stmt: s})
	}
	before := len(list)
	for _, inner := range s.Body {
		list = find(list, inner, o)
	}
	for i := range list[before:] {
		w := &list[before+i]
		w.looped = w.looped || s.Kind == tile.Loop
		if s.Kind == tile.When {
			w.once = append(w.once, pinned(s.Cond)...)
		}
	}
	return list
}

// pinned are the axes of which a condition admits one place.
func pinned(c tile.Cond) []*tile.Axis {
	switch c := c.(type) {
	case tile.TestCond:
		if a, ok := c.X.(*tile.Axis); ok && c.Op == tile.EQ {
			return []*tile.Axis{a}
		}
	case tile.AllCond:
		return slices.Concat(each.Of(c, pinned)...)
	}
	return nil
}

// count is how often an expression loads r.
func count(e *tile.Expr, r *tile.Ref) int {
	n := 0
	tile.WalkExpr(e, func(x *tile.Expr) {
		if x.Op == tile.OpLoad && x.Ref == r {
			n++
		}
	})
	return n
}

// elementwise is how often it does so for the same element of its value alone.
func elementwise(e *tile.Expr, r *tile.Ref) int {
	seen := map[*tile.Expr]bool{}
	n := 0
	var walk func(*tile.Expr)
	walk = func(x *tile.Expr) {
		if seen[x] {
			return
		}
		seen[x] = true
		if x.Op == tile.OpLoad && x.Ref == r {
			n++
		}
		if x.Op.IsElementwise() {
			for _, arg := range x.Args {
				walk(arg)
			}
		}
	}
	walk(e)
	return n
}

// checkOverlaps refuses an output that shares memory with another argument, unless it may.
func (p *Program) checkOverlaps(out, in []Tensor) error {
	for o := range out {
		for i := range in {
			if !overlap(&out[o], &in[i]) {
				continue
			}
			if at, ok := p.inPlace[o]; ok && at == i && same(&out[o], &in[i]) {
				continue
			}
			return &ArgumentError{p.outputs[o].Name, true, "shares memory with " + p.inputs[i].Name}
		}
		for other := range o {
			if overlap(&out[o], &out[other]) {
				return &ArgumentError{p.outputs[o].Name, true, "shares memory with " + p.outputs[other].Name}
			}
		}
	}
	return nil
}

// same reports whether two tensors of one shape are the same elements.
func same(a, b *Tensor) bool {
	return unsafe.SliceData(a.data) == unsafe.SliceData(b.data) && a.normal() == b.normal()
}

// overlap reports whether two tensors may have elements in common. Parts of the columns of
// one matrix have none.
func overlap(a, b *Tensor) bool {
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a.data))), uintptr(unsafe.Pointer(unsafe.SliceData(b.data)))
	if len(a.data) == 0 || len(b.data) == 0 || x+uintptr(len(a.data)) <= y || y+uintptr(len(b.data)) <= x {
		return false
	}
	if a.rank != 2 || b.rank != 2 || a.shape[0] == 1 || b.shape[0] == 1 || a.strides[1] != 1 || b.strides[1] != 1 ||
		a.strides[0] != b.strides[0] || a.dtype != b.dtype {
		return true
	}
	size := uintptr(a.dtype.Bits() / 8)
	ld, wide := uintptr(a.strides[0]), uintptr(a.shape[1])
	if y < x {
		x, y, wide = y, x, uintptr(b.shape[1])
	}
	if size == 0 || (y-x)%size != 0 {
		return true
	}
	// The one that begins first has columns 0 … wide-1 of ld, the other those from col on.
	col := (y - x) / size % ld
	other := uintptr(a.shape[1]) + uintptr(b.shape[1]) - wide
	return col < wide || col+other > ld
}

// repeats reports whether elements of a tensor may be the same memory.
func repeats(t *Tensor) bool {
	var dims []int
	for i := range t.rank {
		if t.shape[i] > 1 {
			dims = append(dims, i)
		}
	}
	slices.SortFunc(dims, func(i, j int) int { return t.strides[i] - t.strides[j] })
	extent := 1
	for _, i := range dims {
		if t.strides[i] < extent {
			return true
		}
		extent += t.strides[i] * (t.shape[i] - 1)
	}
	return false
}
