package figure

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"matladder/internal/each"
	"matladder/internal/words"
)

// An Axis is the meaning of one direction.
type Axis struct {
	Label    string
	Scale    Scale
	Min, Max float64
	Unit     Unit
	Ticks    []Tick // where given, these and no others
}

// A Scale maps values to places on an axis.
type Scale int

// The scales.
const (
	Linear Scale = iota
	Log
	Category // equal steps; values are 0, 1, 2 …
)

// A Tick is a labelled value of an axis. Where labels collide, the ones with the lowest Rank stay.
type Tick struct {
	Value float64
	Label string
	Rank  int
}

// A Unit prints a value divided by Value.
type Unit struct {
	Name  string
	Value float64
}

// Format prints v in the unit, with three digits and the unit's name.
func (u Unit) Format(v float64) string { return Digits(v/u.Value) + " " + u.Name }

// Digits prints v with three significant digits and no zeros that say nothing.
func Digits(v float64) string {
	s := words.Figure(v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Categories is an axis of equal steps with these labels.
func Categories(label string, ticks []string) Axis {
	ax := Axis{Label: label, Scale: Category, Min: -0.5, Max: float64(len(ticks)) - 0.5}
	ax.Ticks = each.Upto(len(ticks), func(i int) Tick { return Tick{Value: float64(i), Label: ticks[i]} })
	return ax
}

// Powers is a log2 axis with these ticks. Labels of powers of two outlast others where
// there is no room for all.
func Powers(label string, ticks []Tick) Axis {
	ax := Axis{Label: label, Scale: Log}
	for _, t := range ticks {
		n := int(t.Value)
		for n%2 == 0 && t.Rank > -30 {
			n, t.Rank = n/2, t.Rank-1
		}
		t.Rank += 100 * (n / 2) // odd part 1 first
		if !slices.ContainsFunc(ax.Ticks, func(o Tick) bool { return o.Value == t.Value }) {
			ax.Ticks = append(ax.Ticks, t)
		}
	}
	slices.SortFunc(ax.Ticks, func(a, b Tick) int { return cmp.Compare(a.Value, b.Value) })
	first, last := ax.Ticks[0].Value, ax.Ticks[len(ax.Ticks)-1].Value
	air := math.Pow(last/first, 0.03)
	if first == last {
		air = 2
	}
	ax.Min, ax.Max = first/air, last*air
	return ax
}

// Decades is a log axis over whole powers of ten and some air above, with ticks at them alone.
func Decades(label string, least, most, air float64, u Unit, name func(float64) string) Axis {
	ax := Axis{Label: label, Scale: Log, Unit: u, Min: math.Pow(10, math.Floor(math.Log10(least))), Max: math.Pow(10, math.Ceil(math.Log10(most))) * air}
	for _, t := range LogTicks(ax.Min, ax.Max, u) {
		if t.Rank == 0 {
			ax.Ticks = append(ax.Ticks, Tick{Value: t.Value, Label: name(t.Value)})
		}
	}
	return ax
}

// Between is an axis with round ticks over a range that need not start at 0.
func Between(label string, least, most float64, u Unit) Axis {
	ax := Axis{Label: label, Min: least, Max: most, Unit: u}
	if span := linearTicks(most-least, u, 8); len(span) > 1 {
		step := span[1].Value
		for i := math.Ceil(least / step); i*step <= most*(1+1e-9); i++ {
			ax.Ticks = append(ax.Ticks, Tick{Value: i * step, Label: Digits(i * step / u.Value)})
		}
	}
	return ax
}

// along is where v lies between the ends of the axis: 0 at Min, 1 at Max.
func (ax Axis) along(v float64) float64 {
	if ax.Scale == Log { // of values that are positive
		return math.Log(v/ax.Min) / math.Log(ax.Max/ax.Min)
	}
	return (v - ax.Min) / (ax.Max - ax.Min)
}

// clamp is v, or the end of the axis beyond which it lies.
func (ax Axis) clamp(v float64) float64 { return max(ax.Min, min(ax.Max, v)) }

// ticks returns the axis' own ticks, or round ones.
func (ax Axis) ticks() []Tick {
	switch {
	case ax.Ticks != nil:
		return ax.Ticks
	case ax.Scale == Log:
		return LogTicks(ax.Min, ax.Max, ax.Unit)
	}
	return linearTicks(ax.Max, ax.Unit, 6)
}

// linearTicks returns about n round steps from 0 to most.
func linearTicks(most float64, u Unit, n int) []Tick {
	top := most / u.Value
	if !(top > 0) || math.IsInf(top, 0) {
		return nil
	}
	raw := top / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{5, 2.5, 2, 1} {
		if m*power >= raw {
			step = m * power
		}
	}
	var ticks []Tick
	for i := 0; float64(i)*step <= top*(1+1e-9); i++ {
		v := float64(i) * step
		ticks = append(ticks, Tick{Value: v * u.Value, Label: Digits(v)})
	}
	return ticks
}

// LogTicks returns a tick at 1, 2 and 5 times each power of ten between least
// and most; where labels collide the powers of ten stay.
func LogTicks(least, most float64, u Unit) []Tick {
	if !(least > 0) || !(most > least) || math.IsInf(most, 0) || !(u.Value > 0) {
		return nil
	}
	var ticks []Tick
	for e := math.Floor(math.Log10(least / u.Value)); e <= math.Ceil(math.Log10(most/u.Value)); e++ {
		for rank, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if v*u.Value >= least*(1-1e-9) && v*u.Value <= most*(1+1e-9) {
				ticks = append(ticks, Tick{Value: v * u.Value, Label: Digits(v), Rank: rank})
			}
		}
	}
	return ticks
}

// thinned blanks the labels that would collide with one of a lower rank, or
// of the same rank and further left. The ticks themselves stay.
func thinned(ticks []Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) []Tick {
	order, out := slices.Clone(ticks), slices.Clone(ticks)
	slices.SortStableFunc(order, func(a, b Tick) int { return cmp.Compare(a.Rank, b.Rank) })
	var kept []Tick
	for _, t := range order {
		if !slices.ContainsFunc(kept, func(k Tick) bool { return collide(t, k, place, extent) }) {
			kept = append(kept, t)
		}
	}
	for i := range out {
		if !slices.ContainsFunc(kept, func(k Tick) bool { return k.Value == out[i].Value }) {
			out[i].Label = ""
		}
	}
	return out
}

func crowded(ticks []Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) bool {
	for i := 1; i < len(ticks); i++ {
		if collide(ticks[i-1], ticks[i], place, extent) {
			return true
		}
	}
	return false
}

func collide(a, b Tick, place func(float64) vg.Length, extent func(Tick) vg.Length) bool {
	return vg.Length(math.Abs(float64(place(a.Value)-place(b.Value)))) < (extent(a)+extent(b))/2
}
