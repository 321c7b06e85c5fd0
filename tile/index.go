package tile

import (
	"fmt"
	"slices"
	"strings"
)

// IndexExpr is an integer that depends on program ids, loop variables and scalar tables alone: a
// Const, *Axis, Joined, Scaled or Lookup. Build them with Plus, Times, FloorDiv, Mod, AtMost,
// AtLeast and At, which fold constants.
type IndexExpr interface {
	fmt.Stringer
	isIndex()
}

// Semantics says whether the programs along an axis may run in any order, at
// the same time (Parallel), or must run one after another (Arbitrary).
type Semantics uint8

// The dimension semantics.
const (
	Parallel Semantics = iota
	Arbitrary
)

func (s Semantics) String() string {
	if s == Parallel {
		return "parallel"
	}
	return "arbitrary"
}

type (
	// Const is an integer constant.
	Const int

	// Axis is one dimension of the grid, or the variable of a Loop. As an
	// expression it is the program id along it: 0 … Size-1.
	Axis struct {
		Name      string
		Size      int
		Semantics Semantics
		Loop      bool // the variable of a Loop, not an axis of the grid
		Mesh      bool // devices, not an axis of the grid

		// Bound, unless nil, is how many programs run, known before the grid starts: an
		// element of a scalar table. Size is the most that it may be.
		Bound IndexExpr
		pos   Pos
	}

	// Joined is X Op Y: a Sum, Minimum or Maximum.
	Joined struct {
		Op   IndexOp
		X, Y IndexExpr
	}

	// Scaled is X Op By: a Product, Quotient or Remainder; By > 0 of the last two.
	Scaled struct {
		Op IndexOp
		X  IndexExpr
		By int
	}

	// Lookup is element At of a scalar table, known before the grid starts.
	Lookup struct {
		Table *Ref
		At    IndexExpr
	}
)

// IndexOp is what a Joined or Scaled computes.
type IndexOp uint8

// The operations on indices.
const (
	Sum IndexOp = iota
	Minimum
	Maximum
	Product
	Quotient  // rounded down
	Remainder // in 0 … By-1
)

func (o IndexOp) of(x, y int) int {
	switch o {
	case Sum:
		return x + y
	case Minimum:
		return min(x, y)
	case Maximum:
		return max(x, y)
	case Product:
		return x * y
	case Quotient:
		return floorDiv(x, y)
	}
	return x - floorDiv(x, y)*y
}

func (Const) isIndex()  {}
func (*Axis) isIndex()  {}
func (Joined) isIndex() {}
func (Scaled) isIndex() {}
func (Lookup) isIndex() {}

func (c Const) String() string  { return fmt.Sprint(int(c)) }
func (a *Axis) String() string  { return a.Name }
func (l Lookup) String() string { return fmt.Sprintf("%s[%s]", l.Table.Name, bare(l.At)) }

func (x Joined) String() string {
	if x.Op == Sum {
		return fmt.Sprintf("(%s + %s)", x.X, x.Y)
	}
	return fmt.Sprintf("%s(%s, %s)", [...]string{Minimum: "min", Maximum: "max"}[x.Op], bare(x.X), bare(x.Y))
}

func (x Scaled) String() string {
	return fmt.Sprintf([...]string{Product: "%s*%d", Quotient: "(%s // %d)", Remainder: "(%s %% %d)"}[x.Op], x.X, x.By)
}

// bare is x printed without brackets around it.
func bare(x IndexExpr) string {
	s := x.String()
	if inside, ok := strings.CutPrefix(s, "("); ok && strings.HasSuffix(s, ")") {
		return inside[:len(inside)-1]
	}
	return s
}

// Pos is where the axis was made.
func (a *Axis) Pos() Pos { return a.pos }

// First holds in the programs at the start of the axis.
func (a *Axis) First() Cond { return Test(a, EQ, Const(0)) }

// Last holds in the programs at the end of the axis.
func (a *Axis) Last() Cond {
	if a.Bound != nil {
		return Test(a, EQ, Plus(a.Bound, Const(-1)))
	}
	return Test(a, EQ, Const(a.Size-1))
}

// Plus returns x + y.
func Plus(x, y IndexExpr) IndexExpr { return joined(Sum, x, y) }

// AtMost returns x, but y where that is smaller.
func AtMost(x, y IndexExpr) IndexExpr { return joined(Minimum, x, y) }

// AtLeast returns x, but y where that is larger.
func AtLeast(x, y IndexExpr) IndexExpr { return joined(Maximum, x, y) }

func joined(op IndexOp, x, y IndexExpr) IndexExpr {
	cx, xConst := x.(Const)
	cy, yConst := y.(Const)
	switch {
	case xConst && yConst:
		return Const(op.of(int(cx), int(cy)))
	case op == Sum && xConst && cx == 0:
		return y
	case op == Sum && yConst && cy == 0:
		return x
	}
	return Joined{op, x, y}
}

