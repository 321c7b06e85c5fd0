package tuned

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/problem"
	"matladder/tile"

	"github.com/google/go-cmp/cmp"
)

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
				p := r.Problem.(problem.Matmul)
				r.Variant = "fused"
				if p.Batch = 3; p.A == tile.Float32 {
					p.Precision = tile.Highest
				} else if p.A == tile.Int8 {
					p.Quant, p.Activation, p.Out = "per_tensor", problem.Gelu, tile.BFloat16
				}
				r.Problem = p
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

func TestParseRefuses(t *testing.T) {
	const good = "{kernel: v4_optblock, shape: 1x2x3, a: int8, out: int32, blocks: 1x1x1, mode: measured, seconds: 1, versions: v, date: d}"
	if _, err := Parse("t.yaml", []byte("machine: m\nrows:\n  - "+good+"\n")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"", "t.yaml: empty"},
		{"rows: []", "t.yaml:1: a table needs the key machine"},
		{"machine: m\ncolour: 3", "t.yaml:2: unknown key \"colour\" of a table (known: machine, rows)"},
		{"machine: m\nrows:\n  - {kernel: a\n  - {}", "t.yaml:3: not YAML: "},
		{"machine: [", "t.yaml:1: not YAML: "},
		{"machine: m\nrows: []\n---\nmachine: m\n", "t.yaml:3: a second document"},
		{"machine: m\nrows: []\n---\n[", "t.yaml:4: not YAML: "},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: .inf", 1), "t.yaml:3: seconds +Inf"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: .nan", 1), "t.yaml:3: seconds NaN"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, samples: -1", 1), "t.yaml:3: samples -1: want"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, behind: .nan", 1), "t.yaml:3: behind NaN: want"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, tried: {1x1x1: .nan}", 1), "t.yaml:3: tried 1x1x1: NaN: want"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, tried: {1x1x1: 0}", 1), "t.yaml:3: tried 1x1x1: 0: want"},
		{"\xff\xfe\x00", "t.yaml: not YAML: "},
		{"notes", "t.yaml:1: want a table, written as key: value"},
		{"- a", "t.yaml:1: want a table, written as key: value"},
		{"machine: m\nrows: 3", "t.yaml:2: rows: want a list"},
		{"machine: m\nrows:\n  - 3", "t.yaml:3: want a row, written as key: value"},
		{"machine: m\nmachine: m", "t.yaml:2: key machine is given twice"},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: soon", 1), `t.yaml:3: seconds: "soon": want a number`},
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds: 1", "seconds: 1, tried: 3", 1), `t.yaml:3: tried: "3": want block shapes, each with a number`},
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
		{"machine: m\nrows:\n  - " + strings.Replace(good, "seconds", "secs", 1), `t.yaml:3: unknown key "secs" of a row`},
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
