package check

import (
	"fmt"
	"math"
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// A pattern is the inputs of an exact probe of one element of a batch.
//
// Most rows of a are plain. The elements of k are dealt to residues, and a plain row is zero but
// where k has its residue: any so many neighbouring rows have all of k between them. Rows of one
// residue come in several variants, and negated, and one element of each is its own, so that no two
// are alike; all elements of b are at random. What a sum of a plain row misses, or has twice,
// changes it: its terms are odd and, but for one, odd in number, so that it is not 0 either.
//
// Every eighth row is special: it has one term, or two whose sum is rounded once, or three that
// cancel where a sum is kept in more bits than the output has, or the extreme numbers of an integer
// dtype. So is every eighth column: numbers that need 12 bits, or extreme ones.
//
// Where an activation follows, one term lifts all sums to where it leaves a number as it is. Where
// a is quantized inside the launch, it has elements that make the scale a power of two.
type pattern struct {
	p      problem.Matmul
	scheme problem.Scheme
	a, b   tile.Dtype // of the codes
	start  uint64

	tight              bool // sums must fit 8 bits
	full               bool // integers over the whole range of their dtype
	residues, variants int
	mostA, mostB       int // plain elements are odd integers up to these
	bitsA              int // of an element of a row with one term
	negated            bool
	wide, extreme      bool // kinds of the special columns
	powers             int  // how many powers of two scale groups of b, where nothing else may
	window             int  // how many elements of k an extreme row has
	kinds              []rowKind
	anchors            []anchor
	residue            []int  // of each k
	first              []int  // the first k of each residue
	even               []bool // whether it has an even number of terms
}

// anchor is a term that all rows have.
type anchor struct {
	k    int
	a, b float64
}

type rowKind uint8

const (
	plainRow   rowKind = iota
	singleRow          // one term
	roundedRow         // two, whose sum is rounded
	cancelRow          // three, of which two are large
	extremeRow         // the extreme codes, neighbour by neighbour
)

// row is what a row of a is made of.
type row struct {
	kind     rowKind
	class    int // plain: residue·variants + variant; extreme: which
	residue  int
	negative bool
	terms    []term // of the kinds that have few, by k
}

type term struct {
	k int
	a float64
}

// special is every how many rows, and columns, one is special.
const special = 8

// newPattern draws the probe of element e of the batch; it is an error if there is none for p.
func newPattern(p problem.Matmul, e int, seed uint64, dist string) (*pattern, error) {
	scheme, err := p.Scheme()
	if err != nil {
		return nil, err
	}
	x := &pattern{p: p, scheme: scheme, start: mix(seed ^ mix(hash("exact")+uint64(e)))}
	x.a, x.b = p.Factors()
	if scheme.B != problem.NoGrain {
		x.b = p.B
	}
	lifted := p.Activation != problem.NoActivation
	integers := x.a.IsInteger() && x.b.IsInteger()
	x.full = integers && scheme.B == problem.NoGrain && !lifted
	x.tight = !x.full && (p.Out.Bits() < 32 || lifted)
	x.negated = x.a != tile.Uint8 && !x.full
	x.mostA, x.mostB = oddUpTo(x.a), oddUpTo(x.b)
	plain := scheme.B == problem.NoGrain && !lifted
	if x.tight {
		x.mostA, x.mostB = 1, 1
	}
	float32s := x.a == tile.Float32 && plain && dist == Exact
	x.wide = float32s && !x.tight
	if x.bitsA = min(8, significant(x.a)); float32s {
		x.bitsA = 12
	}
	if x.wide {
		x.mostA = 3
	}
	x.extreme = x.b.IsInteger() && !lifted
	scales, reach := 1, x.mostB
	switch {
	case x.wide:
		reach = 1<<12 - 1
	case x.extreme:
		reach = 133 // with a zero point
	}
	if scheme.B == problem.Block {
		scales = 3
	}
	if x.powers = 2; scheme.Scales == tile.Float8E8M0FNU && !x.tight { // so that sums of narrow codes have many bits
		x.powers, scales = 7, 64
	}
	if scheme.A == problem.TokenBlock {
		scales *= 2
	}
	x.window = p.K
	if !x.full {
		x.window = min(p.K, (1<<24-1)/(128*reach*scales))
	}
	if ok := x.anchor(lifted); !ok {
		return nil, fmt.Errorf("check: no exact probe of %s", problem.Title(p))
	}
	x.deal(lifted, reach, scales)
	x.choose(lifted, plain, dist)
	return x, nil
}

// oddUpTo is the largest odd integer up to which a dtype has all, or enough.
func oddUpTo(d tile.Dtype) int {
	switch d {
	case tile.Int4, tile.Float4E2M1FN:
		return 3
	case tile.Float8E5M2:
		return 7
	}
	return 15
}

// significant is how many bits an integer may have that a dtype holds exactly.
func significant(d tile.Dtype) int {
	switch d {
	case tile.Float32:
		return 24
	case tile.Float16:
		return 11
	case tile.BFloat16:
		return 8
	case tile.Float4E2M1FN:
		return 2
	case tile.Float8E4M3FN:
		return 4
	case tile.Float8E5M2, tile.Int4:
		return 3
	}
	return 7
}

// anchor draws the terms that all rows have, if there is room for them.
func (x *pattern) anchor(lifted bool) bool {
	dynamic := x.scheme.Dynamic
	lift := 0.0
	if dynamic && lifted {
		lift = 1
	}
	at := int(x.draw("anchor", 0) % uint64(x.p.K))
	add := func(a, b float64) {
		x.anchors = append(x.anchors, anchor{(at + len(x.anchors)) % x.p.K, a, b})
		if size := x.scheme.Block; dynamic && x.scheme.A == problem.TokenBlock { // the other groups of a row
			for k := (at%size + size) % size; k/size < tile.Ceil(x.p.K, size); k += size {
				if k = min(k, x.p.K-1); k/size != at/size {
					x.anchors = append(x.anchors, anchor{k, a, 0})
				}
			}
		}
	}
	switch {
	case dynamic && x.scheme.Scales == tile.Float8E8M0FNU: // the largest power of two, with which a scale is 1
		_, most := x.a.Range()
		if add(math.Ldexp(1, math.Ilogb(most)), lift); lifted && most < 64 {
			return false
		}
	case dynamic && x.a.IsInteger():
		add(127, lift)
		if x.scheme.ZeroA {
			add(-128, 0)
		}
	case dynamic:
		add(112, lift) // the largest code of both float8, times a power of two
	case lifted && x.a.Bits() < 8:
		return false
	case lifted:
		add(64, 2)
	}
	return len(x.anchors) == 0 || x.p.K > len(x.anchors)
}

// deal deals k to residues, so many that no sum becomes too large.
func (x *pattern) deal(lifted bool, reach, scales int) {
	p := x.p
	terms := p.K
	if !x.full {
		terms = (1<<24-1)/(x.mostA*reach*scales) - 4 // and a row's own
	}
	switch {
	case lifted:
		terms = min(terms, 69/scales)
	case x.tight: // sums of scaled groups are not rounded on their way, and hardly ever so large
		terms = min(terms, 252)
	}
	x.residues = max(tile.Ceil(p.K, max(1, terms)), min(8, max(1, p.M/16)))
	x.variants = 16
	if x.residues >= 16 {
		x.variants = 8
	}
	x.variants = min(x.variants, tile.Ceil(p.M, x.residues))
	x.residue = make([]int, p.K)
	for k := range p.K { // each so many neighbours to all residues, in an order that turns
		x.residue[k] = (k%x.residues + int(x.draw("residue", k/x.residues)%uint64(x.residues))) % x.residues
	}
	counts := make([]int, x.residues)
	x.first, x.even = make([]int, x.residues), make([]bool, x.residues)
	for k := range p.K {
		if x.isAnchor(k) {
			continue
		}
		r := x.residue[k]
		if counts[r]++; counts[r] == 1 {
			x.first[r] = k
		}
	}
	for r, n := range counts {
		x.even[r] = n > 0 && n%2 == 0
	}
}

// choose lists the kinds of special rows.
func (x *pattern) choose(lifted, plain bool, dist string) {
	float32s := x.p.Out == tile.Float32
	switch {
	case lifted || x.scheme.Dynamic:
	case x.a.IsInteger():
		x.kinds = []rowKind{extremeRow}
	case !plain || x.a.Bits() < 16:
		x.kinds = []rowKind{singleRow}
	case float32s && dist == Exact:
		x.kinds = []rowKind{singleRow, roundedRow}
	case float32s:
		x.kinds = []rowKind{singleRow}
	default:
		x.kinds = []rowKind{singleRow, roundedRow, cancelRow}
	}
	if x.p.K < 3 && len(x.kinds) > 1 {
		x.kinds = x.kinds[:1]
	}
}

// draw is a number of the sequence of a word.
func (x *pattern) draw(word string, i int) uint64 { return mix(mix(x.start^hash(word)) + uint64(i)) }

func (x *pattern) isAnchor(k int) bool {
	return slices.ContainsFunc(x.anchors, func(a anchor) bool { return a.k == k })
}

// isSpecial reports whether row i is special; of a few rows the last is.
func (x *pattern) isSpecial(i int) bool {
	if len(x.kinds) == 0 {
		return false
	}
	return i%special == special-1 || x.p.M < special && i > 0 && i == x.p.M-1
}

// extremeRows is how many extreme rows differ.
const extremeRows = 2

func (x *pattern) row(i int) row {
	if !x.isSpecial(i) {
		n := i
		if len(x.kinds) > 0 {
			n -= i / special
		}
		h := x.draw("row", i)
		r := row{residue: n % x.residues, negative: x.negated && h&1 == 1}
		variant := n / x.residues
		if variant >= x.variants {
			variant = int(h >> 8 % uint64(x.variants))
		}
		r.class = r.residue*x.variants + variant
		return r
	}
	h := x.draw("special", i)
	r := row{kind: x.kinds[(i/special+int(x.start%8))%len(x.kinds)]}
	sign := func(bit int) float64 { return 1 - 2*float64(h>>bit&1) }
	odd := func(bits, shift int) float64 { // with all of bits
		return float64(1<<(bits-1) | int(h>>shift)&(1<<(bits-1)-1) | 1)
	}
	k := x.p.K
	third := func(i int) int { lo, hi := i*k/3, (i+1)*k/3; return lo + int(mix(h+uint64(i))%uint64(hi-lo)) }
	switch r.kind {
	case extremeRow:
		r.class = i / special % extremeRows
	case singleRow:
		r.terms = []term{{int(mix(h) % uint64(k)), sign(0) * odd(x.bitsA, 8)}}
	case roundedRow:
		low, up, down := x.bitsA, 0x1p14, 1.
		switch {
		case x.tight:
			low, up = 4, 16
		case x.a == tile.Float16: // which ends at 65504
			up, down = 0x1p8, 0x1p-6
		}
		r.terms = []term{{third(0), sign(0) * odd(x.bitsA, 8) * up}, {third(2), sign(1) * odd(low, 32) * down}}
		if h>>2&1 == 1 {
			r.terms[0].a, r.terms[1].a = r.terms[1].a, r.terms[0].a
		}
	case cancelRow:
		large := sign(0) * odd(8, 8) * 128 // float16 holds that, and a number of 8 bits more
		r.terms = []term{{third(0), large}, {third(1), sign(1) * odd(8, 32)}, {third(2), -large}}
	}
	return r
}
