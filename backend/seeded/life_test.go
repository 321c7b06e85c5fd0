package seeded

import (
	"context"
	"errors"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/internal/stage"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"
)

// core is a product of ones, whose next call fails with an error, if that is not nil, and
// which counts what it does.
type core struct {
	in    []tile.Tensor
	out   tile.Tensor
	fails error
	done  int
}

func (c *core) call() error { c.done++; return c.fails }

func (c *core) Fill(_ context.Context, source backend.Source) error {
	for i, t := range c.in {
		if _, err := source(i, t); err != nil {
			return err
		}
	}
	return c.call()
}

func (c *core) Inputs() []tile.Tensor { return c.in }

func (c *core) Outputs(_ context.Context, look func([]tile.Tensor) error) error {
	if err := c.call(); err != nil {
		return err
	}
	return look([]tile.Tensor{c.out})
}

func (c *core) Run(context.Context, int) (backend.Sample, error) {
	for at := range c.out.Len() {
		sum, n := 0., c.in[0].Shape[1]
		for k := range n {
			sum += c.in[0].At(at/n*n+k) * c.in[1].At(k*n+at%n)
		}
		c.out.Set(at, sum)
	}
	return backend.Sample{Method: "direct"}, c.call()
}

func (c *core) Poison(context.Context) error { return c.call() }
func (c *core) Close() error                 { return c.call() }

// TestLife: each call is answered as it is due, and what is refused is not done.
func TestLife(t *testing.T) {
	p := problem.New(8, 8, 8, tile.Float32)
	in, out := stage.Split(p.Operands())
	spec := backend.InputSpec{Problem: p, Seed: 1, Dist: check.Uniform}
	other := backend.InputSpec{Problem: p, Seed: 2, Dist: check.Uniform}
	failed := errors.New("failed")
	square, flat := tile.NewTensor(tile.Float32, 8, 8), tile.NewTensor(tile.Float32, 2)
	const ok = ""
	for _, test := range []struct{ calls, last string }{
		{"run", "x: run: nothing was loaded"},
		{"poison", "x: poison: nothing was loaded"},
		{"cool", "x: cool: nothing was loaded"},
		{"results", "x: results: nothing was run on these inputs"},
		{"load", ok},
		{"fill run", ok},
		{"close fill", "x: the executable is closed"},
		{"load1", "x: load: have 1 arrays, want 2"},
		{"load1d", "x: load: a: have float32[2], want float32[8, 8]"},
		{"load check", "check: the inputs are not those of LoadSeeded with this spec"},
		{"seed check", "nothing was run"},
		{"seed cool", ok},
		{"seed run0", "x: run: launches = 0: must be at least 1"},
		{"seed run check", ok},
		{"seed run results", ok},
		{"seed run0 run check", ok},
		{"seed run load1d results", ok}, // refused: the inputs are those before
		{"seed run poison check", "nothing was run"},
		{"seed run poison results", "x: results: nothing was run on these inputs"},
		{"seed run runfails check", "nothing was run"},
		{"seed run load results", "x: results: nothing was run on these inputs"},
		{"seed run load check", "check: the inputs are not those of LoadSeeded with this spec"},
		{"seed run seed2 check", "check: the inputs are not those of LoadSeeded with this spec"},
		{"seed run checkfails", "check: failed"},
		{"seedfails run", "x: run: nothing was loaded"},
		{"seed run seedfails check", "check: the inputs are not those of LoadSeeded with this spec"},
		{"seed close close", ok},
		{"seed close run", "x: the executable is closed"},
		{"seed close load", "x: the executable is closed"},
		{"seed close seed", "x: the executable is closed"},
		{"seed run close check", "check: x: the executable is closed"},
		{"seed run close results", "x: the executable is closed"},
	} {
		c := &core{in: []tile.Tensor{tile.NewTensor(tile.Float32, 8, 8), tile.NewTensor(tile.Float32, 8, 8)}, out: tile.NewTensor(tile.Float32, 8, 8)}
		e := stage.New("x", in, out, c)
		s := Of(e, nil, Keep(1, false))
		fails := func(call func() error) func() error {
			return func() error {
				c.fails = failed
				defer func() { c.fails = nil }()
				return call()
			}
		}
		load := func(in ...tile.Tensor) func() error { return func() error { return s.Load(in...) } }
		seed := func(spec backend.InputSpec) func() error {
			return func() error { return s.LoadSeeded(t.Context(), spec) }
		}
		run := func(launches int) func() error {
			return func() error { _, err := s.Run(t.Context(), launches); return err }
		}
		verify := func() error {
			r, err := s.Check(t.Context(), backend.CheckSpec{InputSpec: spec})
			if err == nil && !r.OK {
				err = errors.New(r.Detail)
			}
			return err
		}
		calls := map[string]func() error{
			"load":   load(square, square),
			"load1":  load(square),
			"load1d": load(flat, square),
			"fill": func() error {
				return e.Fill(t.Context(), func(_ int, at tile.Tensor) (tile.Tensor, error) { return at, nil })
			},
			"seed":       seed(spec),
			"seed2":      seed(other),
			"seedfails":  fails(seed(spec)),
			"run":        run(1),
			"run0":       run(0),
			"runfails":   fails(run(1)),
			"poison":     func() error { return s.Poison(t.Context()) },
			"cool":       func() error { return e.Loaded("cool") },
			"check":      verify,
			"checkfails": fails(verify),
			"results":    func() error { return s.Results(square) },
			"close":      s.Close,
		}
		var err error
		before := 0
		for _, call := range strings.Fields(test.calls) {
			before = c.done
			err = calls[call]()
		}
		have := ""
		if err != nil {
			have = err.Error()
		}
		if have != test.last {
			t.Errorf("%s: have %q, want %q", test.calls, have, test.last)
		}
		done := test.last == ok && !strings.HasSuffix(test.calls, "close close") && !strings.HasSuffix(test.calls, "cool") || strings.HasSuffix(test.last, "failed")
		if done != (c.done > before) {
			t.Errorf("%s: %d times done", test.calls, c.done-before)
		}
		if strings.HasSuffix(test.last, "is closed") && !errors.Is(err, backend.ErrClosed) {
			t.Errorf("%s: %v is not ErrClosed", test.calls, err)
		}
	}
}
