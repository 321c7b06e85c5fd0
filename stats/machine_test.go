package stats

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/results"
)

// aRun has the rows of one execution on a machine whose control takes so many times as
// long as usual. The rounds of disturbed waited for a processor, and took three times as
// long.
func aRun(file string, seconds, control float64, disturbed int) []results.Record {
	rng := rand.New(rand.NewPCG(1, uint64(len(file))+uint64(file[len(file)-1])))
	jitter := func() float64 { return 1 + 0.004*rng.Float64() }
	var rows []results.Record
	for round := range 12 {
		r := watched(file, round, 1e-4*control*jitter(), 1e-4*control*jitter())
		r.Pos.File, r.Threads, r.Seconds = file, 2, seconds*jitter()
		if round < disturbed {
			r.Seconds *= 3
			r.WaitedSeconds = results.Some(r.Seconds / 2)
		}
		rows = append(rows, r)
	}
	return rows
}

func someRuns(side string, n int, seconds, control float64, disturbed int) []Summary {
	var rows []results.Record
	for i := range n {
		rows = append(rows, aRun(fmt.Sprint(side, i), seconds, control, disturbed)...)
	}
	return Summarize(rows)
}

// TestPair_Disturbed: rows that the machine disturbed are in no verdict, and where few
// others are left there is none.
func TestPair_Disturbed(t *testing.T) {
	for _, c := range []struct {
		runs, disturbed int
		verdict         Verdict
		n               int
		notes           string
	}{
		{5, 0, Same, 60, ""},
		{5, 10, Same, 10, "the machine was disturbed in 50 of 120 samples: they are left out, and n counts the others"},
		{5, 11, Unsure, 5, "† marks noisy ratios, 1 of 1, which have no verdict: fewer than 6 samples of a side were quiet"},
		{5, 12, Unsure, 0, "† marks noisy"},
		{1, 7, Unsure, 5, "† marks noisy"},
	} {
		list, _, _ := Pair(someRuns("a", c.runs, 1e-3, 1, c.disturbed), someRuns("b", c.runs, 1e-3, 1, 0), 0.02, false)
		if got := list[0]; got.Verdict != c.verdict || got.Samples != [2]int{c.n, 12 * c.runs} || got.Disturbed != [2]int{c.disturbed * c.runs, 0} {
			t.Errorf("%+v: %s of %d samples, %d disturbed", c, got.Verdict, got.Samples, got.Disturbed)
		}
		var text strings.Builder
		if err := WriteComparisons(&text, "text", list); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), c.notes) || strings.Contains(text.String(), "disturbed") != (c.notes != "") {
			t.Errorf("%+v:\n%s", c, &text)
		}
	}
}

// TestPair_Control: a machine whose control became slower says nothing of the programs,
// and that is said.
func TestPair_Control(t *testing.T) {
	for _, c := range []struct {
		control float64
		verdict Verdict
		remark  string
	}{
		{1, Slower, ""},
		{1.01, Slower, ""},
		{1.1, Slower, "control's arithmetic: 10"},
		{1.2, Unsure, "control's arithmetic: 20"},
	} {
		list, _, _ := Pair(someRuns("a", 5, 1e-3, 1, 0), someRuns("b", 5, 1.2e-3, c.control, 0), 0.02, false)
		if got := strings.Join(list[0].Remarks, "; "); list[0].Verdict != c.verdict || !strings.HasPrefix(got, c.remark) || (got == "") != (c.remark == "") {
			t.Errorf("control %g: %s, %q", c.control, list[0].Verdict, got)
		}
	}
	// The control of other threads is another one.
	new := someRuns("b", 5, 1.2e-3, 1.2, 0)
	for i := range new {
		new[i].Threads = 4
	}
	if list, _, _ := Pair(someRuns("a", 5, 1e-3, 1, 0), new, 0.02, false); len(list[0].Remarks) > 0 || list[0].Verdict != Slower {
		t.Errorf("other threads: %s %q", list[0].Verdict, list[0].Remarks)
	}
}

// TestPairTurns_Disturbed: of turns the quiet samples are compared where there are pairs
// enough, and all where there are not.
func TestPairTurns_Disturbed(t *testing.T) {
	for _, c := range []struct {
		pairs, disturbed int
		new              float64 // seconds of it
		verdict          Verdict
		samples          int
		mixed            bool
	}{
		{20, 0, 1e-3, Same, 240, false},
		{20, 9, 1e-3, Same, 60, false},
		{20, 9, 1.05e-3, Slower, 60, false},
		{20, 12, 1e-3, Same, 240, true},
	} {
		turns := map[string]int{}
		for n := range c.pairs {
			turns[fmt.Sprint("a", n)], turns[fmt.Sprint("b", n)] = n, n
		}
		list, _, _ := PairTurns(someRuns("a", c.pairs, 1e-3, 1, c.disturbed), someRuns("b", c.pairs, c.new, 1, c.disturbed), Turns{turns, 1, 1}, 0.02, false)
		if got := list[0]; got.Verdict != c.verdict || got.Samples != [2]int{c.samples, c.samples} || got.Mixed != c.mixed || len(got.Remarks) > 0 {
			t.Errorf("%+v: %s of %d samples, mixed %v, %q", c, got.Verdict, got.Samples, got.Mixed, got.Remarks)
		}
	}
	turns := map[string]int{}
	for n := range 20 {
		turns[fmt.Sprint("a", n)], turns[fmt.Sprint("b", n)] = n, n
	}
	list, _, _ := PairTurns(someRuns("a", 20, 1e-3, 1, 0), someRuns("b", 20, 1e-3, 1.1, 0), Turns{turns, 1, 1}, 0.02, false)
	if len(list[0].Remarks) != 2 || !strings.HasPrefix(list[0].Remarks[0], "control's arithmetic: 10") {
		t.Errorf("a slower control: %q", list[0].Remarks)
	}
}
