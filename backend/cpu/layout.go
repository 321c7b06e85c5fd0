package cpu

import "matladder/tile"

// operand is a ref as one side of products: blocks of it are packed in chunks
// of depth elements of k, each chunk in panels of packing.lanes lanes.
type operand struct {
	ref     int
	isB     bool
	columns bool // the lanes are the columns of memory
	packing packing
	lanes   int // of a whole block: rows of a, or columns of b
	k       int // of a whole block
	depth   int
	chunk   int // bytes from chunk to chunk
	block   int // bytes of a whole block

	keep   keep
	counts bool   // packing a block of it counts as loading one
	slots  int    // blocks kept
	mem    region // shared: of the executable's memory; else of a worker's
	piece  int    // streamed: lanes packed at once
	deep   bool   // streamed: all chunks of a piece are packed together
}

// chunkWords is how many words of a lane a chunk holds at most: panels of a and
// b this deep stay in the first-level cache while they are multiplied by
// vectors; the kernel on tiles cuts them again.
const chunkWords = 1024

// layOut gives each product its packed operands.
func layOut(p *plan) error {
	var err error
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			if err == nil {
				err = p.layOutDot(d)
			}
		}
	})
	return err
}

func (p *plan) layOutDot(d *dot) error {
	e := d.expr
	var refs [2]*ref
	for i, arg := range e.Args {
		if arg.Op != tile.OpLoad || arg.Ref.Kind != tile.In {
			return p.unsupported(e.Pos, "dot of something else than two inputs: operand %d is %s", i+1, describe(arg))
		}
		refs[i] = &p.refs[p.ref(arg.Ref)]
	}
	a, b := refs[0], refs[1]
	d.product = thinProductOf(p.machine.kernels, a.Dtype, b.Dtype)
	if d.product == nil || e.TransB || p.rowsOfBlock(a, b, !e.TransA) > d.product.directRows {
		d.product = productOf(p.machine.kernels, a.Dtype, b.Dtype)
	}
	if d.product == nil {
		return p.unsupported(e.Pos, "dot of %s and %s: no micro-kernel multiplies %s and %s", a.Name, b.Name, a.Dtype, b.Dtype)
	}
	if !sameContraction(a, e.TransA, b, !e.TransB) {
		return p.unsupported(e.Pos, "dot of %s and %s, whose blocks overhang differently where they are contracted", a.Name, b.Name)
	}
	d.a = p.operand(a, false, e.TransA, d.product.a)
	d.b = p.operand(b, true, !e.TransB, d.product.b)
	return nil
}

// sameContraction reports whether the valid extents of two blocks along the
// contraction are equal in every program.
func sameContraction(a *ref, aRows bool, b *ref, bRows bool) bool {
	i, j := a.dim(aRows), b.dim(bRows)
	whole := func(r *ref, i int) bool { return r.Array[i]%r.BlockSize(i) == 0 }
	if whole(a, i) && whole(b, j) {
		return true
	}
	return a.Array[i] == b.Array[j] && a.Index[i] == b.Index[j]
}

// operand returns the number of an operand, new or met before.
func (p *plan) operand(r *ref, isB, columns bool, pk packing) int {
	n := p.ref(r.Ref)
	for i, o := range p.operands {
		if o.ref == n && o.isB == isB && o.columns == columns && o.packing.format == pk.format {
			return i
		}
	}
	o := &operand{ref: n, isB: isB, columns: columns, packing: pk, lanes: r.rows, k: r.cols}
	if columns {
		o.lanes, o.k = r.cols, r.rows
	}
	steps := ceil(o.k, pk.unit)
	o.depth = ceil(steps, ceil(steps, chunkWords/pk.words)) * pk.unit
	o.chunk = ceil(o.lanes, pk.lanes) * pk.panel(o.depth)
	o.block = ceil(o.k, o.depth) * o.chunk
	p.operands = append(p.operands, o)
	return len(p.operands) - 1
}

// describe names an expression for an error.
func describe(e *tile.Expr) string {
	if e.Op == tile.OpLoad {
		return e.Ref.Kind.String() + " " + e.Ref.Name
	}
	return e.Op.String()
}

func ceil(a, b int) int { return (a + b - 1) / b }
