package harness

import (
	"matladder/analyze"
	"matladder/results"
	"matladder/tile"
)

// count fills the columns that follow from the programs alone. What cannot be
// counted without running stays empty. FLOPs are the problem's, however a program
// goes about it; what this one computes stands beside them.
func count(r *results.Record, programs []*tile.Program) {
	if len(programs) == 0 {
		return
	}
	c, err := analyze.Count(programs)
	if err != nil {
		return
	}
	if r.BytesMoved = c.BytesMoved; r.Figure != results.PerBytes { // else it is the problem's, for all kernels the same
		r.BytesMin = c.BytesMin
	}
	r.FastBytes, r.GridSteps, r.FLOPsComputed = c.FastBytes, c.GridSteps, c.FLOPs
}
