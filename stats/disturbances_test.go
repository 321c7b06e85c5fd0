package stats

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/results"
)

// watched is a row of a round with its control.
func watched(run string, round int, compute, memory float64) results.Record {
	return results.Record{
		Schema: results.Schema, RunID: run, Kernel: "v1_naive", Mode: results.Measured, Method: results.Direct, Status: results.OK,
		Batch: 1, M: 8, K: 8, N: 8, DtypeA: "float32", Threads: 4, Round: round, Launches: 1, Seconds: 1e-3,
		Conditions: results.Conditions{ControlComputeAhead: compute, ControlMemoryAhead: memory, RoundSeconds: 0.1, WaitedSeconds: results.Some(0.0)},
	}
}

// TestDisturbances_Control makes runs of a machine whose controls spread by noise, some
// of them slowed down by more than that: those and no others are off, whatever
// the machine's speed and noise, unless more than three quarters are slowed down.
func TestDisturbances_Control(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	quiet, falsely, slowed, missed := 0, 0, 0, 0
	for range 400 {
		level, noise, busy := 1e-4*(1+9*rng.Float64()), 0.002+0.03*rng.Float64(), 0.7*rng.Float64()
		var d Disturbances
		var rows []results.Record
		var slow []bool
		for round := range 20 + rng.IntN(200) {
			v := level * (1 + noise*rng.NormFloat64())
			off := rng.Float64() < busy
			if off {
				v *= 1 + 12*noise + rng.Float64()
			}
			rows, slow = append(rows, watched("r", round, v, 1e-4)), append(slow, off)
			d.Add(SymptomsOf(&rows[round]))
		}
		for i := range rows {
			off := d.Of(SymptomsOf(&rows[i])) == SlowCores
			switch {
			case slow[i]:
				slowed++
				if !off {
					missed++
				}
			default:
				quiet++
				if off {
					falsely++
				}
			}
		}
	}
	t.Logf("%d of %d quiet ones off, %d of %d slow ones missed", falsely, quiet, missed, slowed)
	if falsely*100 > quiet || missed*20 > slowed {
		t.Errorf("%d of %d quiet ones off, %d of %d slow ones missed", falsely, quiet, missed, slowed)
	}
}

// TestDisturbances_Few: a run of few rounds has no distribution to hold a control
// against, and those of another run are none.
func TestDisturbances_Few(t *testing.T) {
	var d Disturbances
	for round := range 50 {
		r := watched("other", round, 1e-4+1e-6*float64(round%3), 1e-4)
		d.Add(SymptomsOf(&r))
	}
	for round := range 7 {
		r := watched("few", round, 1e-3*float64(1+round), 1e-4)
		d.Add(SymptomsOf(&r))
		if c := d.Of(SymptomsOf(&r)); c != 0 {
			t.Errorf("round %d is disturbed: %b", round, c)
		}
	}
}

// TestDisturbances_Lost: time that others had is a matter of the row alone.
func TestDisturbances_Lost(t *testing.T) {
	var d Disturbances
	for name, c := range map[string]struct {
		change func(r *results.Record)
		want   Causes
	}{
		"nothing known":     {func(r *results.Record) { r.WaitedSeconds = results.Optional[float64]{} }, 0},
		"hardly waited":     {func(r *results.Record) { r.WaitedSeconds = results.Some(15e-6) }, 0},
		"waited":            {func(r *results.Record) { r.WaitedSeconds = results.Some(50e-6) }, Waited},
		"waited, alone":     {func(r *results.Record) { r.WaitedSeconds, r.OthersSeconds = results.Some(50e-6), results.Some(0.015) }, 0},
		"waited, not alone": {func(r *results.Record) { r.WaitedSeconds, r.OthersSeconds = results.Some(50e-6), results.Some(0.03) }, Waited},
		"others":            {func(r *results.Record) { r.OthersSeconds = results.Some(0.2) }, 0},
		"one step of steal": {func(r *results.Record) { r.StealSeconds = results.Some(0.01) }, 0},
		"steal":             {func(r *results.Record) { r.StealSeconds = results.Some(0.03) }, Stolen},
		"little throttled":  {func(r *results.Record) { r.ThrottledSeconds = results.Some(0.007) }, 0},
		"throttled":         {func(r *results.Record) { r.ThrottledSeconds = results.Some(0.1) }, Throttled},
		"hot":               {func(r *results.Record) { r.ThermalThrottles = results.Some(int64(1)) }, Hot},
		"waited and hot": {func(r *results.Record) {
			r.WaitedSeconds, r.ThermalThrottles = results.Some(1.0), results.Some(int64(2))
		}, Waited | Hot},
		"no round, much lost": {func(r *results.Record) { r.RoundSeconds, r.StealSeconds = 0, results.Some(5.0) }, 0},
	} {
		r := watched("r", 0, 0, 0)
		c.change(&r)
		d.Add(SymptomsOf(&r))
		if got := d.Of(SymptomsOf(&r)); got != c.want {
			t.Errorf("%s: %b, want %b", name, got, c.want)
		}
	}
}

