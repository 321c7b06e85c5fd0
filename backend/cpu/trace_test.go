package cpu

import (
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/seeded"
	"matladder/backend/timeline"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// TestTrace: what a recorded launch shows adds up to the counters of one that is not, steps
// are those of the grid, and spans lie one inside of the other.
func TestTrace(t *testing.T) {
	be := open(t, Options{Threads: 3, NoProbe: true})()
	for _, f := range problem.Families() {
		asked, err := f.Parse(f.Dtypes[0])
		if err != nil {
			t.Fatal(err)
		}
		p := f.Make(f.Sample, asked)
		for _, k := range kernels.Ladder(f) {
			if k.Supports(p) != nil {
				continue
			}
			programs, err := k.Build(p, "", k.Candidates(p, problem.Machine{Parallel: 2})[0])
			if err != nil {
				t.Fatal(err)
			}
			e, err := be.Compile(t.Context(), programs, backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			if err := seeded.Of(e, programs, new(seeded.References)).LoadSeeded(t.Context(), backend.InputSpec{Problem: p, Seed: 1, Dist: "uniform"}); err != nil {
				t.Fatal(err)
			}
			line, err := e.(backend.Tracer).Trace(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.Run(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			steps := int64(0)
			for _, p := range programs {
				steps += p.Steps()
			}
			if have := int64(line.Count(timeline.Step)); have != steps || have != s.Counters.GridSteps {
				t.Errorf("%s: %d steps are shown, want %d", k.Name(), have, steps)
			}
			nested(t, k.Name(), line)
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTrace_Counters compares the very launch: what its steps show with what it counted.
func TestTrace_Counters(t *testing.T) {
	be := open(t, Options{Threads: 3, NoProbe: true})()
	for _, number := range []int{3, 5} {
		k, _ := kernels.Rung(problem.MatmulFamily, number)
		p := problem.New(200, 190, 150, tile.BFloat16)
		programs, err := k.Build(p, "", tile.Blocks{M: 64, K: 64, N: 64})
		if err != nil {
			t.Fatal(err)
		}
		e, err := be.Compile(t.Context(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		if err := seeded.Of(e, programs, new(seeded.References)).LoadSeeded(t.Context(), backend.InputSpec{Problem: p, Seed: 1, Dist: "uniform"}); err != nil {
			t.Fatal(err)
		}
		line, err := e.(backend.Tracer).Trace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := e.(*exec.Executable).Counters()
		for name, want := range map[string]int64{exec.ArgLoads: c.BlocksLoaded, exec.ArgBytesLoaded: c.BytesLoaded, exec.ArgBytesStored: c.BytesStored} {
			have := int64(0)
			for _, s := range line.Spans {
				for _, a := range s.Args {
					if a.Name == name {
						have += a.Value
					}
				}
			}
			if have != want {
				t.Errorf("%s: %s: shown %d, counted %d", k.Name(), name, have, want)
			}
		}
		for _, kind := range []timeline.Kind{timeline.Multiply, timeline.Pack, timeline.Wait} {
			if line.Count(kind) == 0 {
				t.Errorf("%s: no %s is shown", k.Name(), kind)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// nested holds the spans of each track to be apart, or one inside of another.
func nested(t *testing.T, name string, line *timeline.Timeline) {
	t.Helper()
	var open []timeline.Span
	for _, s := range line.Spans {
		for len(open) > 0 && (open[len(open)-1].Track != s.Track || open[len(open)-1].End <= s.Start) {
			open = open[:len(open)-1]
		}
		if s.End < s.Start || len(open) > 0 && s.End > open[len(open)-1].End+time.Microsecond/10 {
			t.Errorf("%s: %s of track %d from %v to %v is not inside of %v", name, s.Name, s.Track, s.Start, s.End, open)
			return
		}
		open = append(open, s)
	}
}
