package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/results"
	"matladder/stats/interval"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

var nearly = cmpopts.EquateApprox(1e-12, 0)

func TestEstimate_ByHand(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    Estimate
	}{
		{nil, Estimate{}},
		{[]float64{7}, Estimate{Interval: interval.Interval{Median: 7, Lo: 7, Hi: 7, Confidence: 0, N: 1}}},
		{[]float64{3, 1}, Estimate{Interval: interval.Interval{Median: 2, Lo: 1, Hi: 3, Confidence: 0.5, N: 2}}},
		{[]float64{5, 1, 4, 2, 3}, Estimate{Interval: interval.Interval{Median: 3, Lo: 1, Hi: 5, Confidence: 0.9375, N: 5}}},
		// The range of 6 misses the median if all fall on one side: 2/2⁶.
		{[]float64{6, 5, 1, 4, 2, 3}, Estimate{Interval: interval.Interval{Median: 3.5, Lo: 1, Hi: 6, Confidence: 0.96875, N: 6}}},
	} {
		given := slices.Clone(c.samples)
		if diff := cmp.Diff(c.want, estimate(c.samples), nearly); diff != "" {
			t.Errorf("%v: -want +got\n%s", c.samples, diff)
		}
		if !slices.Equal(given, c.samples) {
			t.Errorf("%v was changed", given)
		}
	}
}

// Against gonum: the median is the middle quantile; the interval's ends are
// order statistics whose binomial coverage is the confidence it claims.
func TestEstimate_Gonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 6; n < 60; n++ {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = rng.ExpFloat64()
		}
		e := estimate(samples)
		slices.Sort(samples)
		median := stat.Quantile(0.5, stat.Empirical, samples, nil)
		if n%2 == 0 {
			median = (median + samples[n/2]) / 2
		}
		if math.Abs(e.Median-median) > 1e-12 {
			t.Errorf("n=%d: median %v, gonum %v", n, e.Median, median)
		}
		lo, hi := slices.Index(samples, e.Lo), slices.Index(samples, e.Hi)
		below := distuv.Binomial{N: float64(n), P: 0.5}
		coverage := below.CDF(float64(hi)) - below.CDF(float64(lo))
		if lo < 0 || hi < 0 || !e.Sure() || math.Abs(coverage-e.Confidence) > 0.01 {
			t.Errorf("n=%d: interval from sample %d to %d covers %.4f, claims %.4f", n, lo, hi, coverage, e.Confidence)
		}
	}
}

func TestFitLine_Gonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		n := 2 + rng.IntN(9)
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(int(1)<<i), rng.NormFloat64()
		}
		slope, intercept, ok := fitLine(x, y)
		alpha, beta := stat.LinearRegression(x, y, nil, false)
		if !ok || math.Abs(slope-beta) > 1e-9 || math.Abs(intercept-alpha) > 1e-9 {
			t.Errorf("%v %v: slope %v, intercept %v; gonum %v, %v", x, y, slope, intercept, beta, alpha)
		}
	}
	for _, x := range [][]float64{{}, {1}, {4, 4, 4}} {
		if _, _, ok := fitLine(x, make([]float64, len(x))); ok {
			t.Errorf("a line through launch counts %v", x)
		}
	}
}

// row returns a row of 128×64×32 with the given time.
func row(kernel string, round, rep, launches int, seconds float64) results.Record {
	r := minimal()
	r.Kernel, r.Method, r.Round, r.Rep, r.Launches, r.Seconds = kernel, results.Direct, round, rep, launches, seconds
	return r
}

func one(t *testing.T, rows []results.Record) Summary {
	t.Helper()
	list := Summarize(rows)
	if len(list) != 1 {
		t.Fatalf("%d summaries, want 1", len(list))
	}
	return list[0]
}

