package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchmath"
)

// TestRatioOf_UTest holds the interval to its test: it leaves 1 out exactly where
// the U test of benchmath finds a difference at 5 %.
func TestRatioOf_UTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	apart := 0
	for trial := range 600 {
		m, n := 1+rng.IntN(14), 1+rng.IntN(14)
		if trial%50 == 0 {
			m, n = 34, 41 // by the normal approximation
		}
		sample := func(n int, scale float64) []float64 {
			var list []float64
			for range n {
				list = append(list, scale*math.Exp(0.2*rng.NormFloat64()))
			}
			return list
		}
		old, new := sample(m, 1), sample(n, 0.7+0.6*rng.Float64())
		e := ratioOf(old, new)
		c := benchmath.AssumeNothing.Compare(
			benchmath.NewSample(slices.Clone(old), &benchmath.DefaultThresholds),
			benchmath.NewSample(slices.Clone(new), &benchmath.DefaultThresholds))
		if math.Abs(c.P-0.05) < 0.002 {
			continue // both round here
		}
		found := e.Sure() && (e.Lo > 1 || e.Hi < 1)
		if found != (c.P < 0.05) {
			t.Errorf("%d and %d samples: interval %g to %g at %g, p = %g", m, n, e.Lo, e.Hi, e.Confidence, c.P)
		}
		if found {
			apart++
		}
		if !(e.Lo <= e.Median && e.Median <= e.Hi) {
			t.Errorf("%+v", e)
		}
	}
	if apart < 100 {
		t.Errorf("only %d trials were apart", apart)
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		lo, median, hi, confidence float64
		want                       Verdict
	}{
		{0.995, 1, 1.01, 0.96, Same},
		{1.005, 1.01, 1.015, 0.96, Same}, // a real difference that does not matter
		{1.05, 1.1, 1.2, 0.96, Faster},
		{1.001, 1.1, 1.2, 0.96, Faster},
		{0.8, 0.9, 0.99, 0.96, Slower},
		{0.8, 0.9, 1.01, 0.96, Unsure},
		{0.9, 1, 1.1, 0.96, Unsure},
		{0.8, 0.8, 0.8, 0.9, Unsure}, // too few samples
		{0.8, 0.8, 0.8, 1, Slower},   // a prediction
	} {
		if got := judge(Estimate{c.median, c.lo, c.hi, c.confidence, 9}, 0.02); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
	if got := judge(Estimate{}, 0.02); got != Unsure {
		t.Errorf("unknown: %s", got)
	}
}

// TestPair matches points, tells what differs, and judges.
func TestPair(t *testing.T) {
	run := func(file string, seconds float64, change func(*Record)) []Record {
		var rows []Record
		for round := range 8 {
			r := row("v3_block", round, 0, 1, seconds*(1+0.001*float64(round)))
			r.Pos.File, r.BM, r.BK, r.BN, r.Threads, r.Method = file, 128, 128, 128, 2, Direct
			change(&r)
			rows = append(rows, r)
		}
		return rows
	}
	same := func(*Record) {}
	for _, c := range []struct {
		name   string
		new    []Record
		best   bool
		want   string
		onlies string
	}{
		{"alike", run("b", 1, same), false, "SAME 1.000", "0 0"},
		{"faster", run("b", 0.5, same), false, "FASTER 2.000", "0 0"},
		{"slower", run("b", 2, same), false, "SLOWER 0.500", "0 0"},
		{"another version", run("b", 1, func(r *Record) { r.MatladderVersion = "9" }), false, "SAME 1.000", "0 0"},
		{"threads", run("b", 1, func(r *Record) { r.Threads = 4 }), false, "SAME 1.000 threads: 2, then 4", "0 0"},
		{"method", run("b", 1, func(r *Record) { r.Method = Wall }), false, "SAME 1.000 method: direct, then wall", "0 0"},
		{"host", run("b", 1, func(r *Record) { r.Host = "h2" }), false, "SAME 1.000 host: not stated, then h2", "0 0"},
		{"wrong", run("b", 1, func(r *Record) { r.Status = Wrong }), false, "LOST 0.000", "0 0"},
		{"a slope that noise hides", run("b", 1, func(r *Record) { r.Method = Loop }), false, "UNSURE 0.000 method: direct, then loop", "0 0"},
		{"blocks", run("b", 0.5, func(r *Record) { r.BM = 64 }), false, "", "1 1"},
		{"best blocks", run("b", 0.5, func(r *Record) { r.BM = 64 }), true, "FASTER 2.000", "0 0"},
		{"another size", run("b", 1, func(r *Record) { r.M = 64 }), false, "", "1 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := run("a", 1, same)
			for i := range old {
				old[i].Host, c.new[i].Host = "", strings.TrimPrefix(c.new[i].Host, old[i].Host)
			}
			list, onlyOld, onlyNew := Pair(Summarize(old), Summarize(c.new), 0.02, c.best)
			var got []string
			for _, p := range list {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %.3f %s", p.Verdict, p.Ratio.Median, strings.Join(p.Differences, ", "))))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
			if text := fmt.Sprint(len(onlyOld), len(onlyNew)); text != c.onlies {
				t.Errorf("alone %s, want %s", text, c.onlies)
			}
		})
	}
	list := []Comparison{{Ratio: Estimate{Median: 2, N: 1}}, {Ratio: Estimate{Median: 0.5, N: 1}}, {Verdict: Lost}}
	if mean, n := GeoMean(list); math.Abs(mean-1) > 1e-12 || n != 2 {
		t.Errorf("geometric mean %g of %d", mean, n)
	}
}
