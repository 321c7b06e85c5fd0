package tuned

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/problem"
	"matladder/tile"

	"github.com/google/go-cmp/cmp"
)

func row(m, k, n int, d tile.Dtype, blocks tile.Blocks, tried map[tile.Blocks]float64) Row {
	return Row{Key: KeyOf("v4_optblock", "", problem.New(m, k, n, d)), Blocks: blocks,
		Evidence: Evidence{Mode: Measured, Seconds: 2, Low: 1, High: 3, Samples: 9, Tried: tried, Versions: "matladder 1", Date: "2026-11-21"}}
}

// TestRoundTrip writes random tables and reads them back.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	dtypes := []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8}
	for range 50 {
		want := &Table{Machine: "cpu_test_avx512_2"}
		for range rng.IntN(20) {
			r := row(1+rng.IntN(5000), 1+rng.IntN(5000), 1+rng.IntN(5000), dtypes[rng.IntN(3)], tile.Blocks{M: 1 + rng.IntN(999), K: 128, N: 256}, nil)
			r.Evidence.Seconds = rng.Float64() + 1e-9
			r.Evidence.Low, r.Evidence.High = r.Evidence.Seconds*rng.Float64(), r.Evidence.Seconds*(1+rng.Float64())
			if rng.IntN(2) == 0 {
				r.Quant, r.Variant, r.Epilogue, r.Batch, r.Out = "per_tensor", "fused", "gelu", 3, tile.BFloat16
				r.Precision = tile.Highest
				r.Evidence.Mode, r.Evidence.Low, r.Evidence.High = Predicted, r.Evidence.Seconds, r.Evidence.Seconds
			}
			if r.Evidence.Adjusted.Tried = rng.IntN(9); rng.IntN(2) == 0 {
				r.Params = []string{"b=pieces", "b=pieces c=past run=256"}[rng.IntN(2)]
				r.Evidence.Adjusted = Adjustment{Tried: 2, Gain: 1.1, Low: 1.02, High: 1.1 + rng.Float64(), Rounds: 1 + rng.IntN(30)}
			}
			if rng.IntN(2) == 0 {
				r.Evidence.RunnerUp, r.Evidence.Behind = tile.Blocks{M: 1, K: 2, N: 3}, rng.Float64()
				r.Evidence.Tried = map[tile.Blocks]float64{r.Blocks: 1, r.Evidence.RunnerUp: 1 + r.Evidence.Behind}
				r.Evidence.Launched, r.Evidence.Ended = 1+rng.IntN(9), []string{ByEvidence, ByBudget}[rng.IntN(2)]
				r.Evidence.Candidates = r.Evidence.Launched + rng.IntN(99)
				r.Evidence.Confirmed = Confirmation{Rival: r.Evidence.RunnerUp, Ratio: 1.01, Low: 1 - rng.Float64()/2, High: 1.01 + rng.Float64(), Rounds: 1 + rng.IntN(30)}
			}
			want.Put(r)
		}
		var text bytes.Buffer
		if _, err := want.WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(text.String(), "\n"); lines != 3+len(want.Rows) {
			t.Fatalf("%d lines for %d rows:\n%s", lines, len(want.Rows), &text)
		}
		have, err := Parse("t.yaml", text.Bytes())
		if err != nil {
			t.Fatalf("%v in:\n%s", err, &text)
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Fatal(d)
		}
	}
}

func TestPutReplaces(t *testing.T) {
	var table Table
	table.Put(row(512, 512, 512, tile.Int8, tile.Blocks{M: 1, K: 1, N: 1}, nil))
	table.Put(row(512, 512, 512, tile.Int8, tile.Blocks{M: 2, K: 2, N: 2}, nil))
	if len(table.Rows) != 1 || table.Rows[0].Blocks.M != 2 {
		t.Errorf("%+v", table.Rows)
	}
}

