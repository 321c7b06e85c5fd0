package ttir

import (
	"slices"

	"matladder/internal/each"
)

// kind is what is known of a value.
type kind uint8

const (
	unknown kind = iota // data
	number              // an integer, or a tensor of them
	mask                // a tensor of conditions, each dimension's of its own
	pointer             // into an argument, at an element
	descriptor
)

// value is what a slot holds: of numbers and pointers c plus one vector a dimension, of a
// mask the product of its vectors. A value without vectors is the same everywhere.
type value struct {
	kind kind
	base int // of a pointer or a descriptor: its argument
	c    int64
	dims []vector

	from           int     // of an unknown: the line that made it so
	shape, strides []int64 // of a descriptor
	lost           bool    // a pointer at elements that data tell
}

// vector is along one dimension: step·i, or values, or 0.
type vector struct {
	step   int64
	values []int64
}

func (v vector) zero() bool { return v.step == 0 && v.values == nil }

func (v vector) at(i int) int64 {
	if v.values != nil {
		if i >= len(v.values) {
			panic(refusal{&UnsupportedError{Reason: "tensors of different sizes meet in it"}})
		}
		return v.values[i]
	}
	return v.step * int64(i)
}

func num(c int64) value { return value{kind: number, c: c} }

func fromData(line int) value { return value{kind: unknown, from: line} }

// uniform reports whether v is one number everywhere.
func (v value) uniform() bool { return v.kind == number && v.dims == nil }

// along is the one dimension along which v varies; -1 for none, -2 for several.
func (v value) along() int {
	at := -1
	for d, x := range v.dims {
		if !x.zero() {
			if at >= 0 {
				return -2
			}
			at = d
		}
	}
	return at
}

// tidy drops vectors that say nothing.
func (v value) tidy() value {
	if v.kind != mask && !slices.ContainsFunc(v.dims, func(x vector) bool { return !x.zero() }) {
		v.dims = nil
	}
	return v
}

// sum adds numbers, or a number to a pointer; by is 1 or -1.
func sum(x, y value, by int64) value {
	if y.kind == pointer && by == 1 {
		x, y = y, x
	}
	x.c += by * y.c
	if y.dims == nil {
		return x
	}
	dims := slices.Clone(x.dims)
	for len(dims) < len(y.dims) {
		dims = append(dims, vector{})
	}
	for d, b := range y.dims {
		a := dims[d]
		switch {
		case b.zero():
		case a.values == nil && b.values == nil:
			dims[d] = vector{step: a.step + by*b.step}
		default:
			n := max(len(a.values), len(b.values))
			out := each.Upto(n, func(i int) int64 { return a.at(i) + by*b.at(i) })
			dims[d] = vector{values: out}
		}
	}
	x.dims = dims
	return x.tidy()
}

// scaled multiplies by one number.
func scaled(x value, by int64) value {
	dims := slices.Clone(x.dims)
	for d, a := range dims {
		dims[d].step = a.step * by
		if a.values != nil {
			dims[d].values = make([]int64, len(a.values))
			for i, e := range a.values {
				dims[d].values[i] = e * by
			}
		}
	}
	x.c, x.dims = x.c*by, dims
	return x.tidy()
}

// byElement applies f element by element, where both vary along one dimension at most, of n
// elements there; false where they do not.
func byElement(x, y value, shape []int, f func(a, b int64) (int64, bool)) (value, bool) {
	if x.kind == mask || y.kind == mask {
		x, y = flat(x), flat(y)
	}
	if x.kind != number || y.kind != number {
		return value{}, false
	}
	d, e := x.along(), y.along()
	if d == -1 {
		d = e
	}
	if d == -2 || e == -2 || e >= 0 && d != e {
		return value{}, false
	}
	if d == -1 {
		c, ok := f(x.c, y.c)
		return num(c), ok
	}
	if d >= len(shape) {
		return value{}, false
	}
	at := func(v value, i int) int64 {
		if d < len(v.dims) {
			return v.c + v.dims[d].at(i)
		}
		return v.c
	}
	out := make([]int64, shape[d])
	same := true
	for i := range out {
		var ok bool
		if out[i], ok = f(at(x, i), at(y, i)); !ok {
			return value{}, false
		}
		same = same && out[i] == out[0]
	}
	if same {
		return num(out[0]), true
	}
	v := value{kind: number, dims: make([]vector, len(shape))}
	if step, ok := even(out); ok {
		v.c, v.dims[d] = out[0], vector{step: step}
	} else {
		v.dims[d] = vector{values: out}
	}
	return v, true
}