func TestSummarize_Direct(t *testing.T) {
	var rows []results.Record
	for round := range 3 {
		for rep := range 2 { // 10 launches take 10, 20 … 60 ms
			r := row("v1_naive", round, rep, 10, 0.01*float64(1+2*round+rep))
			r.PeakFLOPs = []float64{5e8, 1e9, 9e8}[round] // measured again; the largest counts
			r.RelErr = results.Some(0.1 * float64(3-round))
			rows = append(rows, r)
		}
	}
	s := one(t, rows)
	if diff := cmp.Diff(Estimate{Interval: interval.Interval{Median: 0.0035, Lo: 0.001, Hi: 0.006, Confidence: 0.96875, N: 6}}, s.Time, nearly); diff != "" {
		t.Errorf("time: -want +got\n%s", diff)
	}
	const flops = 2 * 128 * 64 * 32
	if diff := cmp.Diff(Estimate{Interval: interval.Interval{Median: flops / 0.0035, Lo: flops / 0.006, Hi: flops / 0.001, Confidence: 0.96875, N: 6}}, s.Rate, nearly); diff != "" {
		t.Errorf("rate: -want +got\n%s", diff)
	}
	if want := flops / 0.0035 / 1e7; math.Abs(s.PercentOfPeak.Median-want) > 1e-9 {
		t.Errorf("%% of peak %v, want %v", s.PercentOfPeak.Median, want)
	}
	if math.Abs(s.RelErr.Value-0.3) > 1e-12 || s.ErrOverBound.Known {
		t.Errorf("rel_err %v, err/bound %v; want the worst, 0.3, and none", s.RelErr, s.ErrOverBound)
	}
	if s.Rows != 6 || s.Warnings != nil || s.Dispatch.Known() || s.PercentOfBaseline.Known() || s.Below != "" {
		t.Errorf("%+v", s)
	}
}

// 2 ms a launch and 5 ms of dispatch, on a machine that slows down: the slope
// of each round is its device time.
func TestSummarize_Loop(t *testing.T) {
	var rows []results.Record
	for round := range 7 {
		drift := 1 + 0.1*float64(round)
		for rep, launches := range []int{1, 4, 16} {
			r := row("v1_naive", round, rep, launches, drift*(0.005+0.002*float64(launches)))
			r.Method = results.Loop
			rows = append(rows, r)
		}
	}
	s := one(t, rows)
	want := []Estimate{
		{Interval: interval.Interval{Median: 0.002 * 1.3, Lo: 0.002, Hi: 0.002 * 1.6, Confidence: 0.984375, N: 7}}, // 1 − 2/2⁷
		{Interval: interval.Interval{Median: 0.005 * 1.3, Lo: 0.005, Hi: 0.005 * 1.6, Confidence: 0.984375, N: 7}},
	}
	if diff := cmp.Diff(want, []Estimate{s.Time, s.Dispatch}, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("time and dispatch: -want +got\n%s", diff)
	}

	flat := slices.DeleteFunc(slices.Clone(rows), func(r results.Record) bool { return r.Round > 0 && r.Rep > 0 })
	s = one(t, flat)
	if s.Time.N != 1 || !slices.Contains(s.Warnings, "6 of 7 rounds have one launch count, a slope needs two") {
		t.Errorf("one launch count: %d samples, warnings %q", s.Time.N, s.Warnings)
	}
	rows[2].Seconds = 1e-6 // more launches in less time
	s = one(t, rows[:3])
	if s.Time.Known() || s.Rate.Known() || !strings.Contains(strings.Join(s.Warnings, ""), "not positive") {
		t.Errorf("a negative slope: time %v, warnings %q", s.Time, s.Warnings)
	}
}

