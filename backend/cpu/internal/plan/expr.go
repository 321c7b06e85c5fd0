package plan

import "matladder/tile"

// AlongRow reports whether a reduction is along the last dimension.
func AlongRow(e *tile.Expr) bool { return e.Dim == len(e.Shape)-1 }

// OneRow reports whether all rows of a block are one that is repeated.
func OneRow(e *tile.Expr) bool {
	return e.Op == tile.OpBroadcast && (len(e.Args[0].Shape) < 2 || e.Args[0].Shape[0] == 1)
}

// OneColumn reports whether all columns of a block are one that is repeated.
func OneColumn(e *tile.Expr) bool {
	if e.Op != tile.OpBroadcast {
		return false
	}
	from := e.Args[0].Shape
	return len(from) == 0 || from[len(from)-1] == 1
}

// Apart takes a sum or a product of something and a block of some kind apart; the
// block is nil where e is nothing of that kind.
func Apart(e *tile.Expr, op tile.Op, kind func(*tile.Expr) bool) (rest, block *tile.Expr) {
	if e.Op == op && e.Dtype == tile.Float32 {
		for i, x := range e.Args {
			if kind(x) {
				return e.Args[1-i], x
			}
		}
	}
	return e, nil
}

// Outside calls f on the parts of a value that are not operands of products:
// with those packing does what is to be done.
func Outside(e *tile.Expr, f func(*tile.Expr)) {
	seen := map[*tile.Expr]bool{}
	var walk func(*tile.Expr)
	walk = func(e *tile.Expr) {
		if seen[e] {
			return
		}
		if seen[e] = true; e.Op != tile.OpDot {
			for _, arg := range e.Args {
				walk(arg)
			}
		}
		f(e)
	}
	walk(e)
}