// even is the step of numbers that go in steps.
func even(list []int64) (int64, bool) {
	if len(list) < 2 {
		return 0, false
	}
	step := list[1] - list[0]
	for i := 2; i < len(list); i++ {
		if list[i]-list[i-1] != step {
			return 0, false
		}
	}
	return step, true
}

// flat is a mask along one dimension as a number; others stay.
func flat(v value) value {
	if v.kind == mask && v.along() >= -1 {
		v.kind = number
		if v.along() == -1 {
			v.c = 1
		}
		return v.tidy()
	}
	return v
}

// asMask makes what a comparison made a mask.
func asMask(v value) value {
	at := v.along()
	if v.kind != number || at < 0 || v.c != 0 && v.dims[at].values != nil {
		return v
	}
	if v.dims[at].values == nil { // a tensor of two that differ
		n := v.c
		v.dims = slices.Clone(v.dims)
		v.dims[at], v.c = vector{values: []int64{n, n + v.dims[at].step}}, 0
	}
	v.kind = mask
	return v
}

// both is where two masks hold.
func both(x, y value) (value, bool) {
	switch {
	case x.uniform():
		x, y = y, x
		fallthrough
	case y.uniform():
		if y.c == 0 {
			return num(0), true
		}
		return x, true
	}
	if x.kind != mask || y.kind != mask {
		return value{}, false
	}
	out := value{kind: mask, dims: slices.Clone(x.dims)}
	for len(out.dims) < len(y.dims) {
		out.dims = append(out.dims, vector{})
	}
	for d, b := range y.dims {
		a := out.dims[d]
		switch {
		case b.zero():
		case a.zero():
			out.dims[d] = b
		default:
			list := each.Upto(len(a.values), func(i int) int64 { return a.values[i] & b.at(i) })
			out.dims[d] = vector{values: list}
		}
	}
	return out, true
}

// moved puts dimension d of v at to[d].
func moved(v value, rank int, to func(d int) int) value {
	if v.dims == nil {
		return v
	}
	dims := make([]vector, rank)
	for d, x := range v.dims {
		if at := to(d); at >= 0 && at < rank {
			dims[at] = x
		}
	}
	v.dims = dims
	return v
}

// reshaped is a value whose elements stay in order; false where that is no sum of vectors.
func reshaped(v value, from, to []int) (value, bool) {
	if v.dims == nil {
		return v, true
	}
	// Dimensions of one element come and go; one that varies evenly may be cut up.
	d := v.along()
	if d < 0 || d >= len(from) {
		return v, false
	}
	below := int64(1) // elements of one step along d
	for _, n := range from[d+1:] {
		below *= int64(n)
	}
	dims, inner := make([]vector, len(to)), int64(1)
	for e := len(to) - 1; e >= 0; e-- {
		n := int64(to[e])
		if n == 1 {
			continue
		}
		switch x := v.dims[d]; {
		case inner*n <= below: // inside of one step
		case inner < below, inner >= below*int64(from[d]):
			if inner < below {
				return v, false
			}
		case n == int64(from[d]) && inner == below:
			dims[e] = x
		case x.values != nil || inner*n > below*int64(from[d]):
			return v, false
		default:
			dims[e] = vector{step: x.step * (inner / below)}
		}
		inner *= n
	}
	v.dims = dims
	return v.tidy(), true
}

// span is where a pointer is at its least and at its most, and how many elements it is at
// where m holds; m is a mask, or 1. A pointer that stays along a dimension reads there once.
func span(p value, m value, shape []int) (low, high, elements int64) {
	low, high, elements = p.c, p.c, 1
	for d, n := range shape {
		var v, holds vector
		if d < len(p.dims) {
			v = p.dims[d]
		}
		if m.kind == mask && d < len(m.dims) {
			holds = m.dims[d]
		}
		least, most, count := int64(0), int64(0), int64(0)
		if holds.zero() && v.values == nil {
			count = int64(n)
			least, most = min(0, v.step*(count-1)), max(0, v.step*(count-1))
		} else {
			for i := range n {
				if holds.zero() || holds.at(i) != 0 {
					e := v.at(i)
					if count == 0 {
						least, most = e, e
					}
					least, most = min(least, e), max(most, e)
					count++
				}
			}
		}
		if count == 0 {
			return 0, 0, 0
		}
		if v.zero() {
			count = 1
		}
		low, high, elements = low+least, high+most, elements*count
	}
	return low, high, elements
}
