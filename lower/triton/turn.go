package triton

import (
	"maps"

	"matladder/tile"
	"matladder/tile/groups"
)

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
