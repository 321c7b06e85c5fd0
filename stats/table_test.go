package stats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/internal/words"
	"matladder/results"

	"golang.org/x/perf/benchfmt"

	"matladder/internal/goldentest"
)

// sweep is a small run with everything a table can hold: two dtypes, a
// baseline on another backend, a ragged shape, failures with nasty reasons, a
// prediction, and timings that differ by round in a known way.
func sweep() []results.Record {
	var rows []results.Record
	add := func(r results.Record, rounds int, seconds float64) {
		r.Schema, r.RunID, r.StartedAt = results.Schema, "r1", time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		r.MatladderVersion, r.Host, r.Chip, r.Batch = "v0.1.0", "bench, one", "cpu-avx512", max(r.Batch, 1)
		if r.Device == "" {
			r.Device = "Some CPU | 2 cores"
		}
		peak := map[string]float64{"float32": 2.5e11, "int8": 2e12, "bfloat16": 1.97e14}[r.DtypeA]
		r.PeakFLOPs, r.PeakSource, r.Dist, r.Seed = peak, "measured", "uniform", results.Some(int64(0))
		for round := range rounds {
			r.Round, r.Seconds = round, seconds*float64(r.Launches)*(1+0.01*float64(round%3))
			rows = append(rows, r)
		}
	}
	for _, size := range [][3]int{{512, 512, 512}, {512, 1024, 333}} {
		p := results.Record{Backend: "cpu", Mode: results.Measured, Method: results.Direct, Status: results.OK, M: size[0], K: size[1], N: size[2], ISA: "avx512", Threads: 2,
			DtypeA: "float32", DtypeB: "float32", DtypeAcc: "float32", DtypeOut: "float32", Launches: 4, RelErr: results.Some(3.2e-7), ErrOverBound: results.Some(0.02)}
		p.Kernel = "v1_naive"
		add(p, 7, 5.5e-2)
		p.Kernel, p.BM, p.BK, p.BN = "v3_block", 128, 128, 128
		add(p, 7, 4e-3)
		p.Kernel = "v4_optblock"
		add(p, 7, 3.9e-3)
		p.BM, p.BK, p.BN = 512, 256, 512
		add(p, 7, 1.9e-3)
		wrong := p
		wrong.BM, wrong.Status, wrong.ErrOverBound, wrong.Reason = 1024, results.Wrong, results.Some(1e9), "element (3, 4) is 0, want 1.5\nfirst of 512"
		add(wrong, 1, 1e-3)
		x := p
		x.Kernel, x.Backend, x.Device, x.BM, x.BK, x.BN, x.Method, x.ISA = results.Baseline, "xla-cpu", "TFRT_CPU_0", 0, 0, 0, results.Wall, ""
		add(x, 7, 1.8e-3)
	}
	q := results.Record{Backend: "cpu", Mode: results.Measured, Method: results.Direct, Status: results.OK, M: 2048, K: 2048, N: 2048, ISA: "avx512", Threads: 2,
		DtypeA: "int8", DtypeB: "int8", DtypeAcc: "int32", DtypeOut: "int32", Launches: 1, RelErr: results.Some(0.0), ErrOverBound: results.Some(0.0)}
	q.Kernel, q.BM, q.BK, q.BN, q.Params = "v5_quant", 256, 512, 256, "panel=64 unroll=2"
	add(q, 3, 1.3e-2)
	q.Kernel, q.Status, q.Reason, q.Params = "v4_optblock", results.TooBig, "needs 3 GiB | <b>*fast*</b> memory, \x1b[31mhas 2 MiB\nstack trace", ""
	q.RelErr, q.ErrOverBound = results.Optional[float64]{}, results.Optional[float64]{}
	add(q, 1, 0)
	a := results.Record{Backend: "aot", Device: "v5e", Mode: results.Predicted, Method: results.AOT, Status: results.OK, M: 8192, K: 8192, N: 8192, Kernel: "v5_quant",
		DtypeA: "bfloat16", DtypeB: "bfloat16", DtypeAcc: "float32", DtypeOut: "bfloat16", Launches: 1, BM: 512, BK: 1024, BN: 1024}
	add(a, 1, 5.8e-3)
	return rows
}

func TestTables(t *testing.T) {
	all := Summarize(sweep())
	for _, format := range Formats {
		var buf bytes.Buffer
		summaries := all
		if format == "text" || format == "md" {
			summaries = Best(all)
		}
		if err := WriteTable(&buf, format, summaries); err != nil {
			t.Fatal(err)
		}
		goldentest.Assert(t, "testdata/table."+format+".golden", buf.Bytes())
		switch format {
		case "json":
			var list []map[string]any
			if err := json.Unmarshal(buf.Bytes(), &list); err != nil || len(list) != len(all) {
				t.Errorf("json: %d objects of %d, %v", len(list), len(all), err)
			}
			for i, object := range list {
				if got, _ := object["time_seconds"].(float64); got != all[i].Time.Median {
					t.Errorf("json: time %v, want %v", got, all[i].Time.Median)
				}
			}
		case "csv":
			cells, err := csv.NewReader(&buf).ReadAll()
			if err != nil || len(cells) != len(all)+1 {
				t.Errorf("csv: %d rows of %d, %v", len(cells)-1, len(all), err)
			}
		}
	}
	if err := WriteTable(&bytes.Buffer{}, "xml", all); err == nil || !strings.Contains(err.Error(), "text, md, csv, json, benchstat") {
		t.Errorf("an unknown format: %v", err)
	}
}

