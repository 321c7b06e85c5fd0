package cpu

import (
	"math"

	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

// negativeZero changes no number that it is added to, not even a zero.
var negativeZero = float32(math.Copysign(0, -1))

// scales are what a product is multiplied by and what is added to it as it is
// written:
//
//	(product · factor of the row) · factor of the column + term of the column
type scales struct {
	row, column, term *tile.Expr // blocks as large as the product; nil for 1, 1 and -0
	narrow            bool       // then it is rounded to bfloat16

	rowOf, columnsOf, termsOf lanes[float32] // their values
	mem                       region         // of a worker's memory
	rows, cols                int            // of a piece
}

// scales sees what step s, which writes an output once, makes of a product, if
// tiles can do all of it as they write: in this order, with these roundings. It
// returns nil if they cannot.
func (p *plan) scales(s *step) *scales {
	dst, d, v := &p.refs[s.dst], s.dots[0], s.stmt.Value
	if s.stmt.Kind != tile.Store || s.stmt.IsPart() || s.direct || d.product.scaled == nil || !p.whole(s) || reads(v, dst.Ref) {
		return nil
	}
	x := &scales{}
	if v.Op == tile.OpCast && v.Dtype == tile.BFloat16 && dst.Dtype == tile.BFloat16 {
		x.narrow, v = true, v.Args[0]
	}
	if v.Dtype != tile.Float32 || !x.narrow && dst.Dtype != tile.Float32 {
		return nil
	}
	repeats := func(e *tile.Expr) bool { return oneRow(e) || oneColumn(e) }
	v, x.term = apart(v, tile.OpAdd, repeats)
	v, last := apart(v, tile.OpMul, repeats)
	v, first := apart(v, tile.OpMul, repeats)
	switch {
	case first == nil && (last == nil || oneRow(last)):
		x.column = last
	case first == nil:
		x.row = last
	default:
		x.row, x.column = first, last
	}
	if v.Op == tile.OpCast && v.Args[0].Dtype == tile.Int32 {
		v = v.Args[0]
	}
	if v != d.expr || x.row != nil && !oneColumn(x.row) || x.column != nil && !oneRow(x.column) || x.term != nil && !oneRow(x.term) {
		return nil
	}
	return x
}

// apart takes a sum or a product of something and a block of some kind apart; the
// block is nil where e is nothing of that kind.
func apart(e *tile.Expr, op tile.Op, kind func(*tile.Expr) bool) (rest, block *tile.Expr) {
	if e.Op == op && e.Dtype == tile.Float32 {
		for i, x := range e.Args {
			if kind(x) {
				return e.Args[1-i], x
			}
		}
	}
	return e, nil
}

// oneRow reports whether all rows of a block are one that is repeated.
func oneRow(e *tile.Expr) bool {
	return e.Op == tile.OpBroadcast && (len(e.Args[0].Shape) < 2 || e.Args[0].Shape[0] == 1)
}

// oneColumn reports whether all columns of a block are one that is repeated.
func oneColumn(e *tile.Expr) bool {
	if e.Op != tile.OpBroadcast {
		return false
	}
	from := e.Args[0].Shape
	return len(from) == 0 || from[len(from)-1] == 1
}

// compile makes the values of scales.
func (x *scales) compile(c *values) {
	for _, v := range []struct {
		of *tile.Expr
		to *lanes[float32]
	}{{x.row, &x.rowOf}, {x.column, &x.columnsOf}, {x.term, &x.termsOf}} {
		if v.of != nil {
			*v.to = c.floats(v.of)
		}
	}
}

// size lays the memory of a piece out: factors of its rows and then, panel by panel,
// those of columns and their terms.
func (x *scales) size(rows, cols int, local *space) {
	x.rows, x.cols = rows, cols
	x.mem = local.region((rows + 2*cols) * 4)
}

// of is the scaling of m×n elements from (row, col) of the block on.
func (x *scales) of(w *worker, row, m, col, n int) gemm.Scaling {
	const panel = 32 // columns
	mem := view[float32](x.mem.of(w.mem))
	by := gemm.Scaling{Rows: mem[:m], Columns: mem[x.rows:][:2*n]}
	fill(by.Rows, 1)
	if x.rowOf != nil {
		for i := range by.Rows {
			by.Rows[i] = x.rowOf(&w.frame, row+i, 0, 1)[0]
		}
	}
	for from := 0; from < n; from += vectorLanes {
		some := min(vectorLanes, n-from)
		for half, v := range []lanes[float32]{x.columnsOf, x.termsOf} {
			var values []float32
			if v != nil {
				values = v(&w.frame, 0, col+from, some)
			}
			for j := 0; j < some; j += panel {
				to := by.Columns[2*(from+j)+half*panel:][:panel]
				switch {
				case v != nil:
					copy(to, values[j:])
				case half == 0:
					fill(to, 1)
				default:
					fill(to, negativeZero)
				}
			}
		}
	}
	return by
}
