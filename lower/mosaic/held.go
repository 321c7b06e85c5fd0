package mosaic

import "matladder/tile"

// held is the block of a scratch as a value: what one statement stores and the next one reads
// goes through no memory. The compiler does not see by itself that what is computed from both
// is the same, so that attention had the factor by which its sums shrink computed twice, nor
// does it spare the stores.
type held struct {
	value
	unsaved bool // memory does not have it yet
}

// holds reports whether r's block may be a value between statements: no copy brings or takes
// what is in it, and it is no sum, which would be a value from the first product of a step to
// the last. With sums as values too attention gains up to 2 % on v4 and loses up to 4 % on v5e
// and v6e (tools/pallasref).
func (k *kernel) holds(r *tile.Ref) bool {
	return r.Kind == tile.Scratch && !r.Main && !k.program.CopiesItself() && !k.sums[r]
}

// sumsOf are the refs that statements of p add to.
func sumsOf(p *tile.Program) map[*tile.Ref]bool {
	sums := map[*tile.Ref]bool{}
	p.Walk(func(s *tile.Stmt) {
		if s.Kind == tile.Accumulate || s.Kind == tile.Store && s.Value.Op == tile.OpAdd && reads(s.Value, s.Ref) {
			sums[s.Ref] = true
		}
	})
	return sums
}

// save writes what is held of r to memory, unless nothing reads it there.
func (k *kernel) save(r *tile.Ref) {
	h, ok := k.held[r]
	if !ok || !h.unsaved {
		return
	}
	k.held[r] = held{value: h.value}
	if !k.unread[r] {
		k.put(r, h.value)
	}
}

// release saves and forgets all that is held: what follows is written in other regions.
func (k *kernel) release() {
	for _, r := range k.program.Refs {
		k.save(r)
	}
	clear(k.held)
}