// What benchstat would read gives back the medians of the summaries.
func TestBenchstat(t *testing.T) {
	summaries := Summarize(sweep())
	var buf bytes.Buffer
	if err := WriteBenchstat(&buf, summaries); err != nil {
		t.Fatal(err)
	}
	samples := map[string][]float64{}
	rd := benchfmt.NewReader(&buf, "x")
	for rd.Scan() {
		res, ok := rd.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("benchfmt reads %v", rd.Result())
		}
		key := res.GetConfig("backend") + " " + string(res.Name)
		seconds, _ := res.Value("sec/op")
		samples[key] = append(samples[key], seconds)
	}
	points := 0
	for i := range summaries {
		s := &summaries[i]
		if !s.Time.Known() {
			continue
		}
		points++
		got := samples[s.Backend+" "+string(benchmarkName(s))]
		slices.Sort(got)
		if len(got) != s.Time.N || math.Abs(got[len(got)/2]-s.Time.Median) > 1e-15 {
			t.Errorf("%s: benchfmt has samples %v, the summary %+v", benchmarkName(s), got, s.Time)
		}
	}
	if points != len(samples) || points == 0 {
		t.Errorf("%d points have a time, benchfmt has %d", points, len(samples))
	}
}

func TestFormat(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 9.999: "10.0", 0.1234: "0.123", 1234.5: "1234", 99.95: "100", 5e-5: "0.0000500", -2.5: "-2.50", 1: "1.00",
		6.25e14: "625000000000000", 6.25e307: "6.25e+307", -6.25e-307: "-6.25e-307",
	} {
		if got := words.Figure(v); got != want {
			t.Errorf("words.Figure(%v) = %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{
		1.5: "1.50 s", 0.9999: "1.00 s", 0.9994: "999 ms", 1.234e-3: "1.23 ms", 5e-7: "500 ns", 9.9999e-4: "1.00 ms", 1e-6: "1.00 µs",
	} {
		if got := FormatSeconds(v); got != want {
			t.Errorf("FormatSeconds(%v) = %s, want %s", v, got, want)
		}
	}
	for _, c := range []struct {
		most    float64
		of      results.Unit
		unit    string
		divisor float64
	}{{1e12, results.FLOPs, "TFLOP/s", 1e12}, {9.9e11, results.FLOPs, "GFLOP/s", 1e9}, {5e12, results.OPs, "TOP/s", 1e12}, {0, results.OPs, "GOP/s", 1e9}, {2e11, results.Bytes, "GB/s", 1e9}, {3e12, results.Bytes, "TB/s", 1e12}} {
		if unit, divisor := results.RateUnit(c.most, c.of); unit != c.unit || divisor != c.divisor {
			t.Errorf("RateUnit(%v, %v) = %s, %v", c.most, c.of, unit, divisor)
		}
	}
}

func TestLadder_Title(t *testing.T) {
	for _, test := range []struct {
		precision string
		threads   int
		want      string
	}{
		{"default", 2, "float32 · measured · 2 threads"},
		{"highest", 1, "float32 · precision highest · measured · 1 thread"},
	} {
		r := row("v3_block", 0, 0, 1, 1)
		r.Precision, r.Threads = test.precision, test.threads
		section := NewLadder([]Summary{one(t, []results.Record{r})}).Sections[0]
		if section.Title != test.want {
			t.Errorf("have %q, want %q", section.Title, test.want)
		}
	}
}

func TestTable_Formulas(t *testing.T) {
	rows := []results.Record{{Schema: results.Schema, Kernel: `=HYPERLINK("http://x")`, Host: "+1", Device: "-2", Chip: "@x", Mode: results.Measured, Status: results.OK, Batch: 1, M: 8, K: 8, N: 8, DtypeA: "int8", Launches: 1, Seconds: 1}}
	var b bytes.Buffer
	if err := WriteTable(&b, "csv", Summarize(rows)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"'=HYPERLINK(""http://x"")"`, ",'+1,", ",'-2,", ",'@x,"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

// TestSummarizer_Doubled: a file that was appended to itself has as many samples as before.
func TestSummarizer_Doubled(t *testing.T) {
	rows := make([]results.Record, 20)
	for i := range rows {
		rows[i] = minimal()
		rows[i].Round, rows[i].Rep = i/2, i%2
	}
	text := write(t, rows)
	_, body, _ := bytes.Cut(text, []byte("\n"))
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, append(text, body...), 0o666); err != nil {
		t.Fatal(err)
	}
	var z Summarizer
	if _, err := z.AddFile(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if s := z.Summaries(); len(s) != 1 || s[0].Time.N != 20 {
		t.Errorf("%d summaries, %d samples; want 1 and 20", len(s), s[0].Time.N)
	}
}
