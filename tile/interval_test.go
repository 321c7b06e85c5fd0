package tile

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBounds_HoldEveryValue counts through all ids of random expressions and
// conditions.
func TestBounds_HoldEveryValue(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	axes := []*Axis{{Name: "i", Size: 5}, {Name: "j", Size: 4}, {Name: "k", Size: 1}}
	var build func(depth int) IndexExpr
	build = func(depth int) IndexExpr {
		if depth == 0 {
			if random.IntN(3) == 0 {
				return Const(random.IntN(9) - 4)
			}
			return axes[random.IntN(3)]
		}
		switch x, by := build(depth-1), random.IntN(4)+1; random.IntN(4) {
		case 0:
			return Plus(x, build(depth-1))
		case 1:
			return Times(x, by-3)
		case 2:
			return FloorDiv(x, by)
		default:
			return Mod(x, by)
		}
	}
	exact := 0
	for range 4000 {
		x := build(random.IntN(4))
		c := []Cond{
			TestCond{Comparison(random.IntN(6)), x, build(1)},
			NotCond{TestCond{Comparison(random.IntN(6)), x, build(1)}},
			AllCond{TestCond{LT, x, Const(2)}, TestCond{GE, build(2), Const(0)}},
			AnyCond{TestCond{NE, x, Const(2)}, TestCond{EQ, build(2), Const(0)}},
		}[random.IntN(4)]
		b, truth := bounds(x, everyID), decide(c, everyID)
		lo, hi, holds, fails := math.MaxInt, math.MinInt, false, false
		enumerate(axes, wholeAxis, func(at *Point) bool {
			v := Eval(x, at)
			lo, hi = min(lo, v), max(hi, v)
			if EvalCond(c, at) {
				holds = true
			} else {
				fails = true
			}
			return true
		})
		if lo < b.lo || hi > b.hi || !b.known {
			t.Fatalf("%s is in %d … %d, not in %+v", x, lo, hi, b)
		}
		if truth == always && fails || truth == never && holds || truth == tabled {
			t.Fatalf("%s: holds somewhere %v, fails somewhere %v, but it was decided %d", c, holds, fails, truth)
		}
		if lo == b.lo && hi == b.hi {
			exact++
		}
	}
	if exact < 3000 {
		t.Errorf("only %d of 4000 intervals are exact", exact)
	}
}

func TestBounds_Saturate(t *testing.T) {
	i := &Axis{Name: "i", Size: math.MaxInt}
	for _, c := range []struct {
		x      IndexExpr
		lo, hi int
	}{
		{Plus(i, i), 0, math.MaxInt},
		{Times(i, -3), math.MinInt, 0},
		{Times(Times(i, -3), -3), 0, math.MaxInt},
		{Plus(Times(i, -1), Times(i, -1)), math.MinInt, 0},
		{FloorDiv(Plus(i, Const(2)), 2), 1, math.MaxInt / 2},
	} {
		if b := bounds(c.x, everyID); b.lo != c.lo || b.hi != c.hi {
			t.Errorf("%s: got %+v, want %d … %d", c.x, b, c.lo, c.hi)
		}
	}
}
