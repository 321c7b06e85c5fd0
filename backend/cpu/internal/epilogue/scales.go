package epilogue

import (
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// compileScales makes the values of scales.
func compileScales(x *plan.Scales, c *values) {
	for _, v := range []struct {
		of      *tile.Expr
		to      *plan.Lanes[float32]
		compile func(*tile.Expr) plan.Lanes[float32]
	}{{x.Row, &x.RowsOf, c.down}, {x.Last, &x.LastOf, c.down}, {x.Column, &x.ColumnsOf, c.floats}, {x.Term, &x.TermsOf, c.floats}} {
		if v.of != nil {
			*v.to = v.compile(v.of)
		}
	}
}
