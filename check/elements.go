package check

import (
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// plainA is the element at k, not an anchor, of the plain rows of a class, before they are negated.
func (x *pattern) plainA(k, class int) float64 {
	h := mix(x.draw("a", k) + uint64(class))
	if x.full {
		return between(x.a, h)
	}
	r := class / x.variants
	v := float64(1 + 2*(h>>8%uint64(x.mostA/2+1)))
	if x.even[r] && x.first[r] == k {
		v = 2
	}
	if h&1 == 1 && x.a != tile.Uint8 {
		return -v
	}
	return v
}

// extremeA is the element at k of an extreme row: its code less the zero point.
func (x *pattern) extremeA(k, class int) float64 {
	from := 0
	if room := x.p.K - x.window; room > 0 {
		from = int(x.draw("window", class) % uint64(room+1))
	}
	if k < from || k >= from+x.window {
		return 0
	}
	return extremeOf(x.a, mix(x.draw("extreme a", k)+uint64(class))) - x.zeroA()
}

// extremeOf is the least number of an integer dtype three times out of four.
func extremeOf(d tile.Dtype, h uint64) float64 {
	lo, hi := d.Range()
	if d == tile.Uint8 {
		lo, hi = hi, lo
	}
	switch {
	case h&3 != 0:
		return lo
	case h&4 != 0:
		return hi
	}
	return between(d, h)
}

// between is a number of the range of an integer dtype.
func between(d tile.Dtype, h uint64) float64 {
	lo, hi := d.Range()
	return lo + float64(h>>8%uint64(hi-lo+1))
}

// own is where row i differs from others of its class, and by how much.
func (x *pattern) own(i int, r row) term {
	k := int(x.draw("own", i) % uint64(x.p.K))
	switch {
	case x.isAnchor(k):
		return term{k, 0}
	case r.kind == extremeRow:
		return term{k, -x.extremeA(k, r.class)}
	case r.kind != plainRow:
		return term{k, 0}
	}
	v := 0.0
	if x.residue[k] == r.residue {
		if v = x.plainA(k, r.class); r.negative {
			v = -v
		}
	}
	if v >= 2 || v > 0 && x.a != tile.Uint8 {
		return term{k, -2} // the number of odd terms stays what it is
	}
	return term{k, 2}
}

// rowOfA sets dst to row i of a: integers, which stand for themselves times scaleA.
func (x *pattern) rowOfA(dst []float64, i int) {
	clear(dst)
	r := x.row(i)
	switch r.kind {
	case plainRow:
		for k := range dst {
			if x.residue[k] != r.residue {
				continue
			}
			if dst[k] = x.plainA(k, r.class); r.negative {
				dst[k] = -dst[k]
			}
		}
	case extremeRow:
		for k := range dst {
			dst[k] = x.extremeA(k, r.class)
		}
	default:
		for _, t := range r.terms {
			dst[t.k] = t.a
		}
	}
	own := x.own(i, r)
	dst[own.k] += own.a
	for _, a := range x.anchors {
		dst[a.k] = a.a
	}
}

// rowOfB sets dst to b[k, from:from+len(dst)], as rowOfA.
func (x *pattern) rowOfB(dst []float64, k, from int) {
	for _, a := range x.anchors {
		if a.k == k {
			for j := range dst {
				dst[j] = a.b
			}
			return
		}
	}
	row := x.draw("b", k)
	magnitudes := uint64(x.mostB/2 + 1) // 1, 2, 4 or 8
	signed := uint64(1)
	if x.b == tile.Uint8 {
		signed = 0
	}
	for i := range dst {
		j := from + i
		h := mix(row + uint64(j))
		isSpecial := j%special == special-3
		switch {
		case isSpecial && x.extreme:
			dst[i] = extremeOf(x.b, h) - x.zeroB(k, j)
			continue
		case x.full:
			dst[i] = between(x.b, h)
			continue
		case isSpecial && x.wide:
			dst[i] = float64(1<<11 | h>>8&(1<<11-1) | 1)
		default:
			dst[i] = float64(1 + 2*(h>>8&(magnitudes-1)))
		}
		dst[i] *= 1 - 2*float64(h&signed)
	}
}

// scaleA is what row i of a is multiplied by.
func (x *pattern) scaleA(i int) float64 {
	switch x.scheme.A {
	case problem.Tensor:
		return 2
	case problem.Token, problem.TokenBlock:
		return float64(int(1) << (x.draw("sa", i) % 3))
	}
	return 1
}

// groupA is what a[i, k] is multiplied by beside that, for its group of k.
func (x *pattern) groupA(k int) float64 {
	if x.scheme.A != problem.TokenBlock || x.isLifted(k) {
		return 1
	}
	return float64(1 + x.draw("group of sa", k/x.scheme.Block)%2)
}

// isLifted reports whether the group of k has a term that lifts all sums.
func (x *pattern) isLifted(k int) bool {
	return slices.ContainsFunc(x.anchors, func(a anchor) bool { return a.b != 0 && a.k/x.scheme.Block == k/x.scheme.Block })
}

// scaleB is what b[k, j] is multiplied by.
func (x *pattern) scaleB(k, j int) float64 {
	switch x.scheme.B {
	case problem.Tensor:
		return 2
	case problem.Channel:
		return float64(int(1) << (x.draw("sb", j) % 3))
	case problem.Block: // 3 is odd, and its products with small integers are exact
		if x.isLifted(k) {
			return 1
		}
		h := x.draw("sb", operandGroup(x.scheme, k, j, x.p.N))
		if x.scheme.Scales == tile.Float8E8M0FNU {
			return float64(uint64(1) << (h % uint64(x.powers)))
		}
		return float64(1 + 2*(h%2))
	}
	return 1
}

// scaleOfAll is what all of both operands is multiplied by beside the scales of groups.
func (x *pattern) scaleOfAll() float64 {
	switch {
	case !x.scheme.TwoLevels():
		return 1
	case x.scheme.A == problem.NoGrain:
		return 2
	}
	return 4
}

// zeroA is the zero point of all of a.
func (x *pattern) zeroA() float64 {
	if !x.scheme.ZeroA || x.scheme.Dynamic {
		return 0
	}
	return zeroOf(x.a, x.draw("za", 0))
}

func (x *pattern) zeroB(k, j int) float64 {
	if !x.scheme.ZeroB {
		return 0
	}
	return zeroOf(x.b, x.draw("zb", operandGroup(x.scheme, k, j, x.p.N)))
}

func zeroOf(d tile.Dtype, h uint64) float64 {
	if d == tile.Int4 {
		return float64(h%5) - 2
	}
	return float64(h%11) - 5
}

func (x *pattern) bias(j int) float64 {
	if !x.p.Bias {
		return 0
	}
	return float64(x.draw("bias", j)%17) - 8
}
