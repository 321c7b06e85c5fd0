package twosample

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"matladder/internal/each"
	"matladder/stats/interval"
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
	swaps := make([]swap, intervalDraws)
	for i := range swaps {
		swaps[i] = l.noSwap()
		l.draw(rng, &swaps[i])
	}
	asDrawn := l.noSwap()
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
	base   [2][]sample // of old and new, sorted, as measured
	values []float64   // of all samples, sorted, after a shift
	turns  []int32     // whose they are: 2·pair of the old side's turn, 2·pair+1 of the new one's
	sizes  [][2]int    // how many samples of old and new, by pair
	pairs  int         // with samples on both sides
}

type sample struct {
	value float64
	turn  int32
}

// swap says on which side each turn is, in the order of turns.turns, after some pairs have swapped.
type swap struct {
	side []uint8
	n    [2]int // samples, by side
}

func newTurns(pairs []Pair) *turns {
	l := &turns{}
	for _, p := range pairs {
		if len(p.Old) == 0 || len(p.New) == 0 {
			continue
		}
		for side, values := range [][]float64{p.Old, p.New} {
			for _, v := range values {
				l.base[side] = append(l.base[side], sample{v, int32(2*l.pairs + side)})
			}
		}
		l.sizes = append(l.sizes, [2]int{len(p.Old), len(p.New)})
		l.pairs++
	}
	for _, side := range l.base {
		slices.SortFunc(side, func(a, b sample) int { return cmp.Compare(a.value, b.value) })
	}
	n := len(l.base[0]) + len(l.base[1])
	l.values, l.turns = make([]float64, n), make([]int32, n)
	return l
}

// shift makes the measured times of the new side longer by a difference, and merges both.
func (l *turns) shift(by float64) {
	old, new := l.base[0], l.base[1]
	for i := range l.values {
		var s sample
		if len(new) == 0 || len(old) > 0 && old[0].value <= new[0].value+by {
			s, old = old[0], old[1:]
		} else {
			s, new = sample{new[0].value + by, new[0].turn}, new[1:]
		}
		l.values[i], l.turns[i] = s.value, s.turn
	}
}

// noSwap leaves every turn on its side.
func (l *turns) noSwap() swap {
	s := swap{make([]uint8, 2*l.pairs), [2]int{len(l.base[0]), len(l.base[1])}}
	for i := range l.pairs {
		s.side[2*i+1] = 1
	}
	return s
}

// draw draws at random which pairs swap sides.
func (l *turns) draw(rng *rand.Rand, s *swap) {
	s.n = [2]int{}
	var bits uint64
	for i, size := range l.sizes {
		if i%64 == 0 {
			bits = rng.Uint64()
		}
		swapped := bits & 1
		s.side[2*i], s.side[2*i+1] = uint8(swapped), uint8(1-swapped)
		s.n[0] += size[swapped]
		s.n[1] += size[1-swapped]
		bits >>= 1
	}
}

// difference is that of the quantiles q of both sides, old less new, after a swap.
func (l *turns) difference(s swap, q float64) float64 {
	return l.quantile(s, 0, q) - l.quantile(s, 1, q)
}

// quantile is that of a side after a swap, interpolated between two of its samples.
func (l *turns) quantile(s swap, side uint8, q float64) float64 {
	rank := q * float64(s.n[side]-1) // from 0
	left, above := int(rank), rank-math.Floor(rank)
	i := 0
	for ; ; i++ { // without a branch that depends on the draw
		if left -= int(s.side[l.turns[i]] ^ side ^ 1); left < 0 {
			break
		}
	}
	value := l.values[i] * (1 - above)
	if above > 0 {
		for i++; s.side[l.turns[i]] != side; i++ {
		}
		value += l.values[i] * above
	}
	return value
}

// p is the share of random swaps, of most at most, whose difference is at least as far from
// 0 as the one seen. Where it is large, few draws tell (Besag and Clifford 1991).
func (l *turns) p(rng *rand.Rand, most int, seen, q float64) float64 {
	out, s := 0, l.noSwap()
	for i := 1; i <= most; i++ {
		l.draw(rng, &s)
		if math.Abs(l.difference(s, q)) >= math.Abs(seen)-1e-12 {
			if out++; out == enoughExtreme {
				return float64(out) / float64(i)
			}
		}
	}
	return float64(out+1) / float64(most+1)
}

// end is one end of the interval around seen: the difference furthest from it, on the side of
// reach's sign, that a test at level does not reject. The search begins at reach and goes further
// as long as that is not rejected; with too few pairs to reject anything, the end is infinite.
func (l *turns) end(swaps []swap, q, seen, reach, level float64) float64 {
	kept := func(by float64) bool {
		l.shift(by)
		enough := level * float64(len(swaps)+1)
		out, rest := 1, len(swaps)
		for _, s := range swaps {
			if float64(out) > enough || float64(out+rest) <= enough { // the rest cannot change it
				break
			}
			if rest--; math.Abs(l.difference(s, q)) >= math.Abs(seen-by)-1e-12 {
				out++
			}
		}
		return float64(out) > enough
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
		all := slices.Concat(each.Of(pairs, turn)...)
		slices.Sort(all)
		return math.Exp(interval.Quantile(all, q))
	}
	return at(func(p Pair) []float64 { return p.Old }), at(func(p Pair) []float64 { return p.New })
}

// A Look is a moment at which turns are compared, and there may be more of them after it.
type Look struct {
	Pairs int     // of turns, since the first
	Share float64 // of the errors that all looks may make together: those of this one
}

// Looks are the moments at which turns are compared until they tell: after least pairs,
// after twice as many, and so on, up to most. Stopping as soon as the data please would
// find a difference sooner or later where there is none. So the moments are fixed
// beforehand and share the rate of errors between them (Bonferroni's bound, which holds
// whatever decides between going on and stopping): half of it is the first's, on a quiet
// machine the only one, and the others have equal parts of the rest.
func Looks(least, most int) []Look {
	looks := []Look{{Pairs: least, Share: 1}}
	for n := least; n < most; {
		n = min(2*n, most)
		looks = append(looks, Look{Pairs: n})
	}
	if later := looks[1:]; len(later) > 0 {
		looks[0].Share = 0.5
		for i := range later {
			later[i].Share = 0.5 / float64(len(later))
		}
	}
	return looks
}
