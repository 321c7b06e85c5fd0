package analyze

import (
	"fmt"

	"matladder/tile"
)

// Need is what programs of one launch take of fast memory: the Bytes are Counts.FastBytes.
// Errors are those of Count.
func Need(programs []*tile.Program) (tile.Need, error) {
	var n tile.Need
	b, err := tile.Bind(programs)
	if err != nil {
		return n, err
	}
	largest := b.Largest()
	if largest != nil {
		n.Largest = largest.ArrayBytes()
	}
	for _, p := range programs {
		var all, without int64
		for _, r := range p.Refs {
			fast, err := fastBytes(p, r)
			if err != nil {
				return n, err
			}
			all += fast
			if r.Kind == tile.In && largest != nil && r.Name == largest.Name {
				last := len(r.Array) - 1
				n.Cut = n.Cut || r.BlockSize(last) < r.Array[last]
				n.Block, n.Dtype, n.Columns = max(n.Block, r.BlockBytes()), r.Dtype, max(n.Columns, columns(p, r))
				continue
			}
			without += fast
		}
		n.Bytes, n.Without = max(n.Bytes, all), max(n.Without, without)
	}
	return n, nil
}

// fastBytes is what a ref takes of fast memory: a block, or two if it moves.
func fastBytes(p *tile.Program, r *tile.Ref) (int64, error) {
	t, err := refTraffic(p, r)
	if err != nil {
		return 0, fmt.Errorf("%s: %s: %w", p.Name, r.Name, err)
	}
	if t.moves > 1 {
		return 2 * r.BlockBytes(), nil
	}
	return r.BlockBytes(), nil
}

// columns is how many columns products have of which r is the left factor; 0 without one.
func columns(p *tile.Program, r *tile.Ref) (n int) {
	p.Walk(func(s *tile.Stmt) {
		if s.Value == nil {
			return
		}
		tile.WalkExpr(s.Value, func(e *tile.Expr) {
			if e.Op == tile.OpDot && tile.Loads(e.Args[0], r) {
				n = max(n, e.Shape[1])
			}
		})
	})
	return n
}