// TestOffer: a row whose search was ended by the budget takes the place of another only
// if that was no better founded, or if it shows its block shape to be the faster.
func TestOffer(t *testing.T) {
	old, other := tile.Blocks{M: 1, K: 1, N: 1}, tile.Blocks{M: 2, K: 2, N: 2}
	of := func(b tile.Blocks, ended string, launched int) Row {
		r := row(512, 512, 512, tile.Int8, b, map[tile.Blocks]float64{b: 1})
		r.Evidence.Ended, r.Evidence.Launched, r.Evidence.Candidates = ended, launched, 99
		return r
	}
	confirmed := func(low float64, overOld float64) Row {
		r := of(other, ByBudget, 5)
		r.Evidence.Confirmed = Confirmation{Rival: old, Ratio: 1.1, Low: low, High: 1.2, Rounds: 6}
		r.Evidence.Tried[old] = overOld
		return r
	}
	with := func(r Row, params string, low float64) Row {
		if r.Evidence.Adjusted.Tried = 5; params != "" {
			r.Params, r.Evidence.Adjusted = params, Adjustment{Tried: 5, Gain: 1.1, Low: low, High: 1.2, Rounds: 6}
		}
		return r
	}
	for _, test := range []struct {
		name    string
		old     Row
		new     Row
		want    bool
		unknown bool // the new one's search did not know the old one
	}{
		{"evidence for unknown", of(old, "", 0), of(other, ByEvidence, 5), true, false},
		{"evidence for budget", of(old, ByBudget, 9), of(other, ByEvidence, 5), true, false},
		{"budget for evidence", of(old, ByEvidence, 5), of(other, ByBudget, 9), false, false},
		{"budget for unknown", of(old, "", 0), of(other, ByBudget, 9), false, false},
		{"more for less", of(old, ByBudget, 5), of(other, ByBudget, 5), true, false},
		{"less for more", of(old, ByBudget, 6), of(other, ByBudget, 5), false, false},
		{"shown to be faster", of(old, ByEvidence, 30), confirmed(1.05, 1.1), true, false},
		{"not clearly faster", of(old, ByEvidence, 30), confirmed(0.99, 1.1), false, false},
		{"the old one is not slower", of(old, ByEvidence, 30), confirmed(1.05, 0.99), false, false},
		{"the same with parameters", of(old, ByEvidence, 30), with(of(old, ByBudget, 5), "b=pieces", 1.05), true, false},
		{"with parameters, of another block shape that was not compared", of(old, ByEvidence, 30), with(of(other, ByBudget, 5), "b=pieces", 1.05), false, false},
		{"faster than without its parameters", with(of(old, ByEvidence, 30), "b=pieces", 1.05), confirmed(1.05, 1.1), false, false},
		{"fewer adjustments", with(of(old, ByBudget, 5), "b=pieces", 1.05), of(old, ByBudget, 5), false, false},
		{"as many adjustments", with(of(old, ByBudget, 5), "", 0), with(of(old, ByBudget, 5), "b=pieces", 1.05), true, false},
		{"found at once", of(old, ByEvidence, 30), of(other, ByEvidence, 30), false, true},
		{"found at once, the earlier by budget", of(old, ByBudget, 30), of(other, ByEvidence, 5), true, true},
		{"found at once, shown to be faster", of(old, ByEvidence, 30), confirmed(1.05, 1.1), true, true},
	} {
		var table Table
		if !table.Offer(test.old, false) {
			t.Errorf("%s: an empty table has no place", test.name)
		}
		took := table.Offer(test.new, !test.unknown)
		have, ok := table.Row(test.new.Key)
		want := test.old
		if test.want {
			want = test.new
		}
		if d := cmp.Diff(want, have); took != test.want || !ok || d != "" || len(table.Rows) != 1 {
			t.Errorf("%s: took %v, %s", test.name, took, d)
		}
	}
}

// TestLookup_ByBudget: what a look-up answers says if it was found in too little time.
func TestLookup_ByBudget(t *testing.T) {
	var table Table
	r := row(512, 512, 512, tile.Int8, tile.Blocks{M: 1, K: 1, N: 1}, nil)
	r.Evidence.Ended = ByBudget
	table.Put(r)
	for m, want := range map[int]Source{512: "tuned_by_budget", 1024: "tuned_nearest_batch_by_budget"} {
		if have, ok := table.Lookup(KeyOf("v4_optblock", "", problem.New(m, 512, 512, tile.Int8))); !ok || have.Source != want {
			t.Errorf("%d: %s, want %s", m, have.Source, want)
		}
	}
}

