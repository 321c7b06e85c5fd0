// Package stage is how far an executable has got: which of its calls may come now, and what
// is answered to those that may not, the same for every backend.
package stage

import (
	"errors"
	"fmt"

	"matladder/backend"
	"matladder/tile"
)

// A Stage is how far an executable has got. Its methods are named like those of
// backend.Executable, and so are Load and Results: each does the work that it is given if it
// is that work's turn.
type Stage struct {
	name                        string // of the backend: errors begin with it
	spec                        backend.InputSpec
	seeded, loaded, ran, closed bool
}

// Of is the stage of an executable of a backend that was just compiled.
func Of(backendName string) Stage { return Stage{name: backendName} }

// Open is nil until Close; then it wraps backend.ErrClosed.
func (s *Stage) Open() error {
	if s.closed {
		return fmt.Errorf("%s: the executable is %w", s.name, backend.ErrClosed)
	}
	return nil
}

// ready refuses what needs inputs.
func (s *Stage) ready(call string) error {
	if err := s.Open(); err != nil {
		return err
	}
	if !s.loaded {
		return fmt.Errorf("%s: %s: nothing was loaded", s.name, call)
	}
	return nil
}

// A Match tells why an array of a caller is not what an executable has in its place.
type Match[A any] func(tile.Tensor, A) error

// Load brings inputs in if they match what is wanted. Those before, and what they led to,
// are then gone even if it fails.
func Load[A any](s *Stage, in []tile.Tensor, want []A, matches Match[A], bring func() error) error {
	if err := s.Open(); err != nil {
		return err
	}
	if err := fit(s, "load", in, want, matches); err != nil {
		return err
	}
	return s.Prepare(bring)
}

// Prepare has inputs be whatever bring leaves in their place.
func (s *Stage) Prepare(bring func() error) error {
	if err := s.Open(); err != nil {
		return err
	}
	s.seeded, s.loaded, s.ran = false, false, false
	err := bring()
	s.loaded = err == nil
	return err
}

// LoadSeeded is Load of inputs that Check knows.
func (s *Stage) LoadSeeded(spec backend.InputSpec, bring func() error) error {
	err := s.Prepare(bring)
	s.spec, s.seeded = spec, err == nil
	return err
}

// Run launches.
func (s *Stage) Run(launches int, run func() (backend.Sample, error)) (backend.Sample, error) {
	if err := s.ready("run"); err != nil {
		return backend.Sample{}, err
	}
	if launches < 1 {
		return backend.Sample{}, fmt.Errorf("%s: run: launches = %d: must be at least 1", s.name, launches)
	}
	s.ran = false
	sample, err := run()
	if err != nil {
		return backend.Sample{}, err
	}
	s.ran = true
	return sample, nil
}

// Poison overwrites outputs: until the next Run there are none.
func (s *Stage) Poison(overwrite func() error) error {
	if err := s.ready("poison"); err != nil {
		return err
	}
	s.ran = false
	return overwrite()
}

// Cool puts what was loaded out of the caches.
func (s *Stage) Cool(cool func() error) error {
	if err := s.ready("cool"); err != nil {
		return err
	}
	return cool()
}

// Check verifies the outputs of the last Run.
func (s *Stage) Check(spec backend.CheckSpec, verify func() (backend.CheckResult, error)) (r backend.CheckResult, err error) {
	if err := s.Open(); err != nil {
		return r, err
	}
	if !s.seeded || s.spec != spec.InputSpec {
		return r, fmt.Errorf("%s: check: the inputs are not those of LoadSeeded with this spec", s.name)
	}
	if !s.ran {
		return backend.CheckResult{Detail: "nothing was run"}, nil
	}
	if r, err = verify(); err != nil {
		return backend.CheckResult{}, fmt.Errorf("%s: check: %w", s.name, err)
	}
	return r, nil
}

// Results takes the outputs of the last Run if what they go to matches them.
func Results[A any](s *Stage, out []tile.Tensor, have []A, matches Match[A], take func() error) error {
	if err := s.Open(); err != nil {
		return err
	}
	if err := fit(s, "results", out, have, matches); err != nil {
		return err
	}
	if !s.ran {
		return errors.New(s.name + ": results: nothing was run on these inputs")
	}
	return take()
}

// Close frees what the executable has, the first time.
func (s *Stage) Close(free func() error) error {
	if s.closed {
		return nil
	}
	*s = Stage{name: s.name, closed: true}
	return free()
}

// fit refuses arrays of a call that are not as many as it takes, or of which one does not
// match.
func fit[A any](s *Stage, call string, have []tile.Tensor, want []A, matches Match[A]) error {
	if len(have) != len(want) {
		return fmt.Errorf("%s: %s: have %d arrays, want %d", s.name, call, len(have), len(want))
	}
	for i, w := range want {
		if err := matches(have[i], w); err != nil {
			return fmt.Errorf("%s: %s: %w", s.name, call, err)
		}
	}
	return nil
}
