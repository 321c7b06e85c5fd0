// Package accumulator finds out how a matrix product adds, from the products of crafted
// matrices alone: it works for any kernel, library and device.
//
//  1. Multiply is what is probed. Of makes one of a backend.Executable.
//  2. Where one product is M, another −M and all others are one unit, units that are added to
//     M before −M are lost. How many are lost is the size of the smallest partial sum that has
//     both. Those sizes give the tree of all additions (FPRev, arXiv 2411.00442).
//  3. M + u − M says how small a u survives: the bits of a sum. A u below the last bit says how
//     sums are rounded; sums below the smallest normal number, whether those are flushed.
//
// Sums of integers are only held against exact ones: their order does not show.
package accumulator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"matladder/problem"
)

// Multiply returns a·b of m×k and k×n numbers, row by row, which the dtypes of a problem hold.
type Multiply func(a, b []float64) ([]float64, error)

// Accumulator is how a product adds.
type Accumulator struct {
	Bits    int  // of the significand that every sum keeps; of integers, of the largest exact sum
	AtLeast bool // no sum was rounded: there may be more
	// Sums of up to Group products keep GroupBits, which are more; 0 if all sums keep Bits.
	Group, GroupBits int
	Rounding         Rounding
	Kept, Flushed    []string // subnormal "operands", "sums" and "results", as far as dtypes reach them
	Order            string   // in which products are added
	Tree             string   // the same with all parentheses, where k is at most 32; else ""
	Unlike           []int    // row and column of an element that is added otherwise than the first; nil if none is
}

// Rounding is how a sum that Bits do not hold is rounded.
type Rounding string

// The roundings. An empty one is not known.
const (
	NearestEven Rounding = "nearest even"
	NearestAway Rounding = "nearest, ties away"
	Nearest     Rounding = "nearest, ties unknown"
	TowardZero  Rounding = "toward zero"
	Down        Rounding = "down"
	Up          Rounding = "up"
	Away        Rounding = "away from zero"
	Unrounded   Rounding = "none"
	Other       Rounding = "other"
)

// MaxK bounds k of sums whose order is looked for, which takes about k·log k products.
const MaxK = 2048

// Find probes a product that has neither a batch nor an activation.
func Find(p problem.Matmul, multiply Multiply) (Accumulator, error) {
	x, err := newProber(p, multiply)
	if err == nil && x.a.whole && x.b.whole {
		err = x.integers()
	} else if err == nil {
		err = x.floats()
	}
	return x.found, err
}

// integers finds the largest exact sum: of n largest products, one unit, and n largest
// products with the other sign.
func (x *prober) integers() error {
	f := &x.found
	f.Order, f.AtLeast, f.Rounding = "not visible in integers", true, Unrounded
	most := (x.p.K - 1) / 2
	n, err := last(0, most, func(n int) (bool, error) {
		o, err := x.sum(func(k int) (a, b float64) {
			switch {
			case k < n:
				return x.a.most, x.b.most
			case k == n:
				return 1, 1
			case k >= x.p.K-n:
				return x.a.most, -x.b.most
			}
			return 0, 0
		})
		return o == 1, err
	})
	f.Bits = bits.Len64(uint64(x.a.most*x.b.most) * uint64(max(n, 0)))
	if n < most {
		f.AtLeast, f.Rounding = false, ""
	}
	return err
}

// last returns the largest of lo to hi that passes, if all below one that passes do; lo−1 if
// none does.
func last(lo, hi int, passes func(int) (bool, error)) (int, error) {
	for lo <= hi {
		mid := (lo + hi) / 2
		ok, err := passes(mid)
		switch {
		case err != nil:
			return 0, err
		case ok:
			lo = mid + 1
		default:
			hi = mid - 1
		}
	}
	return hi, nil
}

// floats finds the order, the bits along it, and the rest.
func (x *prober) floats() error {
	root, err := x.tree()
	joins := []join{{0, 1, x.p.K - 1, -1, x.p.K}}
	switch lack := (*noOrder)(nil); {
	case err == nil:
		joins, x.found.Order = root.joins(), describe(root)
		if x.p.K <= 32 {
			x.found.Tree = root.String()
		}
	case errors.As(err, &lack):
		x.found.Order = lack.Error()
	default:
		return err
	}
	if err := x.precision(joins); err != nil {
		return err
	}
	return x.subnormals()
}

