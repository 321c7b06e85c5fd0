package harness

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/results"
)

// Where a sweep asks for cold caches, each launch of a repetition is timed alone, behind
// one pass that puts all of its memory out of the caches.

// mostColdLaunches bounds those of a repetition: putting memory out of the caches takes
// longer than a small launch.
const mostColdLaunches = 32

// ParseCache reads what launches find in the caches: warm or cold.
func ParseCache(s string) (string, error) {
	switch s {
	case "warm":
		return "", nil
	case results.Cold:
		return s, nil
	}
	return "", fmt.Errorf("unknown %q (known: warm, cold)", s)
}

// CanCool reports why a backend cannot have its launches find cold caches; nil if it can.
func CanCool(b backend.Backend) error {
	_, err := backend.As[backend.Cooler](b, cannotCool)
	return err
}

const cannotCool = "cannot put operands out of the caches"

// cooler is what puts the memory of a candidate out of the caches, nil where launches are to find
// what the last one left.
func (r *run) cooler(l *candidate) (func(context.Context, backend.Executable) error, error) {
	if r.sweep.Config.Cache != results.Cold {
		return nil, nil
	}
	b, _ := l.on(&r.opt)
	c, err := backend.As[backend.Cooler](b, cannotCool)
	if err != nil {
		return nil, err
	}
	return c.Cool, nil
}
