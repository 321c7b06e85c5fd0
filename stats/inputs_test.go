package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"matladder/results"
)

// TestInputs: points of other inputs are others, in every figure and table.
func TestInputs(t *testing.T) {
	at := func(file, kernel, dist string, seconds float64) (rows []results.Record) {
		for round := range 8 {
			r := watched("r", round, 1e-4, 1e-4)
			r.Kernel, r.Dist, r.Seconds, r.Pos.File, r.DtypeOut = kernel, dist, seconds, file, "float32"
			rows = append(rows, r)
		}
		return rows
	}
	old := slices.Concat(at("old", "v4_optblock", "zeros", 1e-3), at("old", "v4_optblock", "uniform", 2e-3), at("old", "v3_block", "uniform", 4e-3), at("old", "xla", "uniform", 1e-3))
	new := slices.Concat(at("new", "v4_optblock", "uniform", 2e-3), at("new", "v4_optblock", "bits:4", 5e-3), at("new", "v4_optblock", "zeros", 1e-3))
	sums := Summarize(old)
	if zeros := sums[0]; len(sums) != 4 || zeros.Below != "" || zeros.PercentOfBaseline.Known() || len(Best(sums)) != 4 {
		t.Errorf("%d points: %+v", len(sums), zeros)
	}
	if uniform := sums[1]; uniform.OverBelow.Median != 2 || uniform.PercentOfBaseline.Median != 50 || uniform.Against(&sums[0]).Median != 0.5 {
		t.Errorf("%+v", uniform)
	}
	list, onlyOld, onlyNew := Pair(sums, Summarize(new), 0.02, false)
	if len(list) != 2 || len(onlyOld) != 2 || len(onlyNew) != 1 {
		t.Errorf("%d pairs, %d and %d alone", len(list), len(onlyOld), len(onlyNew))
	}
	for _, c := range list {
		if c.Old.Dist != c.New.Dist || c.Ratio.Median != 1 {
			t.Errorf("%s against %s: %v", c.Old.Dist, c.New.Dist, c.Ratio)
		}
	}
	if changed, _, _ := Pair(Summarize(at("old", "v1", "uniform", 1)), Summarize(at("new", "v1", "normal", 1)), 0.02, false); len(changed) != 1 || fmt.Sprint(changed[0].Differences) != "[inputs: uniform, then normal]" {
		t.Errorf("%+v", changed)
	}
	var text strings.Builder
	if err := WriteTable(&text, "text", Summarize(new)); err != nil {
		t.Fatal(err)
	}
	order := []int{strings.Index(text.String(), " zeros "), strings.Index(text.String(), " bits:4 "), strings.Index(text.String(), " uniform ")}
	if !slices.IsSorted(order) || order[0] < 0 {
		t.Errorf("%v in\n%s", order, &text)
	}
	text.Reset()
	if err := WriteComparisons(&text, "text", list); err != nil || !strings.Contains(text.String(), " zeros ") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// TestLoad: of points under load the figures are of the end of windows, and bursts of their
// beginnings after a rest; another duty is another point.
func TestLoad(t *testing.T) {
	rows := func(duty int, rest float64, method results.Method) (list []results.Record) {
		for round := range 3 {
			for rep := range 60 {
				r := watched("r", round, 1e-4, 1e-4)
				r.Method, r.Duty, r.WindowSeconds, r.RestSeconds = method, duty, 6, rest
				r.Rep, r.Launches, r.OffsetSeconds = rep, 10, results.Some(float64(rep)/10)
				r.Seconds = 10e-3 * (1 + math.Min(float64(rep), 40)/100) // from 1 ms a launch to 1.4 ms in 4 s
				list = append(list, r)
			}
		}
		return list
	}
	for _, method := range []results.Method{results.Direct, results.Loop} {
		list := Summarize(slices.Concat(rows(100, 3, method), rows(25, 0, method)))
		if len(list) != 2 {
			t.Fatalf("%d points", len(list))
		}
		s := list[0]
		if math.Abs(s.Time.Median-1.4e-3) > 1e-12 || s.Time.N != 60 || math.Abs(s.Work()/s.Burst.Median-1.025e-3) > 1e-6 || list[1].Burst.Known() {
			t.Errorf("%v, burst %v", s.Time, s.Burst)
		}
		seconds, rates := s.Course(12)
		if len(seconds) != 12 || seconds[0] != 0.25 || math.Abs(s.Work()/rates[0].Median-1.02e-3) > 1e-9 || math.Abs(s.Work()/rates[11].Median-1.4e-3) > 1e-9 || rates[3].N != 15 {
			t.Errorf("%v %v", seconds, rates)
		}
		var text strings.Builder
		if err := WriteTable(&text, "text", list); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"25 % duty for 6 s ", "100 % duty for 6 s after 3 s of rest ", "% of burst", " 73.2 "} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %q in\n%s", want, &text)
			}
		}
	}
	late := rows(100, 3, results.Direct)
	for i := range late {
		if late[i].Sustained() {
			late[i].WaitedSeconds = results.Some(late[i].Seconds)
		}
	}
	if s := Summarize(late)[0]; !s.LowConfidence || math.Abs(s.Time.Median-1.4e-3) > 1e-12 {
		t.Errorf("windows disturbed at their ends: %v, low confidence %v", s.Time, s.LowConfidence)
	}
	long := rows(100, 0, results.Direct)[:1]
	if s := Summarize(long)[0]; !s.Time.Known() {
		t.Error("a launch that lasts longer than its window has no time")
	}
}
