package analyze

import "matladder/tile"

// dotFLOPs counts 2·m·k·n for every Dot of a body, over all programs.
func dotFLOPs(p *tile.Program, body []*tile.Stmt) (int64, error) {
	var total int64
	for _, s := range body {
		switch s.Kind {
		case tile.When:
			flops, err := dotFLOPs(p, s.Body)
			if err != nil {
				return 0, err
			}
			if flops == 0 {
				continue
			}
			holds, err := stepsWhere(p, s.Cond)
			if err != nil {
				return 0, err
			}
			total += flops / p.Steps() * holds
		case tile.Loop:
			flops, err := dotFLOPs(p, s.Body)
			if err != nil {
				return 0, err
			}
			total += flops * int64(s.Axis.Size)
		default:
			tile.WalkExpr(s.Value, func(e *tile.Expr) {
				if e.Op == tile.OpDot {
					total += gridFLOPs(p, e)
				}
			})
		}
	}
	return total, nil
}

// gridFLOPs counts one Dot over the whole grid. Where an operand is a block of
// an array, only what lies inside the array counts.
func gridFLOPs(p *tile.Program, e *tile.Expr) int64 {
	m, k := span(e.Args[0], 0), span(e.Args[0], 1)
	if e.TransA {
		m, k = k, m
	}
	kb, n := span(e.Args[1], 0), span(e.Args[1], 1)
	if e.TransB {
		kb, n = n, kb
	}
	if kb.size < k.size {
		k = kb
	}
	flops := int64(2)
	axes := map[*tile.Axis]bool{}
	for _, s := range []reach{m, k, n} {
		if s.axis != nil && axes[s.axis] {
			s = reach{size: s.block} // the axis is counted already
		}
		flops *= s.size
		axes[s.axis] = true
	}
	for _, a := range p.Grid {
		if !axes[a] {
			flops *= int64(a.Size)
		}
	}
	return flops
}

// reach is the extent of one dimension of an operand, summed over the programs
// of the axis that moves it, or of one block if none does.
type reach struct {
	size  int64
	block int64
	axis  *tile.Axis
}

func span(e *tile.Expr, dim int) reach {
	for e.Op == tile.OpCast {
		e = e.Args[0]
	}
	block := int64(e.Shape[dim])
	fixed := reach{size: block, block: block}
	if e.Op != tile.OpLoad || e.Ref.Kind != tile.In {
		return fixed
	}
	i := e.Ref.ArrayDim(dim)
	switch x := e.Ref.Index[i].(type) {
	case tile.Const:
		n := int64(extent(e.Ref, i, int(x)))
		return reach{size: n, block: n}
	case *tile.Axis:
		if x.Size == e.Ref.Blocks()[i] {
			return reach{int64(e.Ref.Array[i]), block, x}
		}
	}
	return fixed
}
