package mlir

import (
	"fmt"

	"matladder/tile"
)

// Conds writes conditions of statements. T is a condition: an i1 of the text, or true or
// false where that is known while the text is written.
type Conds[T any] struct {
	Known  func(holds bool) T
	Answer func(t T) (holds, known bool)
	Test   func(x tile.IndexExpr, op tile.Comparison, y tile.IndexExpr) T
	Op     func(name string, x, y T) T
	Not    func(t T) T // of one that is not known
	Refuse func(reason string)
}

// Write writes a condition.
func (w Conds[T]) Write(c tile.Cond) T {
	switch c := c.(type) {
	case tile.TestCond:
		return w.Test(c.X, c.Op, c.Y)
	case tile.AllCond:
		return w.join(c, "arith.andi", false)
	case tile.AnyCond:
		return w.join(c, "arith.ori", true)
	case tile.NotCond:
		t := w.Write(c.Cond)
		if holds, known := w.Answer(t); known {
			return w.Known(!holds)
		}
		return w.Not(t)
	}
	w.Refuse(fmt.Sprintf("no such condition: %s", c))
	return w.Known(false)
}

// join combines conditions; one whose answer is decisive settles it.
func (w Conds[T]) join(parts []tile.Cond, op string, decisive bool) T {
	all := w.Known(!decisive)
	for _, part := range parts {
		t := w.Write(part)
		holds, known := w.Answer(t)
		_, none := w.Answer(all)
		switch {
		case known && holds == decisive:
			return t
		case known:
		case none:
			all = t
		default:
			all = w.Op(op, all, t)
		}
	}
	return all
}
