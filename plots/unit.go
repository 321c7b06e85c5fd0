package plots

import (
	"math"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// A Unit prints a value divided by Value.
type Unit struct {
	Name  string
	Value float64
}

// rateUnit returns the unit for rates up to largest.
func rateUnit(largest float64, of results.Unit) Unit {
	name, value := results.RateUnit(largest, of)
	return Unit{name, value}
}

// Format prints v in the unit, with three digits and the unit's name.
func (u Unit) Format(v float64) string { return digits(v/u.Value) + " " + u.Name }

// digits prints v with three significant digits and no zeros that say nothing.
func digits(v float64) string {
	s := stats.FormatFigure(v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
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
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= raw {
			step = m * power
			break
		}
	}
	var ticks []Tick
	for i := 0; float64(i)*step <= top*(1+1e-9); i++ {
		v := float64(i) * step
		ticks = append(ticks, Tick{Value: v * u.Value, Label: digits(v)})
	}
	return ticks
}

// logTicks returns a tick at 1, 2 and 5 times each power of ten between least
// and most; where labels collide the powers of ten stay.
func logTicks(least, most float64, u Unit) []Tick {
	if !(least > 0) || !(most > least) || math.IsInf(most, 0) || !(u.Value > 0) {
		return nil
	}
	var ticks []Tick
	for e := math.Floor(math.Log10(least / u.Value)); e <= math.Ceil(math.Log10(most/u.Value)); e++ {
		for rank, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if v*u.Value >= least*(1-1e-9) && v*u.Value <= most*(1+1e-9) {
				ticks = append(ticks, Tick{Value: v * u.Value, Label: digits(v), Rank: rank})
			}
		}
	}
	return ticks
}