// Times returns x * by.
func Times(x IndexExpr, by int) IndexExpr { return scaled(Product, x, by) }

// FloorDiv returns x / by, rounded down. Verify refuses by < 1.
func FloorDiv(x IndexExpr, by int) IndexExpr { return scaled(Quotient, x, by) }

// Mod returns x mod by, never negative. Verify refuses by < 1.
func Mod(x IndexExpr, by int) IndexExpr { return scaled(Remainder, x, by) }

func scaled(op IndexOp, x IndexExpr, by int) IndexExpr {
	c, isConst := x.(Const)
	switch {
	case isConst && (op == Product || by > 0):
		return Const(op.of(int(c), by))
	case op == Product && by == 0, op == Remainder && by == 1:
		return Const(0)
	case by == 1:
		return x
	}
	return Scaled{op, x, by}
}

// Env gives an index expression the values it depends on.
type Env interface {
	// ProgramID returns the id along a grid axis, or the value of a loop variable.
	ProgramID(*Axis) int
	// TableValue returns element i of a scalar table.
	TableValue(table *Ref, i int) int
}

// Eval returns the value of x.
func Eval(x IndexExpr, env Env) int {
	switch x := x.(type) {
	case Const:
		return int(x)
	case *Axis:
		return env.ProgramID(x)
	case Joined:
		return x.Op.of(Eval(x.X, env), Eval(x.Y, env))
	case Scaled:
		return x.Op.of(Eval(x.X, env), x.By)
	case Lookup:
		return env.TableValue(x.Table, Eval(x.At, env))
	}
	panic(fmt.Sprintf("tile: no such index expression: %T", x))
}

// WalkIndex calls f on x and every expression inside it.
func WalkIndex(x IndexExpr, f func(IndexExpr)) {
	f(x)
	switch x := x.(type) {
	case Joined:
		WalkIndex(x.X, f)
		WalkIndex(x.Y, f)
	case Scaled:
		WalkIndex(x.X, f)
	case Lookup:
		WalkIndex(x.At, f)
	}
}

// DependsOn reports whether the block of r changes along an axis of the grid.
func (r *Ref) DependsOn(a *Axis) bool { return DependsOn(r.Index, a) }

// DependsOn reports whether one of xs changes along an axis.
func DependsOn(xs []IndexExpr, a *Axis) bool {
	return slices.ContainsFunc(xs, func(x IndexExpr) bool { return dependsOn(x, func(b *Axis) bool { return a == b }) })
}

// TableFree reports whether no x looks up a table, so that its value follows from
// the program ids alone.
func TableFree(xs ...IndexExpr) bool {
	free := true
	for _, x := range xs {
		WalkIndex(x, func(y IndexExpr) {
			if _, table := y.(Lookup); table {
				free = false
			}
		})
	}
	return free
}

// AxesIn lists the axes in index expressions, those in lookups too.
func AxesIn(xs ...IndexExpr) (axes []*Axis) {
	for _, x := range xs {
		WalkIndex(x, func(y IndexExpr) {
			if a, ok := y.(*Axis); ok {
				axes = append(axes, a)
			}
		})
	}
	return axes
}

// Everywhere is an Env in which each axis is at that place, and tables have zeros.
type Everywhere int

// ProgramID makes it an Env.
func (at Everywhere) ProgramID(*Axis) int { return int(at) }

// TableValue makes it an Env.
func (Everywhere) TableValue(*Ref, int) int { return 0 }

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// Ceil returns how many blocks of size block cover n elements; 0 if block is
// not positive, which Verify then refuses.
func Ceil(n, block int) int {
	if block <= 0 {
		return 0
	}
	return (n + block - 1) / block
}

// Substitute is x with what axis and table return in place of its axes and of the tables that
// it looks up; nil for one that leaves them.
func Substitute(x IndexExpr, axis func(*Axis) IndexExpr, table func(*Ref) *Ref) IndexExpr {
	at := func(x IndexExpr) IndexExpr { return Substitute(x, axis, table) }
	switch x := x.(type) {
	case *Axis:
		if axis != nil {
			return axis(x)
		}
	case Joined:
		return joined(x.Op, at(x.X), at(x.Y))
	case Scaled:
		return scaled(x.Op, at(x.X), x.By)
	case Lookup:
		to := x.Table
		if table != nil {
			to = table(x.Table)
		}
		return Lookup{Table: to, At: at(x.At)}
	}
	return x
}

// NeverNegative reports whether x is known to be at least 0 in every program.
func NeverNegative(x IndexExpr) bool {
	switch x := x.(type) {
	case Const:
		return x >= 0
	case *Axis:
		return true
	case Joined:
		if x.Op == Maximum {
			return NeverNegative(x.X) || NeverNegative(x.Y)
		}
		return NeverNegative(x.X) && NeverNegative(x.Y)
	case Scaled:
		return x.Op == Remainder || (x.Op == Quotient || x.By >= 0) && NeverNegative(x.X)
	}
	return false
}
