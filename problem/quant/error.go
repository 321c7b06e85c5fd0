package quant

import "math"

// Error is how far what was computed is from what was meant.
type Error struct {
	Rel   float64 // ‖got - want‖ / ‖want‖ (Frobenius)
	Max   float64 // the largest |got - want|
	SNRdB float64 // 20·log10(‖want‖ / ‖got - want‖); +Inf for no error at all
}

// Sum gathers an Error piece by piece. The zero value is empty.
type Sum struct{ noise, signal, max float64 }

// Add compares more elements. A NaN makes every measure NaN, but where both sides have one.
func (s *Sum) Add(got, want float64) {
	e := math.Abs(got - want)
	if got != got && want != want || got == want {
		e = 0
	}
	s.noise += e * e
	s.signal += want * want
	s.max = max(s.max, e)
}

// Join adds what another sum has gathered.
func (s *Sum) Join(t Sum) {
	s.noise, s.signal, s.max = s.noise+t.noise, s.signal+t.signal, max(s.max, t.max)
}

// Error is the measure of what was gathered. Against a signal of zeros Rel is 0 or +Inf.
func (s Sum) Error() Error {
	if s.noise == 0 {
		return Error{SNRdB: math.Inf(1)}
	}
	return Error{Rel: math.Sqrt(s.noise / s.signal), Max: s.max, SNRdB: 10 * math.Log10(s.signal/s.noise)}
}
