package epilogue

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// concat compiles blocks one after another, along rows or columns.
func concat[T any](c *values, e *tile.Expr, compile func(*tile.Expr) plan.Lanes[T]) plan.Lanes[T] {
	parts, ends := make([]plan.Lanes[T], len(e.Args)), make([]int, len(e.Args))
	for i, x := range e.Args {
		parts[i], ends[i] = compile(x), x.Shape[e.Dim]
		if i > 0 {
			ends[i] += ends[i-1]
		}
	}
	if e.Dim != len(e.Shape)-1 {
		return func(w *plan.Frame, row, col, n int) []T {
			i, begin := 0, 0
			for row >= ends[i] {
				i, begin = i+1, ends[i]
			}
			return parts[i](w, row-begin, col, n)
		}
	}
	width := width(e)
	return lanes(c, func(w *plan.Frame, row, col int, out []T) {
		begin := 0
		if count := len(out) / width; count > 1 { // stacked
			for i, end := range ends {
				n := end - begin
				x := parts[i](w, row, 0, count*n)
				for j := range count {
					copy(out[j*width+begin:][:n], x[j*n:][:n])
				}
				begin = end
			}
			return
		}
		for i, end := range ends {
			if from, to := max(col, begin), min(col+len(out), end); from < to {
				copy(out[from-col:to-col], parts[i](w, row, from-begin, to-from))
			}
			begin = end
		}
	})
}
