package passes

import (
	"cmp"
	"maps"
	"slices"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/machine"
	"matladder/tile"
)

// skinny decides which b is not packed: one whose blocks each meet so few rows of
// a, in all programs together, that packing would take longer than multiplying.
// Its rows must be rows of memory, or its columns if the micro-kernel reads along these.
func skinny(p *plan.Plan) error {
	for s, d := range p.AllDots() {
		a, b := p.Operands[d.A], p.Operands[d.B]
		all := rowsMet(p, s, &p.Refs[a.Ref], &p.Refs[b.Ref], !a.Columns)
		b.Meets += all * (d.K1 - d.K0) // of as many elements of k
		b.Pays = d.Product.Unpacked.Rows
	}
	for _, o := range p.Operands {
		if o.IsB && (o.Packing.AsItLies || o.Columns && o.Meets <= o.Pays*o.K) {
			o.Keep, o.Far = plan.KeepUnpacked, !o.Widened() && p.Refs[o.Ref].ArrayBytes() > p.Machine.L2
		}
	}
	return nil
}

// rowsMet is how many lanes of a, rows or columns of memory, meet one block of b in step s
// over the whole grid. Where each program stores some rows alone, as those of a group, each
// row of the output is computed once; and where b is scratch, each program meets another.
func rowsMet(p *plan.Plan, s *plan.Step, a, b *plan.Matrix, rows bool) int {
	n := lanesOfBlock(p, a, b, rows)
	if b.Kind == tile.Scratch {
		n = a.Lanes(rows)
	}
	dst := &p.Refs[s.Dst]
	if !s.Stmt.IsPart() || dst.RowDim < 0 {
		return n
	}
	all := dst.Array[dst.RowDim]
	for d, blocks := range dst.BlocksAlong {
		if d != dst.RowDim {
			all *= blocks
		}
	}
	return min(n, tile.Ceil(all, b.BlockCount()))
}

// lanesOfBlock is how many lanes of x, rows or columns of memory, meet one block of the
// other operand over the whole grid, if programs are spread evenly over the blocks of
// both.
func lanesOfBlock(p *plan.Plan, x, other *plan.Matrix, rows bool) int {
	lanes, blocks := x.Lanes(rows), 1
	if dim := x.Dim(rows); dim >= 0 && x.Kind != tile.Scratch && x.Step(dim) == x.BlockSize(dim) {
		lanes, blocks = x.Array[dim], x.BlocksAlong[dim]
	}
	sharing := tile.Ceil(int(p.Program.Steps()), other.BlockCount())
	return tile.Ceil(sharing*lanes, blocks)
}

// options lists what there is for the B of a product, which so many rows of A meet in all,
// the cheapest first. There are none where the caller has fixed the way, B is widened, so many
// rows meet it that packing costs little beside them, or nothing is measured. Fixed rules then
// decide how B is read.
func options(p *plan.Plan, e *tile.Expr, a, b side, rows int) []plan.Option {
	same := a.Dtype == a.factor && b.Dtype == b.factor && machine.Multiplied(a.factor) == a.factor && a.factor == b.factor
	if p.Machine.Figures == nil || p.Machine.Choices.B != gemm.ReadByRule || !same || rows > gemm.MostRead {
		return nil
	}
	whole, thin := productOf(p.Machine.Kernels, a.factor, b.factor, a.Dtype, b.Dtype), productOf(p.Machine.Kernels.Thin(), a.factor, b.factor, a.Dtype, b.Dtype)
	if whole == nil || thin == nil || thin.Path == nil {
		return nil
	}
	rowsOfBlock, depth := a.Rows, 0
	if e.TransA {
		rowsOfBlock = a.Cols
	}
	if e.TransB {
		depth = b.Cols
	}
	together := min(rows, rowsOfBlock)
	costsOf := func(x *plan.Product, bytes int64) map[gemm.ReadB]gemm.ReadCost {
		return p.Machine.Figures.ReadCosts(x, together, bytes, b.LD*b.Dtype.Bits()/8, depth)
	}
	costs, packed := costsOf(thin, b.ArrayBytes()), costsOf(whole, b.ArrayBytes())[gemm.ReadPacked]
	if _, ok := costs[gemm.ReadTiles]; ok && a.LD == a.Cols && b.LD == b.Cols && b.BlockCount() > 1 {
		// Tiles ask for the next matrices of a batch, so that they come from L2.
		costs = maps.Clone(costs)
		costs[gemm.ReadTiles] = costsOf(thin, b.Dtype.Bytes(int64(b.Rows*b.Cols)))[gemm.ReadTiles]
	}
	var list []plan.Option
	for _, s := range plan.Strategies {
		c, ok := costs[s.Read]
		if s.Read == gemm.ReadPacked {
			c = packed
		}
		if ok {
			seconds := (c.Pack + c.Multiply*float64(rows)/float64(together)) * float64(tile.Elements(b.Array))
			list = append(list, plan.Option{Strategy: s, Seconds: seconds})
		}
	}
	if len(list) < 2 { // nothing to choose
		return nil
	}
	slices.SortStableFunc(list, func(x, y plan.Option) int { return cmp.Compare(x.Seconds, y.Seconds) })
	return list
}

// kernelsFor are those that read B by the first of options, or by what was asked for.
func kernelsFor(p *plan.Plan, options []plan.Option) *gemm.Kernels {
	if len(options) == 0 {
		return p.Machine.Kernels
	}
	c := p.Machine.Choices.Choices
	c.B = options[0].Read
	return p.Machine.Kernels.With(c)
}

// readsDots reports whether product x had better read a b whose columns are rows of memory
// where it lies, for so many rows of a: as estimated, or else by rule.
func readsDots(x *plan.Product, options []plan.Option, rows int) bool {
	if len(options) > 0 {
		return options[0].Read == gemm.ReadDots
	}
	return x != nil && x.Dots != nil && rows <= x.Dots.Rows
}
