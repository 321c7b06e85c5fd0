package check

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/problem"
	"matladder/tile"
)

// Further distributions show what a rate owes to the numbers: a circuit takes power where bits
// change. Each is Uniform with Independent elements changed as told; of quantized operands these
// are codes, and scales are drawn. Package results ranks them (inputsOrder).
const (
	Zeros  = "zeros"  // all 0
	Ones   = "ones"   // all 1
	Bits   = "bits"   // bits:4: of each float's mantissa the first 4 explicit bits are kept, the others are 0
	Sparse = "sparse" // sparse:50: 50 % of the elements are 0
)

// numbered are the distributions with a number, and from what to what it goes.
var numbered = map[string][2]int{Bits: {0, 23}, Sparse: {1, 99}}

// ParseInputs reads the name of a distribution.
func ParseInputs(s string) (string, error) {
	word, n := numberOf(s)
	switch ends, ok := numbered[word]; {
	case ok && (n < ends[0] || n > ends[1]):
		return "", fmt.Errorf("%q: want a whole number from %d to %d behind %s:", s, ends[0], ends[1], word)
	case ok:
		return fmt.Sprintf("%s:%d", word, n), nil
	case !slices.Contains([]string{Uniform, Normal, Integers, Zeros, Ones}, s):
		return "", fmt.Errorf("unknown distribution %q (known: %s)", s, strings.Join(Distributions(), ", "))
	}
	return s, nil
}

// numberOf parts the name of a distribution from its number, -1 if it has none.
func numberOf(dist string) (word string, n int) {
	word, text, _ := strings.Cut(dist, ":")
	n, err := strconv.Atoi(text)
	if err != nil {
		n = -1
	}
	return word, n
}

// Constant reports whether all elements of a distribution are the same.
func Constant(dist string) bool { return dist == Zeros || dist == Ones }

// Telling is a distribution in which faults show: the same one, or Uniform in the place of one
// with numbers that many faults leave as they are.
func Telling(dist string) string {
	if fromFloats(dist) || dist == Integers {
		return dist
	}
	return Uniform
}

// fromFloats reports whether quantized operands are what package quant makes of floats.
func fromFloats(dist string) bool { return dist == Uniform || dist == Normal }

// Suits returns why inputs of p cannot have a distribution, or nil.
func Suits(p problem.Problem, dist string) error {
	word, n := numberOf(dist)
	if word != Bits {
		return nil
	}
	most := -1
	for _, o := range p.Operands() {
		if !o.Out && Independent(o.Name) && o.Dtype.IsFloat() {
			most = max(most, -math.Ilogb(o.Dtype.Epsilon())-1)
		}
	}
	switch {
	case most < 0:
		return fmt.Errorf("inputs %s are of floats, and no operand is one", dist)
	case n > most:
		return fmt.Errorf("inputs %s: the operands have %d explicit bits of mantissa", dist, most)
	}
	return nil
}

// change makes elements that are Uniform those of a distribution. NaN stays: nothing depends on it.
func change(ctx context.Context, t tile.Tensor, name string, seed uint64, dist string) error {
	var f func(i int, v float64) float64
	switch word, n := numberOf(dist); {
	case word == Zeros:
		f = func(int, float64) float64 { return 0 }
	case word == Ones:
		f = func(int, float64) float64 { return 1 }
	case word == Bits && t.Dtype.IsFloat():
		mask := ^uint64(0) << (52 - n)
		f = func(_ int, v float64) float64 { return math.Float64frombits(math.Float64bits(v) & mask) }
	case word == Sparse:
		start := startOf(name+" sparse", seed)
		f = func(i int, v float64) float64 {
			if mix(start+uint64(i))%100 < uint64(n) {
				return 0
			}
			return v
		}
	default:
		return nil
	}
	return setEach(ctx, t, func(i int) float64 {
		v := t.At(i)
		if v != v {
			return v
		}
		return f(i, v)
	})
}