// precision finds the fewest bits that joins keep, how those are rounded, and up to which size
// sums keep more.
func (x *prober) precision(joins []join) error {
	f, kept := &x.found, make([]int, len(joins))
	for i, j := range joins {
		keeps := func(bits int) (bool, error) {
			o, err := x.terms(term{j.i, 1, x.top}, term{j.k, 1, x.top - bits + 1}, term{j.j, -1, x.top})
			return o == math.Ldexp(1, x.top-bits+1), err
		}
		ok, err := false, error(nil)
		if i > 0 { // mostly as many as the join before; more do not matter
			ok, err = keeps(kept[i-1])
		}
		if kept[i] = kept[max(0, i-1)]; !ok && err == nil {
			kept[i], err = last(max(1, x.top-x.out.high+1), x.widest, keeps)
		}
		if err != nil {
			return err
		}
	}
	f.Bits = slices.Min(kept)
	first := slices.Index(kept, f.Bits)
	for i, j := range joins[:first] {
		if j.size < joins[first].size {
			f.Group, f.GroupBits = j.size, slices.Min(kept[:i+1])
		}
	}
	if f.Bits == x.widest {
		f.AtLeast, f.Rounding = true, Unrounded
		return nil
	}
	for i, j := range joins {
		if kept[i] == f.Bits && (j.odd >= 0 || i == len(joins)-1) {
			first = i
			break
		}
	}
	return x.rounding(joins[first])
}

// roundings are what becomes, in quarters of the last bit, of one to three of them: added to an
// even sum and to an odd one, then to negative sums.
var roundings = map[string]Rounding{
	"004 044 004 044": NearestEven, "044 044 044 044": NearestAway, "004 004 004 004": Nearest,
	"000 000 000 000": TowardZero, "000 000 444 444": Down, "444 444 000 000": Up, "444 444 444 444": Away,
}

func (x *prober) rounding(j join) error {
	bit := x.top - x.found.Bits + 1 // the exponent of the last
	if bit-2 < x.low {
		return nil
	}
	var seen []string
	for _, sign := range []float64{1, -1} {
		for odd := range 2 {
			digits := ""
			for quarters := 1.0; quarters <= 3; quarters++ {
				terms, less := []term{{j.i, sign, x.top}, {j.k, sign * quarters, bit - 2}, {j.j, -sign, x.top}}, 0.0
				if odd == 1 && j.odd >= 0 {
					terms, less = append(terms, term{j.odd, sign, bit}), 1
				}
				o, err := x.terms(terms...)
				if err != nil {
					return err
				}
				digits += fmt.Sprint(int(4 * (sign*math.Ldexp(o, -bit) - less)))
			}
			seen = append(seen, digits)
		}
	}
	x.found.Rounding = cmp.Or(roundings[strings.Join(seen, " ")], Other)
	return nil
}

// subnormals finds which of them count as zero.
func (x *prober) subnormals() error {
	f := &x.found
	for _, try := range []struct {
		what    string
		n, a, b int // products, and the exponents of their factors
	}{
		{"operands", 1, x.a.low - 1, min(x.b.high, 20)},
		{"operands", 1, min(x.a.high, 20), x.b.low - 1},
		{"sums", 16, -65, -65}, // of which the last one is normal
		{"results", 1, -65, -65},
	} {
		subnormal := try.what == "operands"
		if try.n > x.p.K || subnormal && (try.a < 0 && x.a.whole || try.b < 0 && x.b.whole) ||
			!subnormal && (try.a < x.a.low || try.b < x.b.low || try.a+try.b < x.out.low-x.out.digits+1) {
			continue
		}
		o, err := x.sum(func(k int) (a, b float64) {
			if k >= try.n {
				return 0, 0
			}
			return math.Ldexp(1, try.a), math.Ldexp(1, try.b)
		})
		if err != nil {
			return err
		}
		list := &f.Kept
		if o != math.Ldexp(float64(try.n), try.a+try.b) {
			list = &f.Flushed
		}
		if !slices.Contains(append(f.Flushed, *list...), try.what) {
			*list = append(*list, try.what)
		}
	}
	if slices.Contains(f.Flushed, "sums") { // and with them results
		f.Flushed = slices.DeleteFunc(f.Flushed, func(what string) bool { return what == "results" })
	}
	return nil
}

// Columns name Cells.
var Columns = []string{"bits", "rounding", "subnormals", "order"}

// Cells say the same in words.
func (a Accumulator) Cells() []string {
	width := fmt.Sprint(a.Bits)
	if a.AtLeast {
		width = "at least " + width
	}
	if a.Group > 0 {
		width += fmt.Sprintf("; %d in sums of up to %d", a.GroupBits, a.Group)
	}
	var subnormals []string
	for _, list := range []struct {
		what []string
		are  string
	}{{a.Flushed, "flushed"}, {a.Kept, "kept"}} {
		if len(list.what) > 0 {
			subnormals = append(subnormals, strings.Join(list.what, ", ")+" "+list.are)
		}
	}
	order := a.Order
	if a.Unlike != nil {
		order += fmt.Sprintf(" (of element 0, 0; element %d, %d is added otherwise)", a.Unlike[0], a.Unlike[1])
	}
	return []string{width, cmp.Or(string(a.Rounding), "unknown"), cmp.Or(strings.Join(subnormals, "; "), "not reached"), order}
}
