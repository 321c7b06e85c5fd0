package ttir

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// axisOf reads x, y, z, or {axis = 0 : i32}.
func axisOf(text string) int {
	if at := slices.Index([]string{"x", "y", "z"}, strings.TrimSpace(text)); at >= 0 {
		return at
	}
	if found := axisText.FindStringSubmatch(text); found != nil {
		n, _ := strconv.Atoi(found[1])
		return min(n, 2)
	}
	return 0
}

var comparisons = map[string]func(a, b int64) bool{
	"eq":  func(a, b int64) bool { return a == b },
	"ne":  func(a, b int64) bool { return a != b },
	"slt": func(a, b int64) bool { return a < b },
	"sle": func(a, b int64) bool { return a <= b },
	"sgt": func(a, b int64) bool { return a > b },
	"sge": func(a, b int64) bool { return a >= b },
	"ult": func(a, b int64) bool { return uint64(a) < uint64(b) },
	"ule": func(a, b int64) bool { return uint64(a) <= uint64(b) },
	"ugt": func(a, b int64) bool { return uint64(a) > uint64(b) },
	"uge": func(a, b int64) bool { return uint64(a) >= uint64(b) },
}

// integers are operations that are done element by element.
var integers = map[string]func(a, b int64) (int64, bool){
	"arith.muli":  func(a, b int64) (int64, bool) { return a * b, true },
	"arith.divsi": func(a, b int64) (int64, bool) { return quotient(a, b, false) },
	"arith.divui": func(a, b int64) (int64, bool) { return quotient(a, b, false) },
	"arith.ceildivsi": func(a, b int64) (int64, bool) {
		q, ok := quotient(a, b, false)
		return q + truth(ok && q*b != a && (a < 0) == (b < 0)), ok
	},
	"arith.floordivsi": func(a, b int64) (int64, bool) {
		q, ok := quotient(a, b, false)
		return q - truth(ok && q*b != a && (a < 0) != (b < 0)), ok
	},
	"arith.remsi": func(a, b int64) (int64, bool) { return quotient(a, b, true) },
	"arith.remui": func(a, b int64) (int64, bool) { return quotient(a, b, true) },
	"arith.minsi": func(a, b int64) (int64, bool) { return min(a, b), true },
	"arith.maxsi": func(a, b int64) (int64, bool) { return max(a, b), true },
	"arith.minui": func(a, b int64) (int64, bool) { return min(a, b), a >= 0 && b >= 0 },
	"arith.maxui": func(a, b int64) (int64, bool) { return max(a, b), a >= 0 && b >= 0 },
	"arith.andi":  func(a, b int64) (int64, bool) { return a & b, true },
	"arith.ori":   func(a, b int64) (int64, bool) { return a | b, true },
	"arith.xori":  func(a, b int64) (int64, bool) { return a ^ b, true },
	"arith.shli":  func(a, b int64) (int64, bool) { return a << (b & 63), b >= 0 && b < 63 },
	"arith.shrsi": func(a, b int64) (int64, bool) { return a >> (b & 63), b >= 0 && b < 63 },
	"arith.shrui": func(a, b int64) (int64, bool) { return a >> (b & 63), a >= 0 && b >= 0 && b < 63 },
}

func quotient(a, b int64, rest bool) (int64, bool) {
	if b == 0 || b == -1 && a == math.MinInt64 {
		return 0, false
	}
	if rest {
		return a % b, true
	}
	return a / b, true
}

func binary(name string, x, y value, shape []int, conditions bool) (value, bool) {
	sums := x.kind == number && y.kind == number
	switch {
	case name == "arith.addi" && sums && !conditions:
		return sum(x, y, 1), true
	case name == "arith.subi" && sums && !conditions:
		return sum(x, y, -1), true
	case name == "arith.muli" && sums && x.uniform():
		return scaled(y, x.c), true
	case name == "arith.muli" && sums && y.uniform():
		return scaled(x, y.c), true
	case name == "arith.andi" && conditions:
		return both(x, y)
	}
	f := integers[name]
	if f == nil {
		return value{}, false
	}
	v, ok := byElement(x, y, shape, f)
	if ok && conditions {
		v = asMask(v)
	}
	return v, ok
}

// chosen is x where cond holds, else y.
func chosen(cond, x, y value, shape []int) (value, bool) {
	if cond.uniform() {
		if cond.c != 0 {
			return x, true
		}
		return y, true
	}
	pick := func(where int64, v value) (value, bool) {
		return byElement(cond, v, shape, func(c, a int64) (int64, bool) {
			if c == where {
				return a, true
			}
			return 0, true
		})
	}
	one, ok := pick(1, x)
	other, also := pick(0, y)
	if !ok || !also {
		return value{}, false
	}
	return sum(one, other, 1), true
}