func TestSummarize_Condemned(t *testing.T) {
	good := func(round int) results.Record { return row("v1_naive", round, 0, 1, 0.5) }
	status := func(round int, status results.Status) results.Record {
		r := good(round)
		r.Status, r.Reason = status, "because\nof this"
		return r
	}
	for _, c := range []struct {
		name string
		rows []results.Record
		want results.Status
		n    int
		warn string
	}{
		{"wrong after ok", []results.Record{good(0), good(1), status(2, results.Wrong)}, results.Wrong, 0, ""},
		{"impossible after ok", []results.Record{good(0), status(1, results.Impossible)}, results.Impossible, 0, ""},
		{"ok after wrong", []results.Record{status(0, results.Wrong), good(1)}, results.Wrong, 0, ""},
		{"timeout after ok", []results.Record{good(0), good(1), status(2, results.Timeout)}, results.OK, 2, "ends in timeout at round 2: because"},
		{"ok after crash", []results.Record{status(0, results.Crashed), good(1)}, results.OK, 1, ""},
		{"never ok", []results.Record{status(0, results.Skipped), status(1, results.TooBig)}, results.TooBig, 0, ""},
	} {
		s := one(t, c.rows)
		if s.Status != c.want || s.Time.N != c.n {
			t.Errorf("%s: %s with %d samples, want %s with %d", c.name, s.Status, s.Time.N, c.want, c.n)
		}
		if c.want != results.OK && s.Reason != "because\nof this" {
			t.Errorf("%s: reason %q", c.name, s.Reason)
		}
		if warned := slices.Contains(s.Warnings, c.warn); warned != (c.warn != "") {
			t.Errorf("%s: warnings %q, want %q", c.name, s.Warnings, c.warn)
		}
	}
	// Another point, of other blocks or another file, is not condemned.
	other, blocks := good(0), good(0)
	other.Pos.File, blocks.BM = "other.csv", 8
	list := Summarize([]results.Record{good(0), other, blocks, status(1, results.Wrong)})
	if got := fmt.Sprintf("%s %s %s", list[0].Status, list[1].Status, list[2].Status); len(list) != 3 || got != "wrong ok ok" {
		t.Errorf("%d summaries: %s", len(list), got)
	}
}

