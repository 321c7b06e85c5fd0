package epilogue

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// compileScales makes the values of scales.
func compileScales(x *plan.Scales, c *values) {
	for _, v := range []struct {
		of *tile.Expr
		to *plan.Lanes[float32]
	}{{x.Row, &x.RowOf}, {x.Column, &x.ColumnsOf}, {x.Term, &x.TermsOf}} {
		if v.of != nil {
			*v.to = c.floats(v.of)
		}
	}
}