// TestLookup_Rows: blocks that held all rows of a small batch hold those of a
// larger one too, within bounds; smaller blocks stay what they are.
func TestLookup_Rows(t *testing.T) {
	var table Table
	table.Put(row(16, 4096, 6144, tile.BFloat16, tile.Blocks{M: 16, K: 1024, N: 1024}, nil))
	table.Put(row(256, 4096, 4096, tile.BFloat16, tile.Blocks{M: 128, K: 1024, N: 1024}, nil))
	for _, test := range []struct{ m, n, want int }{
		{8, 6144, 8}, {16, 6144, 16}, {48, 6144, 48}, {64, 6144, 64}, {1000, 6144, 64},
		{64, 4096, 64}, {512, 4096, 128},
	} {
		have, ok := table.Lookup(KeyOf("v4_optblock", "", problem.New(test.m, 4096, test.n, tile.BFloat16)))
		if !ok || have.Blocks.M != test.want {
			t.Errorf("%d×4096×%d: blocks %v %v, want %d rows", test.m, test.n, have.Blocks, ok, test.want)
		}
	}
}

// TestLookup walks the chain from an exact row to none.
func TestLookup(t *testing.T) {
	var table Table
	for i, shape := range [][3]int{{16, 4096, 14336}, {64, 4096, 14336}, {1024, 4096, 14336}, {512, 512, 512}, {1024, 1024, 1024}} {
		r := row(shape[0], shape[1], shape[2], tile.BFloat16, tile.Blocks{M: 4096, K: 128 + i, N: 128}, nil)
		r.Params = fmt.Sprintf("row=%d", i)
		table.Put(r)
	}
	for _, test := range []struct {
		m, k, n int
		d       tile.Dtype
		want    int // bk - 128 of the row that answers; -1 for none
		source  Source
	}{
		{64, 4096, 14336, tile.BFloat16, 1, Exact},
		{64, 4096, 14336, tile.Float32, -1, ""}, // another dtype is another key
		{128, 4096, 14336, tile.BFloat16, 1, NearestBatch},
		{32, 4096, 14336, tile.BFloat16, 1, NearestBatch}, // 16 and 64 are as near: the larger
		{4096, 4096, 14336, tile.BFloat16, 2, SameKN},
		{1, 4096, 14336, tile.BFloat16, 0, SameKN},
		{600, 600, 600, tile.BFloat16, 3, ShapeClass},
		{1000, 1000, 1000, tile.BFloat16, 4, ShapeClass},
		{16, 16, 16, tile.BFloat16, -1, ""},
	} {
		have, ok := table.Lookup(KeyOf("v4_optblock", "", problem.New(test.m, test.k, test.n, test.d)))
		if ok != (test.want >= 0) || have.Source != test.source || ok && (have.Blocks.K != min(test.k, 128+test.want) || have.Params != fmt.Sprintf("row=%d", test.want)) {
			t.Errorf("%+v: have %v %q %v", test, have, have.Source, ok)
		}
		if ok && have.Blocks.M != test.m {
			t.Errorf("%+v: blocks %v are not cut to the array", test, have)
		}
	}
	if _, ok := table.Lookup(KeyOf("v5_quant", "", problem.New(64, 4096, 14336, tile.BFloat16))); ok {
		t.Error("a row of v4 answered for v5")
	}
}

// TestAddTo: an answer adds its parameters in a map of its own, or none of them.
func TestAddTo(t *testing.T) {
	for _, test := range []struct {
		params, own, want string
	}{
		{"", "", ""},
		{"", "x=1", "x=1"},
		{"b=pieces run=256", "", "b=pieces run=256"},
		{"b=pieces run=256", "x=1", "b=pieces run=256 x=1"},
		{"b=pieces run=256", "run=256", "b=pieces run=256"},
		{"b=pieces run=256", "run=64", "run=64"},
	} {
		own, err := backend.ParseExtra(test.own)
		if err != nil {
			t.Fatal(err)
		}
		have, err := Answer{Params: test.params}.AddTo(backend.Params{Threads: 3, Extra: own})
		if have.String() != test.want || have.Threads != 3 || err != nil {
			t.Errorf("%q to %q: %v %v", test.params, test.own, have, err)
		}
		if was := (backend.Params{Extra: own}).String(); was != test.own {
			t.Errorf("%q to %q has changed it to %q", test.params, test.own, was)
		}
	}
	if _, err := (Answer{Params: "b"}).AddTo(backend.Params{}); err == nil {
		t.Error("a parameter without a value was added")
	}
}

