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
	part    int // elements of k, of which slices are and begin at multiples; all of the block's without them
	depth   int
	chunk   int // bytes from chunk to chunk
	block   int // bytes of a whole block

	packed string // a: why its rows are not loaded as they lie

	meets, pays int // b: rows of a that meet a block of it, times their elements of k; and up to how many rows it is not packed

	keep   keep
	why    string // keep
	room   int64  // bytes that were left to choose keep by
	counts bool   // packing a block of it counts as loading one
	slots  int    // blocks kept
	// follows: blocks that one program after another sees have numbers that do, too.
	follows bool
	mem     region // shared: of the executable's memory; else of a worker's
	piece   int    // not kept: lanes packed, or widened, at once
	deep    bool   // keepPiece: all chunks of a piece are packed together
}

// How many words of a lane a chunk holds at most: panels of a and b this deep stay
// in the first-level cache while they are multiplied by vectors. The kernel on
// tiles divides k itself, as it keeps sums between its runs.
const (
	chunkWords      = 1024
	tilesChunkWords = 64 << 10

	// A b that as few rows of a meet costs as much to read as to multiply. Chunks
	// this deep are wide, and read along rows, which processors prefetch.
	tilesThinWords = 128
	tilesThinRows  = 64
)

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
	var sides [2]side
	for i, arg := range e.Args {
		var err error
		if sides[i], err = p.side(e, i, arg); err != nil {
			return err
		}
	}
	a, b := sides[0], sides[1]
	rows := p.lanesOfBlock(a.ref, b.ref, !e.TransA)
	d.options = p.options(e, a, b, rows)
	kernels := p.kernelsFor(d.options)
	d.product = productOf(kernels.Thin(), a.factor, b.factor, a.Dtype, b.Dtype)
	if d.product != nil && d.product.b.widening != nil {
		stored := productOf(kernels.Stored(), a.factor, b.factor, a.Dtype, b.Dtype)
		if stored.readInPlace(b.Dtype, rows, b.ref.inRow()); stored.b.inPlace {
			d.product = stored
		}
	}
	d.thin = d.product
	switch {
	case d.product == nil || e.TransB || rows > d.product.directRows:
		d.product = productOf(kernels, a.factor, b.factor, a.Dtype, b.Dtype)
		switch {
		case d.product == nil:
		case d.product.b.widening != nil:
			d.product.inChunks(packedWords)
		case d.product.a.words > 1 && !e.TransB && rows <= tilesThinRows:
			d.product.inChunks(tilesThinWords)
		}
	case d.product.b.inPlace:
		d.product.inChunks(packedWords)
	case d.product.b.widening != nil:
		d.product.inChunks(directWords)
	}
	if d.product == nil {
		return p.unsupported(e.Pos, "dot of %s and %s: no micro-kernel multiplies %s and %s", a.Name, b.Name, a.factor, b.factor)
	}
	if a.from != b.from || a.size != b.size {
		return p.unsupported(e.Pos, "dot of slices of %s and %s that are not the same part of what is contracted", a.Name, b.Name)
	}
	if !sameContraction(a.ref, e.TransA, b.ref, !e.TransB) {
		return p.unsupported(e.Pos, "dot of %s and %s, whose blocks overhang differently where they are contracted", a.Name, b.Name)
	}
	d.k0, d.k1 = a.from, a.from+a.size
	d.a = p.operand(a, false, e.TransA, d.product.a)
	d.b = p.operand(b, true, !e.TransB, d.product.b)
	return nil
}

// side is one operand of a dot: part of a ref's block, as a dtype.
type side struct {
	*ref
	factor     tile.Dtype
	from, size int // of what is contracted
}

// side sees an operand: a ref, a slice of one along the contraction, or either
// cast to what the matrix units multiply.
func (p *plan) side(e *tile.Expr, number int, arg *tile.Expr) (side, error) {
	s := side{factor: arg.Dtype}
	dim := 1 - number
	if number == 0 && e.TransA || number == 1 && e.TransB {
		dim = 1 - dim
	}
	x := arg
	if x.Op == tile.OpCast {
		x = x.Args[0]
	}
	if x.Op == tile.OpSlice {
		from, isConst := x.Index.(tile.Const)
		if x.Dim != dim || !isConst {
			return s, p.unsupported(e.Pos, "dot of a slice that is not along what is contracted, or moves: operand %d", number+1)
		}
		s.from, s.size, x = int(from), x.Shape[dim], x.Args[0]
	}
	if x.Op != tile.OpLoad || x.Ref.Kind != tile.In && (x.Ref.Kind != tile.Scratch || number == 1) {
		return s, p.unsupported(e.Pos, "dot of something else than two inputs, or scratch and an input: operand %d is %s", number+1, describe(x))
	}
	if s.ref = &p.refs[p.ref(x.Ref)]; s.size == 0 {
		s.size = x.Shape[dim]
	}
	return s, nil
}

// sameContraction reports whether the valid extents of two blocks along the
// contraction are equal in every program, or need not be: a that is scratch is
// packed anew for each product, as deep as b is.
func sameContraction(a *ref, aRows bool, b *ref, bRows bool) bool {
	if a.Kind == tile.Scratch {
		return true
	}
	i, j := a.dim(aRows), b.dim(bRows)
	whole := func(r *ref, i int) bool { return r.Array[i]%r.BlockSize(i) == 0 }
	if whole(a, i) && whole(b, j) {
		return true
	}
	return a.Array[i] == b.Array[j] && a.Index[i] == b.Index[j]
}

// operand returns the number of an operand, new or met before.
func (p *plan) operand(s side, isB, columns bool, pk packing) int {
	r, n, part := s.ref, p.ref(s.Ref), gcd(s.from, s.size)
	for i, o := range p.operands {
		if o.ref == n && o.isB == isB && o.columns == columns && o.packing.format == pk.format && o.packing.lanes == pk.lanes && o.part == part {
			return i
		}
	}
	o := &operand{ref: n, isB: isB, columns: columns, packing: pk, lanes: r.rows, k: r.cols, part: part}
	if columns {
		o.lanes, o.k = r.cols, r.rows
	}
	o.depth = o.chunkDepth()
	o.chunk = ceil(o.lanes, pk.lanes) * pk.panel(o.depth)
	o.block = ceil(o.k, o.depth) * o.chunk
	p.operands = append(p.operands, o)
	return len(p.operands) - 1
}

// chunkDepth is how many elements of k a chunk has: about equal parts of a
// block; equal ones of a slice, so that each begins a chunk.
func (o *operand) chunkDepth() int {
	most := max(1, o.packing.chunk/o.packing.words) // steps
	if o.part == o.k {
		steps := ceil(o.k, o.packing.unit)
		return ceil(steps, ceil(steps, most)) * o.packing.unit
	}
	n := ceil(o.part, most*o.packing.unit)
	for o.part%n != 0 {
		n++
	}
	return o.part / n
}

// describe names an expression for an error.
func describe(e *tile.Expr) string {
	if e.Op == tile.OpLoad {
		return e.Ref.Kind.String() + " " + e.Ref.Name
	}
	return e.Op.String()
}

func ceil(a, b int) int { return (a + b - 1) / b }
