package plot

import (
	"fmt"

	"matladder/stats"

	"matladder/machine"
	"matladder/model"
)

// programs is a plots.StepModel: it builds the program of a point anew and asks
// package model.
type programs struct{}

// Step returns the step model's times of a point. The error says what of the
// device or the point is not known.
func (programs) Step(s *stats.Summary) (model.Time, error) {
	device, ok := machine.Lookup(s.Chip)
	if !ok {
		return model.Time{}, fmt.Errorf("no chip %q", s.Chip)
	}
	_, list, err := rebuild(s)
	if err != nil {
		return model.Time{}, err
	}
	if len(list) != 1 {
		return model.Time{}, fmt.Errorf("%s runs %d programs: there is no one step", s.Kernel, len(list))
	}
	work, err := model.WorkOf(list[0])
	if err != nil {
		return model.Time{}, err
	}
	return work.On(device, s.DtypeA, s.Precision)
}