// Rounds drift by a factor of 8, yet ratios are exact: they are paired.
func TestSummarize_PairedRatios(t *testing.T) {
	var rows []results.Record
	add := func(kernel, backend string, bm, round int, seconds float64) {
		r := row(kernel, round, 0, 1, seconds*float64(1+round))
		r.Backend, r.BM = backend, bm
		rows = append(rows, r)
	}
	for round := range 8 {
		add("v1_naive", "cpu", 0, round, 0.8)
		add("v3_block", "cpu", 128, round, 0.4)
		add("v4_optblock", "cpu", 256, round, 0.3)
		add("v4_optblock", "cpu", 512, round, 0.2)
		add("v5_quant", "cpu", 256, round, 0.05)
		add(results.Baseline, "xla-cpu", 0, round, 0.1)
		if round < 3 {
			add("v2_parallel", "other", 0, round, 0.001)
		}
	}
	got := map[string]string{}
	for _, s := range Summarize(rows) {
		name := fmt.Sprintf("%s %d", s.Kernel, s.BM)
		got[name] = fmt.Sprintf("%.4g%% of baseline, %.4g× %s, n=%d", s.PercentOfBaseline.Median, s.OverBelow.Median, s.Below, s.OverBelow.N)
		if s.OverBelow.Known() && (s.OverBelow.Spread() > 1e-12 || s.PercentOfBaseline.Spread() > 1e-12) {
			t.Errorf("%s: ratios spread by %v and %v", name, s.OverBelow.Spread(), s.PercentOfBaseline.Spread())
		}
	}
	want := map[string]string{
		"v1_naive 0":      "12.5% of baseline, 0× , n=0",
		"v2_parallel 0":   "1e+04% of baseline, 0× , n=0", // alone on its backend
		"v3_block 128":    "25% of baseline, 2× v1_naive, n=8",
		"v4_optblock 256": "33.33% of baseline, 1.333× v3_block, n=8",
		"v4_optblock 512": "50% of baseline, 2× v3_block, n=8",
		"v5_quant 256":    "200% of baseline, 4× v4_optblock, n=8", // over 512, the faster
		"xla 0":           "0% of baseline, 0× , n=0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}

	// A rung that failed is still the rung below; nothing is claimed over it.
	for i := range rows {
		if rows[i].Kernel == "v3_block" {
			rows[i].Status = results.TooBig
		}
	}
	for _, s := range Summarize(rows) {
		if s.Kernel == "v4_optblock" && (s.Below != "v3_block" || s.OverBelow.Known()) {
			t.Errorf("over a failed rung: %v× %s", s.OverBelow.Median, s.Below)
		}
	}
}

func TestSummarize_NoSharedRound(t *testing.T) {
	list := Summarize([]results.Record{row("v1_naive", 0, 0, 1, 1), row(results.Baseline, 1, 0, 1, 1)})
	if list[0].PercentOfBaseline.Known() || !slices.Contains(list[0].Warnings, "shares no round with xla: no ratio") {
		t.Errorf("%v, warnings %q", list[0].PercentOfBaseline, list[0].Warnings)
	}
}

func TestBest(t *testing.T) {
	var rows []results.Record
	for i, seconds := range []float64{0.3, 0.1, 0.2} {
		r := row("v4_optblock", 0, 0, 1, seconds)
		r.BM = 100 + i
		rows = append(rows, r)
	}
	bad := row("v4_optblock", 0, 0, 1, 0.001)
	bad.BM, bad.Status = 200, results.Wrong
	big := bad
	big.BM, big.Status = 300, results.TooBig
	only := row("v3_block", 0, 0, 1, 1)
	only.Status = results.TooBig
	best := Best(Summarize(append(rows, bad, big, only)))
	if len(best) != 2 || best[0].BM != 101 || best[1].Status != results.TooBig {
		t.Fatalf("%+v", best)
	}
	if want := "of 5 block shapes and parameters not all are ok: 1 too_big, 1 wrong"; !slices.Contains(best[0].Warnings, want) {
		t.Errorf("warnings %q lack %q", best[0].Warnings, want)
	}
}

func TestNewest(t *testing.T) {
	at := func(file string, hour int, kernel, dtype string, mode results.Mode, status results.Status) results.Record {
		r := row(kernel, 0, 0, 1, 1)
		r.Pos.File, r.DtypeA, r.Mode, r.Status = file, dtype, mode, status
		r.StartedAt = time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)
		return r
	}
	rows := []results.Record{
		at("c", 9, "v5", "int8", results.Measured, results.Skipped),
		at("a", 1, "v5", "int8", results.Measured, results.OK),
		at("a", 1, "v4", "int8", results.Measured, results.OK),
		at("a", 1, "v4", "float32", results.Measured, results.OK),
		at("b", 5, "v5", "float32", results.Measured, results.OK),
		at("b", 5, "v5", "float32", results.Predicted, results.OK),
		at("d", 8, "v5", "bfloat16", results.Predicted, results.OK),
		at("c", 9, "v3", "int8", results.Predicted, results.TooBig),
	}
	const all = "a v5 int8 measured, a v4 int8 measured, a v4 float32 measured" // other dtypes with them
	for _, c := range []struct{ kernel, dtype, want string }{
		{"v5", "int8", all}, // not c: it has nothing ok
		{"v4", "int8", all},
		{"v5", "float32", "b v5 float32 measured"},    // measured before predicted
		{"v5", "bfloat16", "d v5 bfloat16 predicted"}, // only predicted
		{"v3", "", "c v3 int8 predicted"},             // says why
		{"", "", "b v5 float32 measured"},             // the latest measured
		{"v9", "", ""},
	} {
		var got []string
		for _, r := range Newest(Summarize(rows), "", c.kernel, c.dtype) {
			got = append(got, fmt.Sprintf("%s %s %s %s", r.Pos.File, r.Kernel, r.DtypeA, r.Mode))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("Newest(%q, %q) = %q, want %q", c.kernel, c.dtype, got, c.want)
		}
	}
}
