package exec

import (
	"math"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
)

// negativeZero changes no number that it is added to, not even a zero.
var negativeZero = float32(math.Copysign(0, -1))

// scalingOf is the scaling of m×n elements from (row, col) of the block on.
func scalingOf(x *plan.Scales, w *Worker, row, m, col, n int) gemm.Scaling {
	if x.Plain {
		return gemm.Scaling{}
	}
	const panel = 32 // columns
	mem := memory.View[float32](x.Mem.Of(w.Mem))
	by := gemm.Scaling{Rows: mem[:2*m], Columns: mem[2*x.Rows:][:2*n]}
	memory.Fill(by.Rows, 1)
	for which, v := range []plan.Lanes[float32]{x.RowsOf, x.LastOf} {
		for from := 0; v != nil && from < m; from += plan.VectorLanes {
			for i, factor := range v(&w.Frame, row+from, 0, min(plan.VectorLanes, m-from)) {
				by.Rows[2*(from+i)+which] = factor
			}
		}
	}
	for from := 0; from < n; from += plan.VectorLanes {
		some := min(plan.VectorLanes, n-from)
		for half, v := range []plan.Lanes[float32]{x.ColumnsOf, x.TermsOf} {
			var values []float32
			if v != nil {
				values = v(&w.Frame, 0, col+from, some)
			}
			for j := 0; j < some; j += panel {
				to := by.Columns[2*(from+j)+half*panel:][:panel]
				switch {
				case v != nil:
					copy(to, values[j:])
				case half == 0:
					memory.Fill(to, 1)
				default:
					memory.Fill(to, negativeZero)
				}
			}
		}
	}
	return by
}
