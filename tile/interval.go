package tile

import "math"

// interval is a range of integers, ends included. An interval that is not known
// depends on a scalar table, whose values only a run shows.
type interval struct {
	lo, hi int
	known  bool
}

func point(v int) interval { return interval{v, v, true} }

// ranges says which values an axis takes.
type ranges func(*Axis) interval

// everyID is the ranges of all programs and all repetitions of a loop.
func everyID(a *Axis) interval { return interval{0, a.Size - 1, true} }

// but is r with ids in the place of those of an axis.
func (r ranges) but(axis *Axis, ids interval) ranges {
	return func(a *Axis) interval {
		if a == axis {
			return ids
		}
		return r(a)
	}
}

// bounds returns an interval that holds every value of x. It is exact where no
// axis occurs twice; ends saturate instead of overflowing.
func bounds(x IndexExpr, r ranges) interval {
	switch x := x.(type) {
	case Const:
		return point(int(x))
	case *Axis:
		return r(x)
	case Joined:
		a, b := bounds(x.X, r), bounds(x.Y, r)
		known := a.known && b.known
		if x.Op == Sum {
			return interval{addSaturated(a.lo, b.lo), addSaturated(a.hi, b.hi), known}
		}
		return interval{x.Op.of(a.lo, b.lo), x.Op.of(a.hi, b.hi), known}
	case Scaled:
		a := bounds(x.X, r)
		switch x.Op {
		case Product:
			lo, hi := mulSaturated(a.lo, x.By), mulSaturated(a.hi, x.By)
			return interval{min(lo, hi), max(lo, hi), a.known}
		case Quotient:
			return interval{floorDiv(a.lo, x.By), floorDiv(a.hi, x.By), a.known}
		}
		if lap := floorDiv(a.lo, x.By); a.known && lap == floorDiv(a.hi, x.By) {
			return interval{a.lo - lap*x.By, a.hi - lap*x.By, true}
		}
		return interval{0, x.By - 1, true}
	}
	return interval{math.MinInt, math.MaxInt, false}
}

// truth is what is known of a condition before a run.
type truth uint8

const (
	never  truth = iota // it holds in no program
	maybe               // it may hold in some
	tabled              // a scalar table decides
	always              // it holds in every program
)

// decide evaluates c over all programs of r at once.
func decide(c Cond, r ranges) truth {
	switch c := c.(type) {
	case TestCond:
		return decideTest(c, r)
	case AllCond:
		t := always
		for _, part := range c {
			t = min(t, decide(part, r))
		}
		return t
	case AnyCond:
		t := never
		for _, part := range c {
			t = max(t, decide(part, r))
		}
		return t
	case NotCond:
		switch t := decide(c.Cond, r); t {
		case never:
			return always
		case always:
			return never
		default:
			return t
		}
	}
	return maybe
}

func decideTest(c TestCond, r ranges) truth {
	x, y := bounds(c.X, r), bounds(c.Y, r)
	if !x.known || !y.known {
		return tabled
	}
	var holds, fails bool
	switch c.Op {
	case EQ, NE:
		holds = x.lo == x.hi && x == y || c.X == c.Y
		fails = x.hi < y.lo || y.hi < x.lo
		if c.Op == NE {
			holds, fails = fails, holds
		}
	case LT:
		holds, fails = x.hi < y.lo, x.lo >= y.hi
	case LE:
		holds, fails = x.hi <= y.lo, x.lo > y.hi
	case GT:
		holds, fails = x.lo > y.hi, x.hi <= y.lo
	case GE:
		holds, fails = x.lo >= y.hi, x.hi < y.lo
	}
	switch {
	case holds:
		return always
	case fails:
		return never
	}
	return maybe
}

func addSaturated(a, b int) int {
	switch s := a + b; {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt
	default:
		return s
	}
}

func mulSaturated(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	if p := a * b; p/b == a && !(a == -1 && b == math.MinInt) && !(b == -1 && a == math.MinInt) {
		return p
	}
	if (a < 0) == (b < 0) {
		return math.MaxInt
	}
	return math.MinInt
}

// dependsOn reports whether x uses an axis of which f is true.
func dependsOn(x IndexExpr, f func(*Axis) bool) bool {
	found := false
	WalkIndex(x, func(x IndexExpr) {
		if a, ok := x.(*Axis); ok && !found {
			found = f(a)
		}
	})
	return found
}
