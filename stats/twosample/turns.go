package twosample

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Pair is a turn of each side, one right after the other, in an order drawn at random:
// the logarithms of the times that each of them sampled.
type Pair struct{ Old, New []float64 }

// quantiles are those of which one is compared: the nearer to 0, the less other work on
// the machine is in it, and the fewer samples.
var quantiles = []float64{0.05, 0.1, 0.2, 0.35, 0.5}

const (
	quantileDraws = 400   // orders drawn anew to choose the quantile by
	intervalDraws = 1000  // and for an interval
	mostDraws     = 20000 // and for a p-value, at most, of a look that is the only one
	enoughExtreme = 40    // of them at least as far from 0 as the difference seen: then no more are drawn
)

// CompareTurns estimates the difference between two sides from pairs of turns; quantile
// is the one that it is a difference of. All samples of a side are one set, whose low
// quantile survives a machine that is busy most of the time.
//
// It is a randomization test (Fisher 1935). If there is no difference, then which turn of a
// pair is the old side's was a matter of the draw alone, whatever the machine did meanwhile:
// P is how often the sides of pairs, swapped at random, differ by as much. The interval holds
// each difference that this test does not reject once it is taken out of the new side's
// times. The quantile is the one whose difference varies least over random swaps, once the
// difference itself is taken out. seed is that of the swaps. Pairs with an empty turn are
// left out; ok is false where none is left.
//
// share is that of a Look: the interval is so much surer that it holds whichever of the
// looks was the last; P is not, and wants to be held against as much less. Where there is
// one look, share is 1.
func CompareTurns(pairs []Pair, seed uint64, share float64) (d Difference, quantile float64, ok bool) {
	l := newTurns(pairs)
	if l.pairs == 0 {
		return Difference{}, 0, false
	}
	rng := rand.New(rand.NewPCG(seed, 0x10757))
	swaps := make([][]bool, intervalDraws)
	for i := range swaps {
		swaps[i] = make([]bool, l.pairs)
		draw(rng, swaps[i])
	}
	asDrawn := make([]bool, l.pairs)
	least := math.Inf(1)
	for _, q := range quantiles {
		l.shift(0)
		l.shift(l.difference(asDrawn, q)) // otherwise a real difference would add to the variation
		sum := 0.0
		for _, f := range swaps[:quantileDraws] {
			v := l.difference(f, q)
			sum += v * v
		}
		if sum < least {
			least, quantile = sum, q
		}
	}
	l.shift(0)
	d.Log = l.difference(asDrawn, quantile)
	d.P = l.p(rng, int(mostDraws/share), d.Log, quantile)
	reach := math.Max(4*math.Sqrt(least/quantileDraws), 1e-3)
	d.Lo, d.Hi = l.end(swaps, quantile, d.Log, -reach, 0.05*share), l.end(swaps, quantile, d.Log, reach, 0.05*share)
	d.Lo90, d.Hi90 = l.end(swaps, quantile, d.Log, -reach, 0.1*share), l.end(swaps, quantile, d.Log, reach, 0.1*share)
	return d, quantile, true
}

// turns holds the samples of all pairs.
type turns struct {
	samples []sample // sorted by value, after a shift
	base    []sample // as measured
	sizes   [][2]int // how many samples of old and new, by pair
	pairs   int      // with samples on both sides
}

type sample struct {
	value float64
	pair  int
	new   bool
}

func newTurns(pairs []Pair) *turns {
	l := &turns{}
	for _, p := range pairs {
		if len(p.Old) == 0 || len(p.New) == 0 {
			continue
		}
		for _, v := range p.Old {
			l.base = append(l.base, sample{v, l.pairs, false})
		}
		for _, v := range p.New {
			l.base = append(l.base, sample{v, l.pairs, true})
		}
		l.sizes = append(l.sizes, [2]int{len(p.Old), len(p.New)})
		l.pairs++
	}
	l.samples = make([]sample, len(l.base))
	return l
}

