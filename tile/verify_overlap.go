package tile

// overlaps verifies blocks that begin every so many elements (BlockSpec.Every): they leave no
// element out, and where blocks of an output overlap a table says which stores what. Such an
// output is not read, since what another program stored may not be written back yet.
func overlaps(v *verifier) {
	for _, r := range v.program.Refs {
		switch {
		case r == nil || r.Steps == nil || len(r.Block) != len(r.Array): // the latter is said by refDims
			continue
		case r.Kind != In && r.Kind != Out || r.Main:
			v.errorf(r.Pos, "%s: only blocks of inputs and outputs are chosen by an index map, every so many elements", r.Name)
			continue
		case len(r.Steps) != len(r.Array):
			v.errorf(r.Pos, "%s: every (%s): the array has %d dimensions", describe(r), shapeString(r.Steps), len(r.Array))
			continue
		}
		for d, n := range r.Steps {
			if n < 1 || n > r.BlockSize(d) {
				v.errorf(r.Pos, "%s: every %d along dimension %d: want 1 … %d, so that blocks leave nothing out", describe(r), n, d, r.BlockSize(d))
			}
		}
		switch {
		case !r.Overlap():
		case r.Buffers > 0:
			v.errorf(r.Pos, "%s: buffers are for blocks side by side", describe(r))
		case r.Kind == Out && TableFree(r.Index...):
			v.errorf(r.Pos, "%s: blocks of an output that overlap are for a table to place, which knows what each stores", describe(r))
		}
	}
}

// overlapRead says why r, an output whose blocks overlap, may not be read.
func overlapRead(r *Ref) string {
	return describe(r) + ": blocks of an output that overlap can be stored to and not read: what others stored may be on its way"
}
