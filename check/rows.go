package check

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"matladder/problem/quant"
	"matladder/tile"
)

// rowwise is what RowByRow returns.
type rowwise struct {
	name       string
	rows, cols int
	dtype      tile.Dtype
	row        func(in map[string]tile.Tensor, i int, want, bound, scratch []float64)
}

// ProductsOff does nothing: there are no products to be off.
func (rowwise) ProductsOff(float64) {}

// RowByRow verifies output o of rows×cols, all of it, of which each row follows from the
// inputs by itself: row sets want to row i in float64, and bound to how far each element
// may be off; scratch has room for one row more.
func RowByRow(rows, cols int, d tile.Dtype, row func(in map[string]tile.Tensor, i int, want, bound, scratch []float64)) Verifier {
	return RowsOf("o", rows, cols, d, row)
}

// RowsOf is RowByRow of the output of a name, whose last dimension has cols and whose
// others rows elements together.
func RowsOf(name string, rows, cols int, d tile.Dtype, row func(in map[string]tile.Tensor, i int, want, bound, scratch []float64)) Verifier {
	return rowwise{name, rows, cols, d, row}
}

// Together verifies what each of its parts does: several outputs, each by itself.
func Together(parts ...Verifier) Verifier { return together(parts) }

type together []Verifier

// ProductsOff tells all parts.
func (t together) ProductsOff(part float64) {
	for _, v := range t {
		v.ProductsOff(part)
	}
}

// Verify finds right what all parts find right. Errors are those of the worst.
func (t together) Verify(ctx context.Context, programs []*tile.Program, in, out map[string]tile.Tensor) (Result, error) {
	all := Result{OK: true}
	for _, v := range t {
		r, err := v.Verify(ctx, programs, in, out)
		if err != nil {
			return Result{}, err
		}
		all.join(r)
	}
	return all, nil
}

// Verify compares each element of the output.
func (r rowwise) Verify(ctx context.Context, _ []*tile.Program, in, outputs map[string]tile.Tensor) (Result, error) {
	out, ok := outputs[r.name]
	if n := len(out.Shape); !ok || n == 0 || out.Shape[n-1] != r.cols || out.Len() != r.rows*r.cols || out.Dtype != r.dtype {
		return Result{}, fmt.Errorf("check: output %s is %s%v, want %s of %d rows of %d", r.name, out.Dtype, out.Shape, r.dtype, r.rows, r.cols)
	}
	type part struct {
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
				out.Decode(got, i*r.cols, 1)
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
						p.wrong = fmt.Sprintf("%s[%d, %d] is %.9g, should be %.9g within %.2g", r.name, i, j, g, want[j], bound[j])
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