// TestCosts takes rows out one by one: 64 falls to 32 at 1.5 ×, 32 to 64, which it
// never tried, and the square stands alone.
func TestCosts(t *testing.T) {
	small, large := tile.Blocks{M: 16, K: 16, N: 16}, tile.Blocks{M: 32, K: 32, N: 32}
	var table Table
	table.Put(row(64, 4096, 4096, tile.Int8, large, map[tile.Blocks]float64{large: 1, small: 1.5}))
	table.Put(row(32, 4096, 4096, tile.Int8, small, map[tile.Blocks]float64{small: 1}))
	table.Put(row(256, 256, 256, tile.Int8, small, nil))
	want := []Cost{{Source: NearestBatch, Rows: 2, Unknown: 1, Mean: 1.5, Worst: 1.5}}
	if d := cmp.Diff(want, table.Costs()); d != "" {
		t.Error(d)
	}
}

func TestParseRefuses(t *testing.T) {
	const good = "{kernel: v4_optblock, shape: 1x2x3, a: int8, out: int32, blocks: 1x1x1, mode: measured, seconds: 1, versions: v, date: d}"
	if _, err := Parse("t.yaml", []byte("machine: m\nrows:\n  - "+good+"\n")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"", "t.yaml: empty"},
		{"rows: []", "t.yaml: no machine named"},
		{"machine: m\ncolour: 3", "t.yaml:2: unknown key colour of a table (known: machine, rows)"},
		{"machine: m\nrows:\n  - {kernel: a\n  - {}", "t.yaml:3: not YAML: "},
		{"machine: [", "t.yaml:1: not YAML: "},
		{"machine: m\nrows: []\n---\nmachine: m\n", "t.yaml: more than one YAML document"},
		{"machine: m\nrows: []\n---\n[", "t.yaml: more than one YAML document"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: .inf", 1), "t.yaml:3: seconds +Inf"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: .nan", 1), "t.yaml:3: seconds NaN"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, samples: -1", 1), "t.yaml:3: samples -1: want"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, behind: .nan", 1), "t.yaml:3: behind NaN: want"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, tried: {1x1x1: .nan}", 1), "t.yaml:3: tried 1x1x1: NaN: want"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, tried: {1x1x1: 0}", 1), "t.yaml:3: tried 1x1x1: 0: want"},
		{"\xff\xfe\x00", "t.yaml: not YAML: "},
		{"notes", `t.yaml:1: "notes": want machine and rows`},
		{"- a", "t.yaml:1: want machine and rows"},
		{"machine: m\nrows: 3", `t.yaml:2: "3": want a list of rows`},
		{"machine: m\nrows:\n  - 3", `t.yaml:3: "3": want a row, written as {key: value}`},
		{"machine: m\nmachine: m", "t.yaml:2: key machine is given twice, first in line 1"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: soon", 1), `t.yaml:3: "soon": want a number`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, tried: 3", 1), `t.yaml:3: "3": want block shapes, each with a number`},
		{"machine: m\nrows:\n  - " + good + "\n  - " + good, "t.yaml:4: a second row for v4_optblock 1x2x3 int8×int8→int32"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "1x2x3", "1x2", 1), `t.yaml:3: shape "1x2": want m×k×n`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "int32", "int3", 1), "t.yaml:3: "},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "measured", "guessed", 1), `t.yaml:3: mode "guessed"`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 0", 1), "t.yaml:3: seconds 0"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, interval: [2, 3]", 1), "t.yaml:3: seconds 1 with the interval [2 3]"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, rival: 8x8x8, rival_ratio: 1.2, rival_interval: [1.3, 1.4], rival_rounds: 6", 1), "t.yaml:3: rival_ratio 1.2 with the interval [1.3 1.4] of 6 rounds"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, candidates: 14/6", 1), `t.yaml:3: candidates "14/6": want launched/all`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, candidates: many", 1), `t.yaml:3: candidates "many"`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, ended: badly", 1), `t.yaml:3: ended "badly": want evidence or budget`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds", "secs", 1), "t.yaml:3: unknown key secs of a row"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "mode", "params: b, mode", 1), `t.yaml:3: params "b": parameter "b": want key=value`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "mode", "params: b=1 b=2, mode", 1), `t.yaml:3: params "b=1 b=2": parameter b is given twice`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "mode", "params: b=1, params_gain: 1.1, params_interval: [1.2, 1.3], params_rounds: 6, mode", 1), "t.yaml:3: params_gain 1.1 with the interval [1.2 1.3] of 6 rounds: want"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "mode", "params: b=1, mode", 1), "t.yaml:3: params_gain 0 with the interval [] of 0 rounds: want"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "mode", "params_gain: 1.1, mode", 1), "t.yaml:3: params_gain, params_interval or params_rounds without params"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "mode", "adjustments: -1, mode", 1), "t.yaml:3: adjustments -1: want"},
	} {
		_, err := Parse("t.yaml", []byte(test.text))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: have %v, want %s", test.text, err, test.want)
		}
	}
}

