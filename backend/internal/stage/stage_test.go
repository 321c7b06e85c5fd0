package stage

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/tile"
)

// TestOrder: each call is answered as it is due, and what is refused is not done.
func TestOrder(t *testing.T) {
	spec := backend.InputSpec{Seed: 1}
	other := backend.InputSpec{Seed: 2}
	failed := errors.New("failed")
	array := tile.NewTensor(tile.Float32, 2)
	match := func(x tile.Tensor, want int) error {
		if len(x.Shape) != want {
			return fmt.Errorf("have %d dimensions, want %d", len(x.Shape), want)
		}
		return nil
	}
	const ok = ""
	for _, test := range []struct{ calls, last string }{
		{"run", "x: run: nothing was loaded"},
		{"poison", "x: poison: nothing was loaded"},
		{"cool", "x: cool: nothing was loaded"},
		{"results", "x: results: nothing was run on these inputs"},
		{"load", ok},
		{"prepare run", ok},
		{"seed prepare check", "x: check: the inputs are not those of LoadSeeded with this spec"},
		{"close prepare", "x: the executable is closed"},
		{"load2", "x: load: have 2 arrays, want 1"},
		{"load1d", "x: load: have 1 dimensions, want 2"},
		{"load check", "x: check: the inputs are not those of LoadSeeded with this spec"},
		{"seed check", "nothing was run"},
		{"seed cool", ok},
		{"seed run0", "x: run: launches = 0: must be at least 1"},
		{"seed run check", ok},
		{"seed run results", ok},
		{"seed run0 run check", ok},
		{"seed run load1d check", ok}, // refused: the inputs are those before
		{"seed run poison check", "nothing was run"},
		{"seed run poison results", "x: results: nothing was run on these inputs"},
		{"seed run runfails check", "nothing was run"},
		{"seed run load results", "x: results: nothing was run on these inputs"},
		{"seed run load check", "x: check: the inputs are not those of LoadSeeded with this spec"},
		{"seed run seed2 check", "x: check: the inputs are not those of LoadSeeded with this spec"},
		{"seed run checkfails", "x: check: failed"},
		{"seedfails run", "x: run: nothing was loaded"},
		{"seed run seedfails check", "x: check: the inputs are not those of LoadSeeded with this spec"},
		{"seed close close", ok},
		{"seed close run", "x: the executable is closed"},
		{"seed close load", "x: the executable is closed"},
		{"seed close seed", "x: the executable is closed"},
		{"seed run close check", "x: the executable is closed"},
		{"seed run close results", "x: the executable is closed"},
	} {
		s := Of("x")
		done := 0
		do := func(err error) func() error { return func() error { done++; return err } }
		run := func(err error) func() (backend.Sample, error) {
			return func() (backend.Sample, error) { done++; return backend.Sample{Method: "direct"}, err }
		}
		verify := func(err error) func() (backend.CheckResult, error) {
			return func() (backend.CheckResult, error) { done++; return backend.CheckResult{OK: true}, err }
		}
		check := func(err error) error {
			r, err := s.Check(backend.CheckSpec{InputSpec: spec}, verify(err))
			if err == nil && !r.OK {
				err = errors.New(r.Detail)
			}
			return err
		}
		calls := map[string]func() error{
			"load":       func() error { return Load(&s, []tile.Tensor{array}, []int{1}, match, do(nil)) },
			"load2":      func() error { return Load(&s, []tile.Tensor{array, array}, []int{1}, match, do(nil)) },
			"load1d":     func() error { return Load(&s, []tile.Tensor{array}, []int{2}, match, do(nil)) },
			"prepare":    func() error { return s.Prepare(do(nil)) },
			"seed":       func() error { return s.LoadSeeded(spec, do(nil)) },
			"seed2":      func() error { return s.LoadSeeded(other, do(nil)) },
			"seedfails":  func() error { return s.LoadSeeded(spec, do(failed)) },
			"run":        func() error { _, err := s.Run(1, run(nil)); return err },
			"run0":       func() error { _, err := s.Run(0, run(nil)); return err },
			"runfails":   func() error { _, err := s.Run(1, run(failed)); return err },
			"poison":     func() error { return s.Poison(do(nil)) },
			"cool":       func() error { return s.Cool(do(nil)) },
			"check":      func() error { return check(nil) },
			"checkfails": func() error { return check(failed) },
			"results":    func() error { return Results(&s, []tile.Tensor{array}, []int{1}, match, do(nil)) },
			"close":      func() error { return s.Close(do(nil)) },
		}
		var err error
		before := 0
		for _, call := range strings.Fields(test.calls) {
			before = done
			err = calls[call]()
		}
		have := ""
		if err != nil {
			have = err.Error()
		}
		if have != test.last {
			t.Errorf("%s: have %q, want %q", test.calls, have, test.last)
		}
		if refused := test.last != ok && !strings.HasSuffix(test.last, "failed") || strings.HasSuffix(test.calls, "close close"); refused != (done == before) {
			t.Errorf("%s: refused %v, and %d times done", test.calls, refused, done-before)
		}
		if strings.HasSuffix(test.last, "is closed") && !errors.Is(err, backend.ErrClosed) {
			t.Errorf("%s: %v is not ErrClosed", test.calls, err)
		}
	}
}
