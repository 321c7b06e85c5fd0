package passes

import (
	"math"
	"slices"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// How many words of a lane a chunk holds at most: panels of a and b this deep stay
// in the first-level cache while they are multiplied by vectors. The kernel on
// tiles divides k itself, as it keeps sums between its runs.
const (
	chunkWords      = 1024
	tilesChunkWords = 64 << 10

	// Where at most tilesThinRows rows of a meet b, to read b takes as long as to multiply.
	// Chunks this deep are wide, and read along rows, which processors prefetch.
	tilesThinWords = 128
	tilesThinRows  = 64
)

// layOut gives each product its packed operands.
func layOut(p *plan.Plan) error {
	for s, d := range p.AllDots() {
		if err := layOutDot(p, s, d); err != nil {
			return err
		}
	}
	return nil
}

func layOutDot(p *plan.Plan, s *plan.Step, d *plan.Dot) error {
	e := d.Expr
	var sides [2]side
	for i, arg := range e.Args {
		var err error
		if sides[i], err = sideOf(p, e, i, arg); err != nil {
			return err
		}
	}
	a, b := sides[0], sides[1]
	if g := d.Groups; g != nil {
		a.scales, b.scales, a.group, b.group = g.A, g.B, g.Size, g.Size
	}
	rows := rowsMet(p, s, a.Matrix, b.Matrix, !e.TransA)
	if d.Groups != nil && !d.Groups.InPlace {
		if d.Product = groupsOf(p.Machine.Kernels, a.factor, b.factor, a.Dtype, b.Dtype, d.Groups.Size); d.Product != nil {
			return operands(p, d, a, b)
		}
	}
	few := inColumns(p, e, a, b, rows)
	if few == nil {
		d.Options = options(p, e, a, b, rows)
	}
	kernels := kernelsFor(p, d.Options)
	d.Product = productOf(kernels.Thin(), a.factor, b.factor, a.Dtype, b.Dtype)
	if d.Groups == nil || d.Groups.InPlace {
		if x := inPlace(kernels, a, b, rows, d.Groups != nil); x != nil {
			d.Product = x
		}
	}
	d.Thin = d.Product
	switch {
	case few != nil:
		d.Product = few
	case e.TransB && readsDots(d.Product, d.Options, rows):
		d.Product.Unpacked, d.Product.B.AsItLies = d.Product.Dots, true
		d.Product.B.Format += "/dots"
	case d.Product == nil || e.TransB || rows > d.Product.Unpacked.Rows:
		d.Product = productOf(kernels, a.factor, b.factor, a.Dtype, b.Dtype)
		switch {
		case d.Product == nil:
		case d.Product.Strips != nil && b.Dtype == b.factor && slices.Contains(p.Machine.Layout.Packed, b.Name):
			d.Product.Strips(rows)
		case d.Product.B.Widening != nil:
			inChunks(d.Product, packedWords)
		case d.Product.A.Words > 1 && !e.TransB && rows <= tilesThinRows:
			inChunks(d.Product, tilesThinWords)
		}
	case d.Product.B.InPlace:
		inChunks(d.Product, packedWords)
	case d.Product.B.Widening != nil:
		inChunks(d.Product, directWords)
	}
	if d.Product == nil {
		return p.Unsupported(e.Pos, "dot of %s and %s: no micro-kernel multiplies %s and %s", a.Name, b.Name, a.factor, b.factor)
	}
	if a.from != b.from || a.size != b.size {
		return p.Unsupported(e.Pos, "dot of slices of %s and %s that are not the same part of what is contracted", a.Name, b.Name)
	}
	if !sameContraction(a.Matrix, e.TransA, b.Matrix, !e.TransB) {
		return p.Unsupported(e.Pos, "dot of %s and %s, whose blocks overhang differently where they are contracted", a.Name, b.Name)
	}
	if p.Machine.Choices.Whole {
		inChunks(d.Product, math.MaxInt32)
	}
	return operands(p, d, a, b)
}

// inPlace is a product that widens b as it reads it where it lies, for so many rows of a that this pays;
// nil if there is none.
func inPlace(k *gemm.Kernels, a, b side, rows int, grouped bool) *plan.Product {
	if k = k.Thin(); !grouped {
		k = k.ForInPlace()
	}
	x := productOf(k, a.factor, b.factor, a.Dtype, b.Dtype)
	if x == nil || x.B.Widening == nil {
		return nil
	}
	reader := x.InPlace(b.Dtype, b.Matrix.InRow(), grouped)
	if reader == nil || rows > reader.Rows {
		return nil
	}
	x.Unpacked, x.B.InPlace = reader, true
	x.B.Format += "/in place"
	return x
}

// inColumns is a product of so many rows of a as they lie by a b of few columns; nil if it has more.
func inColumns(p *plan.Plan, e *tile.Expr, a, b side, rows int) *plan.Product {
	x := productOf(p.Machine.Kernels.Thin(), a.factor, b.factor, a.Dtype, b.Dtype)
	if x == nil || x.Columns == nil || e.TransA || e.TransB || a.group > 0 || p.Machine.CacheBytes == 0 || p.Machine.Choices.ReadA == plan.ReadAPacked {
		return nil
	}
	n, k := b.Cols, a.size
	if i := b.Dim(false); i >= 0 {
		n = b.Array[i]
	}
	if i := b.Dim(true); i >= 0 {
		k = max(k, b.Array[i])
	}
	if !x.PaysColumns(rows, n, k) {
		return nil
	}
	x.Unpacked, x.A.AsItLies, x.B.AsItLies = x.Columns, true, true
	x.A.Format += "/columns"
	x.B.Format += "/columns"
	return x
}

// operands notes what product d multiplies.
func operands(p *plan.Plan, d *plan.Dot, a, b side) error {
	d.K0, d.K1 = a.from, a.from+a.size
	d.A = operand(p, a, false, d.Expr.TransA, d.Product.A)
	d.B = operand(p, b, true, !d.Expr.TransB, d.Product.B)
	return nil
}

// side is one operand of a dot: part of a ref's block, as a dtype.
type side struct {
	*plan.Matrix
	factor     tile.Dtype
	from, size int // of what is contracted
	shown      plan.Shown
	scales     plan.GroupScales
	group      int
}

// sideOf sees an operand: a ref, a slice of one along the contraction, or either
// cast to what the matrix units multiply.
func sideOf(p *plan.Plan, e *tile.Expr, number int, arg *tile.Expr) (side, error) {
	s := side{factor: arg.Dtype}
	dim := 1 - number
	if number == 0 && e.TransA || number == 1 && e.TransB {
		dim = 1 - dim
	}
	x := arg
	if of, shown, ok := shownOf(arg, dim); ok && number == 1 && showsPart(e) {
		x, s.shown = of, shown
	}
	if x.Op == tile.OpCast {
		x = x.Args[0]
	}
	if x.Op == tile.OpSlice {
		from, isConst := x.Index.(tile.Const)
		if x.Dim != dim || !isConst {
			return s, p.Unsupported(e.Pos, "dot of a slice that is not along what is contracted, or moves: operand %d", number+1)
		}
		s.from, s.size, x = int(from), x.Shape[dim], x.Args[0]
	}
	if x.Op != tile.OpLoad || x.Ref.Kind != tile.In && x.Ref.Kind != tile.Scratch {
		return s, p.Unsupported(e.Pos, "dot of something else than inputs and scratch: operand %d is %s", number+1, describe(x))
	}
	if s.Matrix = &p.Refs[p.Number(x.Ref)]; s.size == 0 {
		s.size = x.Shape[dim]
	}
	return s, nil
}

// sameContraction reports whether both blocks have equal valid extents along k in every
// program. Scratch always passes: the other operand says how much is multiplied.
func sameContraction(a *plan.Matrix, aRows bool, b *plan.Matrix, bRows bool) bool {
	if a.Kind == tile.Scratch || b.Kind == tile.Scratch {
		return true
	}
	i, j := a.Dim(aRows), b.Dim(bRows)
	whole := func(r *plan.Matrix, i int) bool { return r.Array[i]%r.BlockSize(i) == 0 && r.Step(i) == r.BlockSize(i) }
	if whole(a, i) && whole(b, j) {
		return true
	}
	return a.Array[i] == b.Array[j] && a.Index[i] == b.Index[j] && a.Step(i) == b.Step(j)
}

// operand returns the number of an operand, new or met before.
func operand(p *plan.Plan, s side, isB, columns bool, pk plan.Packing) int {
	r, n, part := s.Matrix, p.Number(s.Ref), plan.GCD(s.from, s.size)
	for i, o := range p.Operands {
		if o.Ref == n && o.IsB == isB && o.Columns == columns && o.Packing.Format == pk.Format && o.Packing.Lanes == pk.Lanes && o.Part == part && o.Shown == s.shown && o.Scales.Ref == s.scales.Ref && o.Scales.At == s.scales.At {
			return i
		}
	}
	o := &plan.Operand{Ref: n, IsB: isB, Columns: columns, Packing: pk, Factor: s.factor, Lanes: r.Rows, K: r.Cols, Part: part, Shown: s.shown, Scales: s.scales, Group: s.group}
	if columns {
		o.Lanes, o.K = r.Cols, r.Rows
	}
	if o.Scales.At != nil {
		o.Scales.Read = wideningOf(p.Refs[o.Scales.Ref].Dtype, tile.Float32, p.Machine.Kernels.ISA)
		if d := p.Refs[o.Scales.Ref].Dtype; d.Bits() == 8 {
			var table [256]float32
			for c := range table {
				table[c] = float32(d.Value(byte(c)))
			}
			o.Scales.Read.One = func(src []byte, i int) float32 { return table[src[i]] }
		}
	}
	o.Depth = chunkDepth(o)
	o.Chunk = tile.Ceil(o.Lanes, pk.Lanes) * pk.Panel(o.Depth)
	o.Block = tile.Ceil(o.K, o.Depth) * o.Chunk
	p.Operands = append(p.Operands, o)
	return len(p.Operands) - 1
}

// chunkDepth is how many elements of k a chunk has: about equal parts of a
// block; equal ones of a slice, so that each begins a chunk.
func chunkDepth(o *plan.Operand) int {
	most := max(1, o.Packing.Chunk/o.Packing.Words) // steps
	if o.Part == o.K {
		steps := tile.Ceil(o.K, o.Packing.Unit)
		return tile.Ceil(steps, tile.Ceil(steps, most)) * o.Packing.Unit
	}
	n := tile.Ceil(o.Part, most*o.Packing.Unit)
	for o.Part%n != 0 {
		n++
	}
	return o.Part / n
}

// describe names an expression for an error.
func describe(e *tile.Expr) string {
	if e.Op == tile.OpLoad {
		return e.Ref.Kind.String() + " " + e.Ref.Name
	}
	return e.Op.String()
}