// TestComments: what people have written into a file stays when it is written anew, above
// the row that it is about, also if another takes its place.
func TestComments(t *testing.T) {
	const a, b = "{kernel: v4_optblock, shape: 1x1x1, a: int8, out: int32, blocks: 1x1x1, mode: measured, seconds: 1, versions: a  b, date: d}", "{kernel: v4_optblock, shape: 2x1x1, a: int8, out: int32, blocks: 1x1x1, mode: measured, seconds: 1, versions: '" + "# no: comment" + "', date: d}"
	table, err := Parse("t.yaml", []byte("# mine\n"+heading+"\nmachine: 'a: b'\n\n# all\nrows:\n  # of 2, one\n\n  # of 2, two\n  - "+b+" # of 2, three\n# of 1\n  - "+a+"\n  # end\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := heading + "\n# mine\n# all\n# end\nmachine: 'a: b'\nrows:\n  # of 1\n  - " + a + "\n  # of 2, one\n  # of 2, two\n  # of 2, three\n  - " + b + "\n"
	for range 2 {
		var text bytes.Buffer
		if _, err := table.WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, text.String()); d != "" {
			t.Error(d)
		}
		if table, err = Parse("t.yaml", text.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	again := table.Rows[0]
	again.Comment = ""
	if table.Put(again); table.Rows[0].Comment != "# of 1\n" {
		t.Errorf("%+v", table.Rows[0])
	}
}

// TestLongLines: neither a long file nor a long line is too long.
func TestLongLines(t *testing.T) {
	want := &Table{Machine: "m"}
	for m := range 3 {
		r := row(1+m, 1, 1, tile.Int8, tile.Blocks{M: 1, K: 1, N: 1}, nil)
		r.Evidence.Versions = strings.Repeat("a  'b' \"c\": {d}, \t\\", 10000)
		want.Put(r)
	}
	var text bytes.Buffer
	if _, err := want.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	have, err := Parse("t.yaml", text.Bytes())
	if d := cmp.Diff(want, have); err != nil || d != "" {
		t.Error(err, d)
	}
}

// TestWriteFile leaves the old file where the new one cannot be written.
func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	table := &Table{Machine: "m"}
	if err := table.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	table.Put(row(1, 1, 1, tile.Int8, tile.Blocks{M: 1, K: 1, N: 1}, nil))
	if err := table.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	have, err := ReadFile(path)
	if d := cmp.Diff(table, have); d != "" || err != nil {
		t.Error(d, err)
	}
	if err := table.WriteFile(filepath.Join(path, "below.yaml")); err == nil {
		t.Error("written below a file")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestTuples(t *testing.T) {
	python := `# a comment
TUNED = {
    (6, 1024, 1280, 8192, 'int8', 'int8'): (1024, 256, 8192),
    TunedKey(7, 16, 28672, 4096, "float8_e4m3fn", "float8_e4m3fn",):
        TunedValue(16, 512, 4096, 1),
}`
	want := []Tuple{
		{6, 1024, 1280, 8192, tile.Int8, tile.Int8, tile.Blocks{M: 1024, K: 8192, N: 256}, 3},
		{7, 16, 28672, 4096, tile.Float8E4M3FN, tile.Float8E4M3FN, tile.Blocks{M: 16, K: 4096, N: 512}, 4},
	}
	have, err := ParseTuples("tuned.py", []byte(python))
	if d := cmp.Diff(want, have); d != "" || err != nil {
		t.Error(d, err)
	}
	have, err = ParseTuples("v6.json", []byte(`{"16,28672,4096,float8_e4m3fn,float8_e4m3fn": {"config": {"batch_block_size": 16, "out_block_size": 512, "in_block_size": 4096}},
		"1024,1280,8192,int8,int8": [1024, 256, 8192]}`))
	for i := range want {
		want[i].Version, want[i].Line = 0, 0
	}
	sortTuples(want)
	if d := cmp.Diff(want, have); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, bad := range []string{"", "x = 3", `{"1,2,3": [1,2,3]}`, `{"1,2,3,int8,int8": [1]}`, `{"1,2,0,int8,int8": [1,1,1]}`,
		"(6, 1, 1, 1, 'int3', 'int8'): (1, 1, 1)"} {
		if list, err := ParseTuples("f", []byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, list)
		}
	}
}
