package tile

import (
	"fmt"
	"slices"
	"strings"
)

// Comparison is an ordering test, of index expressions in a Cond and of blocks in Compare.
type Comparison uint8

// The comparisons.
const (
	EQ Comparison = iota
	NE
	LT
	LE
	GT
	GE
)

var comparisons = [...]string{"==", "!=", "<", "<=", ">", ">="}

func (c Comparison) String() string { return comparisons[c] }

// Holds reports whether x c y.
func (c Comparison) Holds(x, y float64) bool {
	switch c {
	case EQ:
		return x == y
	case NE:
		return x != y
	case LT:
		return x < y
	case LE:
		return x <= y
	case GT:
		return x > y
	}
	return x >= y
}

// Cond is a condition on program ids, for When: a TestCond, AllCond, AnyCond or NotCond.
type Cond interface {
	fmt.Stringer
	isCond()
}

type (
	// TestCond is X Op Y.
	TestCond struct {
		Op   Comparison
		X, Y IndexExpr
	}
	// AllCond holds if every part does.
	AllCond []Cond
	// AnyCond holds if some part does.
	AnyCond []Cond
	// NotCond holds if its part does not.
	NotCond struct{ Cond Cond }
)

func (TestCond) isCond() {}
func (AllCond) isCond()  {}
func (AnyCond) isCond()  {}
func (NotCond) isCond()  {}

func (c TestCond) String() string { return fmt.Sprintf("%s %s %s", bare(c.X), c.Op, bare(c.Y)) }
func (c AllCond) String() string  { return joinConds(c, " and ") }
func (c AnyCond) String() string  { return joinConds(c, " or ") }
func (c NotCond) String() string  { return "not (" + c.Cond.String() + ")" }

func joinConds(cs []Cond, with string) string {
	if len(cs) == 0 {
		return fmt.Sprint(with == " and ")
	}
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = c.String()
		if len(cs) > 1 && len(partsOf(c)) > 1 {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, with)
}

// partsOf returns the conditions that c is made of, none of a test.
func partsOf(c Cond) []Cond {
	switch c := c.(type) {
	case AllCond:
		return c
	case AnyCond:
		return c
	case NotCond:
		return []Cond{c.Cond}
	}
	return nil
}

// Test returns the condition x op y.
func Test(x IndexExpr, op Comparison, y IndexExpr) Cond { return TestCond{op, x, y} }

// All returns the condition that every one of cs holds.
func All(cs ...Cond) Cond { return AllCond(cs) }

// Any returns the condition that at least one of cs holds.
func Any(cs ...Cond) Cond { return AnyCond(cs) }

// Not returns the condition that c does not hold.
func Not(c Cond) Cond { return NotCond{c} }

// EvalCond reports whether c holds.
func EvalCond(c Cond, env Env) bool {
	switch c := c.(type) {
	case TestCond:
		return c.Op.Holds(float64(Eval(c.X, env)), float64(Eval(c.Y, env)))
	case AllCond:
		return !slices.ContainsFunc(c, func(part Cond) bool { return !EvalCond(part, env) })
	case AnyCond:
		return slices.ContainsFunc(c, func(part Cond) bool { return EvalCond(part, env) })
	case NotCond:
		return !EvalCond(c.Cond, env)
	}
	panic(fmt.Sprintf("tile: no such condition: %T", c))
}

// Compared returns the index expressions that conditions compare.
func Compared(conds ...Cond) []IndexExpr {
	var xs []IndexExpr
	for _, c := range conds {
		if t, ok := c.(TestCond); ok {
			xs = append(xs, t.X, t.Y)
		}
		xs = append(xs, Compared(partsOf(c)...)...)
	}
	return xs
}
