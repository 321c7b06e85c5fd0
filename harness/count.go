package harness

import (
	"matladder/model"
	"matladder/results"
	"matladder/tile"
)

// count fills the columns that follow from the programs alone. What cannot be
// counted without running stays empty. FLOPs and the bytes at least are the problem's, however
// a program goes about it; what this one computes and moves stands beside them.
func count(r *results.Record, programs []*tile.Program) {
	if len(programs) == 0 {
		return
	}
	c, err := model.Count(programs)
	if err != nil {
		return
	}
	r.BytesMoved, r.FastBytes, r.GridSteps, r.FLOPsComputed = c.BytesMoved, c.FastBytes, c.GridSteps, c.FLOPs
}
