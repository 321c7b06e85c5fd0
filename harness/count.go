package harness

import (
	"matladder/analyze"
	"matladder/results"
	"matladder/tile"
)

// count fills the columns that follow from the programs alone. What cannot be
// counted without running stays empty. FLOPs are not among them: they are the
// problem's, however a program goes about it.
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
	r.FastBytes, r.GridSteps = c.FastBytes, c.GridSteps
}
