package twosample

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Pair is a turn of each side, one right after the other, in an order drawn by lot:
// logarithms of the times that each of them sampled.
type Pair struct{ Old, New []float64 }

// quantiles are those of which one is compared: the nearer to 0, the less other work on
// the machine is in it, and the fewer samples.
var quantiles = []float64{0.05, 0.1, 0.2, 0.35, 0.5}

const (
	trials  = 400   // redrawn lots by which the quantile is chosen
	draws   = 1000  // of them for an interval
	most    = 20000 // for a p-value
	extreme = 40    // as far out as what was seen: enough of them for a p-value
)

// CompareTurns estimates the difference between two sides from pairs of turns; quantile
// is the one that it is a difference of. All samples of a side are one set, whose low
// quantile survives a machine that is busy most of the time.
//
// If there is no difference, then either turn of a pair could have been the other side's
// but for the lot, whatever the machine did meanwhile. So the difference is held against
// those of lots redrawn (Fisher 1935), and the interval holds each difference that, taken
// out of the new side's times, leaves nothing to be told. The quantile is the one that
// varies least over redrawn lots once its own difference is taken out. Pairs with an empty turn are
// left out; ok is false where none is left.
func CompareTurns(pairs []Pair, seed uint64) (d Difference, quantile float64, ok bool) {
	l := newLots(pairs)
	if l.pairs == 0 {
		return Difference{}, 0, false
	}
	rng := rand.New(rand.NewPCG(seed, 0x10757))
	flips := make([][]bool, draws)
	for i := range flips {
		flips[i] = make([]bool, l.pairs)
		draw(rng, flips[i])
	}
	asDrawn := make([]bool, l.pairs)
	least := math.Inf(1)
	for _, q := range quantiles {
		l.shift(0)
		l.shift(l.difference(asDrawn, q)) // or the quantile that differs least would vary least
		sum := 0.0
		for _, f := range flips[:trials] {
			v := l.difference(f, q)
			sum += v * v
		}
		if sum < least {
			least, quantile = sum, q
		}
	}
	l.shift(0)
	d.Log = l.difference(asDrawn, quantile)
	d.P = l.p(rng, d.Log, quantile)
	reach := math.Max(4*math.Sqrt(least/trials), 1e-3)
	d.Lo, d.Hi = l.end(flips, quantile, d.Log, -reach, 0.05), l.end(flips, quantile, d.Log, reach, 0.05)
	d.In, d.Up = l.end(flips, quantile, d.Log, -reach, 0.1), l.end(flips, quantile, d.Log, reach, 0.1)
	return d, quantile, true
}

// lots holds the samples of all pairs in order.
type lots struct {
	samples []sample
	base    []sample // before a shift
	sizes   [][2]int // samples of old and new, by pair
	pairs   int      // with samples on both sides
}

type sample struct {
	value float64
	pair  int
	new   bool
}

func newLots(pairs []Pair) *lots {
	l := &lots{}
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

// shift makes times of the new side longer by a difference.
func (l *lots) shift(by float64) {
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

// draw draws a lot anew: which pairs change sides.
func draw(rng *rand.Rand, flip []bool) {
	var bits uint64
	for i := range flip {
		if i%64 == 0 {
			bits = rng.Uint64()
		}
		flip[i] = bits&1 == 1
		bits >>= 1
	}
}

// difference is that of the quantiles of both sides, where the pairs of flip have
// changed sides.
func (l *lots) difference(flip []bool, q float64) float64 {
	var n [2]int
	for i, s := range l.sizes {
		a, b := s[0], s[1]
		if flip[i] {
			a, b = b, a
		}
		n[0] += a
		n[1] += b
	}
	var at [2]float64 // rank from 0
	var value [2]float64
	for side := range at {
		at[side] = q * float64(n[side]-1)
	}
	var seen [2]int
	open := 2
	for _, s := range l.samples {
		side := 0
		if s.new != flip[s.pair] {
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

// p is how often redrawn lots are as far out as what was seen. Where that is often, few
// draws tell (Besag and Clifford 1991).
func (l *lots) p(rng *rand.Rand, seen, q float64) float64 {
	out, flip := 0, make([]bool, l.pairs)
	for i := 1; i <= most; i++ {
		draw(rng, flip)
		if math.Abs(l.difference(flip, q)) >= math.Abs(seen)-1e-12 {
			if out++; out == extreme {
				return float64(out) / float64(i)
			}
		}
	}
	return float64(out+1) / (most + 1)
}

// end is the end of an interval, at most reach from seen: the difference furthest from
// it that a test at level does not reject.
func (l *lots) end(flips [][]bool, q, seen, reach, level float64) float64 {
	kept := func(by float64) bool {
		l.shift(by)
		out := 1
		for _, f := range flips {
			if math.Abs(l.difference(f, q)) >= math.Abs(seen-by)-1e-12 {
				out++
			}
		}
		return float64(out) > level*float64(len(flips)+1)
	}
	near, far := 0.0, reach
	for range 6 { // until far is rejected
		if !kept(seen + far) {
			break
		}
		far *= 4
	}
	if kept(seen + far) { // few pairs reject nothing
		return math.Inf(int(math.Copysign(1, reach)))
	}
	for range 12 {
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
