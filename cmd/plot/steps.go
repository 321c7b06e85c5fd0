package main

import (
	"fmt"

	"matladder/analyze"
	"matladder/chips"
	"matladder/results"
)

// programs is a plots.StepModel: it builds the program of a point anew and asks
// package analyze.
type programs struct{}

// Step returns the step model's times of a point. The error says what of the
// device or the point is not known.
func (programs) Step(s *results.Summary) (analyze.Time, error) {
	device, ok := chips.Lookup(s.Chip)
	if !ok {
		return analyze.Time{}, fmt.Errorf("no chip %q", s.Chip)
	}
	_, list, err := rebuild(s)
	if err != nil {
		return analyze.Time{}, err
	}
	if len(list) != 1 {
		return analyze.Time{}, fmt.Errorf("%s runs %d programs: there is no one step", s.Kernel, len(list))
	}
	work, err := analyze.WorkOf(list[0])
	if err != nil {
		return analyze.Time{}, err
	}
	return work.On(device, s.DtypeA, s.Precision)
}
