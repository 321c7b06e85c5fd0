package stats

import (
	"math"
	"slices"
	"strings"
	"testing"

	"matladder/results"
)

// TestEnergy: joules of a launch follow from all quiet rows that tell, where these are long
// enough for the steps of the counter, and are no guess otherwise.
func TestEnergy(t *testing.T) {
	at := func(rounds, launches int, seconds float64, source string, joules func(round int) float64) (rows []results.Record) {
		for round := range rounds {
			r := watched("r", round, 1e-4, 1e-4)
			r.Launches, r.Seconds, r.EnergySource = launches, seconds, source
			if j := joules(round); j >= 0 {
				r.Joules = results.Some(j)
			}
			rows = append(rows, r)
		}
		return rows
	}
	even := func(j float64) func(int) float64 { return func(int) float64 { return j } }
	noisy := at(20, 4, 5e-3, "rapl", func(round int) float64 { return 0.5 + 0.1*float64(round%3-1) }) // 100 W, in steps of 0.1 J
	disturbed := at(20, 4, 5e-3, "rapl", func(round int) float64 { return 0.5 + 9*float64(round/15) })
	for i := range disturbed[15:] {
		disturbed[15+i].WaitedSeconds = results.Some(5e-3)
	}
	for name, c := range map[string]struct {
		rows          []results.Record
		joules, watts float64
		short         bool
	}{
		"rapl":                {at(8, 4, 20e-3, "rapl", even(2)), 0.5, 100, false},
		"rapl, noisy":         {noisy, 0.12375, 99, false},
		"rapl, too short":     {at(2, 4, 5e-3, "rapl", even(0.5)), 0, 0, true},
		"nvml, too short":     {at(30, 4, 40e-3, "nvml", even(20)), 0, 0, true},
		"nvml":                {at(30, 4, 1, "nvml", even(700)), 175, 700, false},
		"some rows":           {at(8, 4, 20e-3, "rapl", func(round int) float64 { return []float64{2, -1}[round%2] }), 0.5, 100, false},
		"a counter of zeros":  {at(8, 4, 20e-3, "rapl", even(0)), 0, 0, false},
		"none":                {at(8, 4, 20e-3, "", even(-1)), 0, 0, false},
		"others had a core":   {disturbed, 0.125, 100, false},
		"one whose steps are": {at(8, 4, 1, "something new", even(50)), 12.5, 50, false},
	} {
		s := Summarize(c.rows)[0]
		if e := s.Energy; math.Abs(e.Joules-c.joules) > 1e-9 || math.Abs(e.Watts-c.watts) > 1e-6 || e.Short != c.short {
			t.Errorf("%s: %+v", name, e)
		}
		if per := s.WorkPerJoule(); (per > 0) != (c.joules > 0) || c.joules > 0 && math.Abs(per*c.joules-s.Work()) > 1e-6 {
			t.Errorf("%s: %g FLOP/J", name, per)
		}
		var text strings.Builder
		if err := WriteTable(&text, "text", []Summary{s}, "joules", "watts", "per_joule"); err != nil {
			t.Fatal(err)
		}
		said := slices.IndexFunc([]string{" mJ ", " J ", "n/a", "energy is not known"}, func(w string) bool { return strings.Contains(text.String(), w) })
		if want := map[bool]int{c.short: 2, !c.short && c.joules == 0: 3, c.joules >= 1: 1, c.joules > 0 && c.joules < 1: 0}[true]; said != want {
			t.Errorf("%s: %d, want %d in\n%s", name, said, want, &text)
		}
	}
	gpu := at(8, 4, 20e-3, "", even(-1))
	for i := range gpu {
		gpu[i].DeviceWatts = 300 + 10*float64(i%2)
	}
	if e := Summarize(gpu)[0].Energy; e != (Energy{Watts: 305}) {
		t.Errorf("power alone: %+v", e)
	}
	for v, want := range map[float64]string{0: "", 0.0123: "12.3 mJ", 1: "1.00 J", 4.2e-6: "4.20 µJ", 2.5e9: "2.50 GJ"} {
		if got := prefixed(v, "J"); got != want {
			t.Errorf("%g is %q", v, got)
		}
	}
}
