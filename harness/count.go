package harness

import (
	"matladder/analyze"
	"matladder/results"
	"matladder/tile"
)

// count fills the columns that follow from the programs alone. What cannot be
// counted without running stays empty.
func count(r *results.Record, programs []*tile.Program) {
	if len(programs) == 0 {
		return
	}
	c, err := analyze.Count(programs)
	if err != nil {
		return
	}
	r.FLOPs, r.BytesMin, r.BytesMoved = c.FLOPs, c.BytesMin, c.BytesMoved
	r.FastBytes, r.GridSteps = c.FastBytes, c.GridSteps
}