// TestSummarize_Disturbed: disturbed rows are no samples; where too few are left, the
// figures are marked, and a note says how many, why and what to do.
func TestSummarize_Disturbed(t *testing.T) {
	rows := func(disturbed ...int) (list []results.Record) {
		for round := range 12 {
			r := watched("r", round, 1e-4, 1e-4)
			r.PeakFLOPs = 1e9
			for _, d := range disturbed {
				if round == d {
					r.Seconds, r.WaitedSeconds = 5e-3, results.Some(2e-3)
				}
			}
			list = append(list, r)
		}
		return list
	}
	for _, c := range []struct {
		disturbed     []int
		median        float64
		n             int
		lowConfidence bool
		notes         string
	}{
		{nil, 1e-3, 12, false, ""},
		{[]int{3, 5, 7}, 1e-3, 9, false, "disturbed in 3 of 12 repetitions of these points (25 %): its threads waited for processors while other programs ran (3); figures leave them out"},
		{[]int{0, 1, 2, 3, 4, 5, 6}, 1e-3, 5, true, "† marks noisy figures, of 1 point here with fewer than 6 quiet ones"},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 5e-3, 12, true, "disturbed in 12 of 12 repetitions of these points (100 %)"},
	} {
		list := Summarize(rows(c.disturbed...))
		s := list[0]
		if s.Time.Median != c.median || s.Time.N != c.n || s.LowConfidence != c.lowConfidence || s.Rate.LowConfidence != c.lowConfidence || s.Disturbed != len(c.disturbed) || s.Rows != 12 {
			t.Errorf("%d disturbed: %+v of %d rows, %d disturbed, rough %v", len(c.disturbed), s.Time, s.Rows, s.Disturbed, s.LowConfidence)
		}
		var text strings.Builder
		if err := WriteTable(&text, "text", list); err != nil {
			t.Fatal(err)
		}
		if got := text.String(); !strings.Contains(got, c.notes) || strings.Contains(got, "disturbed") != (c.notes != "") || strings.Contains(got, Noisy+FormatSeconds(c.median)) != c.lowConfidence {
			t.Errorf("%d disturbed:\n%s", len(c.disturbed), got)
		}
	}
}

// TestSummarize_DisturbedLoop: a slope needs both launch counts, so a round of a loop
// is left out if one of them was disturbed.
func TestSummarize_DisturbedLoop(t *testing.T) {
	var rows []results.Record
	for round := range 10 {
		for rep, launches := range []int{2, 16} {
			r := watched("r", round, 1e-4, 1e-4)
			r.Method, r.Rep, r.Launches, r.Seconds = results.Loop, rep, launches, 1e-4+1e-3*float64(launches)
			if round%5 == 0 && rep == 1 {
				r.Seconds, r.WaitedSeconds = 1, results.Some(0.9)
			}
			rows = append(rows, r)
		}
	}
	s := Summarize(rows)[0]
	if got := fmt.Sprintf("%.6f %d %d %v", s.Time.Median, s.Time.N, s.Disturbed, s.LowConfidence); got != "0.001000 8 4 false" {
		t.Error(got)
	}
}

// TestDisturbance_Control: where programs had the processors, a slow control says nothing of
// memory; where none had, it does.
func TestDisturbance_Control(t *testing.T) {
	for _, c := range []struct {
		waited     float64
		want, none string
	}{
		{0.5, "(12), and the control took longer, as it would then too (4); ", "memory"},
		{0, "memory was slower: the control's read took longer (4); figures leave them out", "as it would"},
	} {
		var list []results.Record
		for round := range 12 {
			r := row("v1_naive", round, 0, 1, 1e-3)
			r.RoundSeconds, r.Threads = 1+float64(round)/1e3, 4
			r.WaitedSeconds, r.OthersSeconds = results.Some(c.waited*r.Seconds), results.Some(c.waited*4)
			r.ControlComputeAhead, r.ControlMemoryAhead = 1e-4, 1e-4*(1+float64(round)/1e3)
			if round > 7 {
				r.ControlMemoryAhead *= 3
			}
			list = append(list, r)
		}
		text := disturbance(Summarize(list))
		if !strings.Contains(text, c.want) || strings.Contains(text, c.none) {
			t.Errorf("waited %g: %s", c.waited, text)
		}
	}
}