// shift makes the measured times of the new side longer by a difference, and sorts all.
func (l *turns) shift(by float64) {
	copy(l.samples, l.base)
	for i := range l.samples {
		if l.samples[i].new {
			l.samples[i].value += by
		}
	}
	slices.SortFunc(l.samples, func(a, b sample) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
}

// draw draws at random which pairs swap sides.
func draw(rng *rand.Rand, swap []bool) {
	var bits uint64
	for i := range swap {
		if i%64 == 0 {
			bits = rng.Uint64()
		}
		swap[i] = bits&1 == 1
		bits >>= 1
	}
}

// difference is that of the quantiles q of both sides, old less new, after the pairs of
// swap have swapped sides. One pass over the sorted samples finds both.
func (l *turns) difference(swap []bool, q float64) float64 {
	var n [2]int
	for i, s := range l.sizes {
		a, b := s[0], s[1]
		if swap[i] {
			a, b = b, a
		}
		n[0] += a
		n[1] += b
	}
	var at [2]float64 // rank of the quantile in its side, from 0; between two ranks it is interpolated
	var value [2]float64
	for side := range at {
		at[side] = q * float64(n[side]-1)
	}
	var seen [2]int // samples passed, by side
	open := 2       // sides whose quantile is not complete
	for _, s := range l.samples {
		side := 0
		if s.new != swap[s.pair] {
			side = 1
		}
		below := math.Floor(at[side])
		switch float64(seen[side]) {
		case below:
			value[side] += s.value * (below + 1 - at[side])
			if at[side] == below {
				open--
			}
		case below + 1:
			if at[side] > below {
				value[side] += s.value * (at[side] - below)
				open--
			}
		}
		seen[side]++
		if open == 0 {
			break
		}
	}
	return value[0] - value[1]
}

// p is the share of random swaps, of most at most, whose difference is at least as far from
// 0 as the one seen. Where it is large, few draws tell (Besag and Clifford 1991).
func (l *turns) p(rng *rand.Rand, most int, seen, q float64) float64 {
	out, swap := 0, make([]bool, l.pairs)
	for i := 1; i <= most; i++ {
		draw(rng, swap)
		if math.Abs(l.difference(swap, q)) >= math.Abs(seen)-1e-12 {
			if out++; out == enoughExtreme {
				return float64(out) / float64(i)
			}
		}
	}
	return float64(out+1) / float64(most+1)
}

// end is one end of the interval around seen: the difference furthest from it, on the side
// of reach's sign, that a test at level does not reject. The search begins at reach and goes
// further as long as that is not rejected; with too few pairs to reject anything, the end is
// infinite.
func (l *turns) end(swaps [][]bool, q, seen, reach, level float64) float64 {
	kept := func(by float64) bool {
		l.shift(by)
		out := 1
		for _, f := range swaps {
			if math.Abs(l.difference(f, q)) >= math.Abs(seen-by)-1e-12 {
				out++
			}
		}
		return float64(out) > level*float64(len(swaps)+1)
	}
	near, far := 0.0, reach
	for range 6 { // until far is rejected, or 4⁶ times as far is not
		if !kept(seen + far) {
			break
		}
		far *= 4
	}
	if kept(seen + far) { // few pairs reject nothing
		return math.Inf(int(math.Copysign(1, reach)))
	}
	for range 12 { // bisect
		mid := (near + far) / 2
		if kept(seen + mid) {
			near = mid
		} else {
			far = mid
		}
	}
	return seen + far
}

// SidesAt returns the times at a quantile of the samples of each side.
func SidesAt(pairs []Pair, q float64) (old, new float64) {
	at := func(turn func(Pair) []float64) float64 {
		var all []float64
		for _, p := range pairs {
			all = append(all, turn(p)...)
		}
		slices.Sort(all)
		i := q * float64(len(all)-1)
		below := int(i)
		value := all[below]
		if above := below + 1; above < len(all) {
			value += (all[above] - all[below]) * (i - float64(below))
		}
		return math.Exp(value)
	}
	return at(func(p Pair) []float64 { return p.Old }), at(func(p Pair) []float64 { return p.New })
}
