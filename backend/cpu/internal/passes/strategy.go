package passes

import (
	"cmp"
	"slices"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// options lists what there is for the B of a product, which so many rows of A meet in all,
// the cheapest first. There are none where the caller has fixed the way, B is widened, so many
// rows meet it that packing costs little beside them, or nothing is measured. Fixed rules then
// decide how B is read.
func options(p *plan.Plan, e *tile.Expr, a, b side, rows int) []plan.Option {
	same := a.Dtype == a.factor && b.Dtype == b.factor && plan.Multiplied(a.factor) == a.factor && a.factor == b.factor
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
	costsOf := func(x *plan.Product) map[gemm.ReadB]gemm.ReadCost {
		return p.Machine.Figures.ReadCosts(x, together, b.ArrayBytes(), b.LD*b.Dtype.Bits()/8, depth)
	}
	costs, packed := costsOf(thin), costsOf(whole)[gemm.ReadPacked]
	readsA := !e.TransA && !sameSet(a.LD*a.Dtype.Bits()/8) // ways that can read rows of A as they lie need no packing
	var list []plan.Option
	for _, s := range plan.Strategies {
		c, ok := costs[s.Read]
		if s.Read == gemm.ReadPacked {
			c = packed
		}
		if ok {
			seconds := (c.Pack + c.Multiply*float64(rows)/float64(together)) * float64(tile.Elements(b.Array))
			if readsA {
				seconds += c.PackA * float64(tile.Elements(a.Array))
			}
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
	return x != nil && x.Dots != nil && rows <= x.Dots.Rows()
}
