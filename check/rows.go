package check

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"matladder/quant"
	"matladder/tile"
)

// rowwise is what RowByRow returns.
type rowwise struct {
	rows, cols int
	dtype      tile.Dtype
	row        func(in map[string]tile.Tensor, i int, want, bound, scratch []float64)
}

// ProductsOff does nothing: there are no products to be off.
func (rowwise) ProductsOff(float64) {}

// RowByRow verifies an output of rows×cols, all of it, of which each row follows from the
// inputs by itself: row sets want to row i in float64, and bound to how far each element
// may be off; scratch has room for one row more.
func RowByRow(rows, cols int, d tile.Dtype, row func(in map[string]tile.Tensor, i int, want, bound, scratch []float64)) Verifier {
	return rowwise{rows, cols, d, row}
}

// Verify compares each element of out.
func (r rowwise) Verify(ctx context.Context, _ []*tile.Program, in map[string]tile.Tensor, out tile.Tensor) (Result, error) {
	if shape := []int{r.rows, r.cols}; !slices.Equal(out.Shape, shape) || out.Dtype != r.dtype {
		return Result{}, fmt.Errorf("check: output is %s%v, want %s%v", out.Dtype, out.Shape, r.dtype, shape)
	}
	type part struct {
		from   int
		worst  float64
		wrong  string
		errors quant.Sum
	}
	parts := make([]part, runtime.GOMAXPROCS(0)) // some may stay empty
	workers := len(parts)
	err := parallel(ctx, workers, func(first, last int) {
		got, want := make([]float64, r.cols), make([]float64, r.cols)
		bound, scratch := make([]float64, r.cols), make([]float64, r.cols)
		for w := first; w < last; w++ {
			p := &parts[w]
			for i := w * r.rows / workers; i < (w+1)*r.rows/workers && ctx.Err() == nil; i++ {
				decode(got, out, i*r.cols, 1)
				r.row(in, i, want, bound, scratch)
				for j, g := range got {
					p.errors.Add(g, want[j])
					e := math.Abs(g - want[j])
					if e <= bound[j]*p.worst { // no worse than another
						continue
					}
					p.worst = e / bound[j]
					if !(p.worst >= 0) { // NaN: wrong, and worse than anything
						p.worst = math.Inf(1)
					}
					if !(e <= bound[j]) {
						p.wrong = fmt.Sprintf("o[%d, %d] is %.9g, should be %.9g within %.2g", i, j, g, want[j], bound[j])
					}
				}
			}
		}
	})
	if err != nil {
		return Result{}, err
	}
	res := Result{OK: true}
	var errors quant.Sum
	for _, p := range parts {
		if p.wrong != "" && p.worst > res.ErrOverBound {
			res.OK, res.Detail = false, p.wrong
		}
		res.ErrOverBound = max(res.ErrOverBound, p.worst)
		errors.Join(p.errors)
	}
	res.RelErr = errors.Error().Rel
	return res, nil
}
