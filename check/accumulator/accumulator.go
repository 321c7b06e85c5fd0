// Package accumulator finds out how a matrix product adds, from products of crafted matrices:
// it works for any kernel, library and device.
//
//  1. Where one product is M, another −M and all others are one unit, units that meet M or −M
//     before the two meet are lost. How many are lost is the size of the smallest partial sum
//     with both. Those sizes give the tree of all additions (FPRev, arXiv 2411.00442).
//  2. M + u − M says how small a u survives, the bits of a sum, and how a u below the last bit
//     is rounded.
//
// Sums of integers are only held against exact ones: their order does not show.
package accumulator

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"matladder/problem"
)

// Accumulator is how a product adds.
type Accumulator struct {
	Bits             int    // of the significand that every sum keeps; of integers, of the largest exact sum; 0 if not known
	AtLeast          bool   // no sum was rounded: there may be more
	Group, GroupBits int    // sums of up to Group products keep GroupBits, which are more; 0 if all keep Bits
	Rounding         string // what happens to the bits that are not kept
	Subnormals       string // whether operands and sums below the smallest normal number count as zero
	Order            string // in which products are added to the largest sum
	Tree             string // all additions with parentheses, where k is at most 32; else ""
	Unlike           bool   // some element of the output is added otherwise than the first, which this describes
}

// Columns name Cells.
var Columns = []string{"bits", "rounding", "subnormals", "order"}

// Cells say what was found in words.
func (a Accumulator) Cells() []string {
	width, order := fmt.Sprint(a.Bits), a.Order
	if a.AtLeast {
		width = "at least " + width
	}
	if a.Group > 0 {
		width += fmt.Sprintf("; %d in sums of up to %d", a.GroupBits, a.Group)
	}
	if a.Unlike {
		order += " (element 0, 0; some are added otherwise)"
	}
	return []string{width, a.Rounding, a.Subnormals, order}
}

// Find probes a product, which multiply computes: a·b of m×k and k×n numbers, row by row.
func Find(p problem.Matmul, multiply func(a, b []float64) ([]float64, error)) (Accumulator, error) {
	x, err := newProber(p, multiply)
	if err != nil {
		return Accumulator{}, err
	}
	if x.a.whole {
		x.integers()
	} else {
		steps := x.tree()
		x.precision(steps)
		x.subnormals()
	}
	return x.found, x.err
}

// integers finds the largest exact sum: of n largest products, one unit, and n largest
// products with the other sign.
func (x *prober) integers() {
	most, sizes := x.a.most*x.b.most, (x.p.K-1)/2
	n := last(0, sizes, func(n int) bool {
		return 1 == x.sum(func(k int) (a, b float64) {
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
	})
	rounding := "unknown"
	if n == sizes {
		rounding = "none"
	}
	x.found = Accumulator{bits.Len64(uint64(most) * uint64(max(n, 0))), n == sizes, 0, 0, rounding, "none", "not visible in integers", "", x.found.Unlike}
}

// last returns the largest of lo to hi that passes, if all below one that passes do; lo−1 if
// none does.
func last(lo, hi int, passes func(int) bool) int {
	for lo <= hi {
		if mid := (lo + hi) / 2; passes(mid) {
			lo = mid + 1
		} else {
			hi = mid - 1
		}
	}
	return hi
}

// precision finds the fewest bits that the steps to the largest sum keep, up to which size sums
// keep more, and how bits that are not kept are rounded.
func (x *prober) precision(steps []step) {
	f, kept, at := &x.found, x.widest, step{}
	for i, s := range steps {
		keeps := func(bits int) bool {
			unit := x.top - bits + 1
			return x.terms(term{s.i, 1, x.top}, term{s.k, 1, unit}, term{s.j, -1, x.top}) == math.Ldexp(1, unit)
		}
		before := kept
		if !keeps(kept) {
			kept = last(max(1, x.top-x.out.high+1), kept-1, keeps)
		}
		if i > 0 && kept < before && steps[i-1].size < s.size {
			f.Group, f.GroupBits = steps[i-1].size, before
		}
		if i == 0 || kept < before || at.odd < 0 {
			at = s
		}
	}
	if f.Bits, f.AtLeast = max(0, kept), kept == x.widest; f.AtLeast {
		f.Rounding = "none"
		return
	}
	if f.Rounding = "unknown"; at.odd < 0 {
		return
	}
	// What becomes of one to three quarters of the last bit, added to an even and to an odd sum, then
	// to negative ones, in quarters.
	bit, seen := x.top-kept+1, ""
	for _, sign := range []float64{1, 1, -1, -1} {
		less := float64(len(seen) / 3 % 2)
		for quarters := 1.0; quarters <= 3; quarters++ {
			o := x.terms(term{at.i, sign, x.top}, term{at.odd, sign * less, bit}, term{at.k, sign * quarters, bit - 2}, term{at.j, -sign, x.top})
			seen += fmt.Sprint(int(4 * (sign*math.Ldexp(o, -bit) - less)))
		}
	}
	f.Rounding = cmp.Or(map[string]string{
		"004044004044": "nearest even", "044044044044": "nearest, ties away", "000000000000": "toward zero",
		"000000444444": "down", "444444000000": "up", "444444444444": "away from zero",
	}[seen], "other")
}

// subnormals finds whether they count as zero, as far as the dtypes reach them.
func (x *prober) subnormals() {
	var found []string
	for _, try := range []struct {
		what    string
		n, a, b int // products, and the exponents of their factors
	}{{"operands", 1, x.a.low - 1, min(x.b.high, 20)}, {"sums", 16, -65, -65}} { // the whole sum is normal
		if try.n > x.p.K || try.a < x.a.low-1 || try.b < x.b.low {
			continue
		}
		o := x.sum(func(k int) (a, b float64) {
			if k >= try.n {
				return 0, 0
			}
			return math.Ldexp(1, try.a), math.Ldexp(1, try.b)
		})
		if what := try.what + " kept"; o == math.Ldexp(float64(try.n), try.a+try.b) {
			found = append(found, what)
		} else {
			found = append(found, try.what+" flushed")
		}
	}
	x.found.Subnormals = strings.Join(found, ", ")
}
