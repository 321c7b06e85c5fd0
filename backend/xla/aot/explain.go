package aot

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/xla/aot/schedule"
	"matladder/machine"
	"matladder/tile"
)

// Explained is one kernel of a launch, predicted, with the schedule that the
// prediction rests on.
type Explained struct {
	Step
	Schedule *schedule.Schedule
}

// Explain is Steps with the schedules, for which it compiles whether or not the
// outcome is known. Errors are those of Steps.
func (b *Backend) Explain(ctx context.Context, programs []*tile.Program, params backend.Params) ([]Explained, error) {
	steps, schedules, err := b.steps(ctx, programs, params, true)
	if err != nil {
		return nil, err
	}
	all := make([]Explained, len(steps))
	for i, step := range steps {
		all[i].Step = step
		for _, s := range schedules {
			if s.Kernel == step.Kernel {
				all[i].Schedule = s
			}
		}
		if all[i].Schedule == nil {
			return nil, fmt.Errorf("the compiler tells no schedule of kernel %s", step.Kernel)
		}
	}
	return all, nil
}

// Peak is the peak that bounds products of a dtype on the device, and the dtype that
// it is the peak of: a chip without a figure of its own widens narrow operands.
func (b *Backend) Peak(dtype, precision string) (machine.Figure, string) {
	of := peakOf(b.device, dtype)
	return b.device.PeakAt(of, precision), of
}
