package harness

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/internal/goldentest"
	"matladder/problem"
	"matladder/tile"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	c, err := Parse("dir/mine.yaml", []byte(`
sizes:
  - 512
  - 512×1024x2048
  - {start: 100, end: 1000, multiplier: 3}
  - {m: [1, 16], k: 4096, n: {start: 7, end: 9, step: 2}}
kernels: [0, v3_block, 5, naive]
dtypes: [bfloat16, {a: int8, out: bfloat16, quant: per_tensor}]
blocks: [512x1024x1024, 64x64x64]
precision: highest
together: true
time_budget: 90s
timeout: 1m30s
rounds: {max: 12}
repetitions: 3
warmup: 0
seed: -7
dist: integers
threads: 3
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Name:   "mine",
		Family: problem.MatmulFamily,
		Sizes: []problem.Sizes{{512, 512, 512, 1}, {512, 1024, 2048, 1}, {100, 100, 100, 1}, {300, 300, 300, 1}, {900, 900, 900, 1},
			{1, 4096, 7, 1}, {1, 4096, 9, 1}, {16, 4096, 7, 1}, {16, 4096, 9, 1}},
		Kernels:    []int{0, 3, 5, 1},
		Asked:      []problem.Asked{{A: tile.BFloat16, B: tile.BFloat16, Out: tile.BFloat16}, {A: tile.Int8, B: tile.Int8, Out: tile.BFloat16, Quant: problem.PerTensor}},
		Blocks:     []tile.Blocks{{M: 512, K: 1024, N: 1024}, {M: 64, K: 64, N: 64}},
		Precisions: []tile.Precision{tile.Highest},
		Batches:    []int{1},
		Together:   true,
		TimeBudget: 90 * time.Second, Timeout: 90 * time.Second,
		MinRounds: 6, MaxRounds: 12, Repetitions: 3, Warmup: 0, Seed: -7, Inputs: []string{"integers"}, Threads: 3, Window: 10 * time.Second, Cool: -1,
	}
	if diff := cmp.Diff(want, c, cmp.Comparer(func(a, b *problem.Family) bool { return a == b })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseDtypes(t *testing.T) {
	bf16, i8, i4 := tile.BFloat16, tile.Int8, tile.Int4
	for text, want := range map[string]problem.Asked{
		"int8":                                          {A: i8, B: i8, Out: tile.Int32},
		"bfloat16xbfloat16:float32":                     {A: bf16, B: bf16, Out: tile.Float32},
		"int8:per_channel+token":                        {A: i8, B: i8, Out: bf16, Quant: "per_channel+token"},
		"int8:float32:per_tensor:bias":                  {A: i8, B: i8, Out: tile.Float32, Quant: "per_tensor", Epilogue: "bias"},
		"bfloat16×int4:gelu:per_block128":               {A: bf16, B: i4, Out: bf16, Quant: "per_block128", Epilogue: "gelu"},
		"float32xint8:per_channel+dynamic_token+zero_a": {A: tile.Float32, B: i8, Out: tile.Float32, Quant: "per_channel+dynamic_token+zero_a"},
	} {
		if got, err := ParseDtypes(problem.MatmulFamily, text); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	list, err := ParseDtypes(problem.AttentionFamily, "float32:causal+window5,-,bfloat16:window3,0,float32")
	if err != nil || len(list) != 3 || list[0].Options != "causal+window5,-" || list[1].Options != "window3,0" {
		t.Errorf("with commas of their own: %+v, %v", list, err)
	}
	for text, want := range map[string]string{
		"int9": "unknown dtype", "int8xint9": "unknown dtype", "bfloat16xint8": "need an output dtype", "int8:": "neither",
		"int8:per_row": "neither", "int8:bias:relu": "said twice", "int8:per_tensor:per_channel": "said twice",
		"float32:per_tensor": "it quantizes", "int8:int32:per_tensor": "output", "int8:gelu": "needs a float",
	} {
		if got, err := ParseDtypes(problem.MatmulFamily, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", text, got, err, want)
		}
	}
}

// TestParse_Refuses has one message a line, so that they can be read as prose.
func TestParse_Refuses(t *testing.T) {
	var got strings.Builder
	for _, text := range []string{
		"",
		"# nothing\n",
		"sizes: [1",
		"sizes: [1]\nkernels: [1\nseed: 1",
		"sizes: [1]\nkernels: [1]\n  seed: 1",
		"sizes: [1]\n]\n",
		"sizes: \"1\n",
		"\tsizes: [1]",
		"sizes: [1]\n\tseed: 1\n",
		"- 128",
		"name: x",
		"sizes: 128\nsize: 256",
		"sizes: 128\nsizes: 256",
		"sizes: 128\n---\nsizes: 256",
		"sizes: []",
		"sizes: [128, 256, 128]",
		"sizes: [128, {start: 64, end: 256, multiplier: 2}]",
		"sizes: 0",
		"sizes: -128",
		"sizes: 12.5",
		"sizes: 128x256",
		"sizes: 128x0x256",
		"sizes: 99999999999999999999",
		"sizes: 4000000000x4000000000x4000000000",
		"sizes: {start: 128}",
		"sizes: {start: 128, end: 64, multiplier: 2}",
		"sizes: {start: 128, end: 256, multiplier: 1}",
		"sizes: {start: 128, end: 256}",
		"sizes: {start: 128, end: 256, step: 1, multiplier: 2}",
		"sizes: {start: 1, end: 1000000000, step: 1}",
		"sizes: {start: 1, end: 9000000000000000000, multiplier: 9000000000000000000}",
		"sizes: {m: 1, k: 2}",
		"sizes: {m: {start: 1, end: 50000, step: 1}, k: {start: 1, end: 50000, step: 1}, n: 1}",
		"sizes: {m: 1, k: [], n: 1}",
		"sizes: [[128]]",
		"sizes: 128\nkernels: [1, 9]",
		"sizes: 128\nkernels: [1, v1_naive]",
		"sizes: 128\nkernels: []",
		"sizes: 128\ndtypes: float64",
		"sizes: 128\ndtypes: int32",
		"sizes: 128\ndtypes: {a: int8, quant: fancy}",
		"sizes: 128\ndtypes: {a: int8, b: bfloat16}",
		"sizes: 128\ndtypes: {a: int8, b: bfloat16, out: float32}",
		"sizes: 128\ndtypes: {a: int8, c: int8}",
		"sizes: 128\ndtypes: {out: int8}",
		"sizes: 128\nblocks: 128",
		"sizes: 128\nblocks: [128x0x128]",
		"sizes: 128\nprecision: fast",
		"sizes: 128\ntime_budget: 60",
		"sizes: 128\ntogether: yes",
		"sizes: 128\ntimeout: 0s",
		"sizes: 128\nrounds: 5",
		"sizes: 128\nrounds: {min: 0}",
		"sizes: 128\nrounds: {min: 9, max: 3}",
		"sizes: 128\nrepetitions: many",
		"sizes: 128\nseed: 1e9",
		"sizes: 128\ninputs: [zeros, bits:24]",
		"sizes: 128\nthreads: -1",
		"sizes: &s 128\nkernels: *t",
	} {
		_, err := Parse("sweep.yaml", []byte(text))
		var at *ConfigError
		if !errors.As(err, &at) {
			t.Errorf("%q is accepted, or refused without a place: %v", text, err)
			continue
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %v", text, err)
		}
		fmt.Fprintf(&got, "%s\n    %s\n", strings.ReplaceAll(text, "\n", "⏎"), err)
	}
	goldentest.Assert(t, "testdata/refused.golden", []byte(got.String()))
	if _, err := Parse("x.yaml", []byte("sizes: 1\nname: \xff\n")); err == nil || !strings.HasPrefix(err.Error(), "x.yaml:2: not YAML: ") {
		t.Errorf("bytes that are not UTF-8: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("sizes: {start: 128, end: 1024, multiplier: 2}\nkernels: [1, 2]\ndtypes: [int8, {a: int8, out: float32, quant: per_tensor}]\n")
	f.Add("sizes: [{m: [1, 2], k: {start: 1, end: 9, step: 4}, n: 3}, 5x6x7]\nblocks: all\nrounds: {min: 1, max: 2}\n")
	f.Add("a: &a [*a]\nsizes: *a\n")
	f.Add("sizes: &x [1, 2]\nkernels: *x\n<<: *x\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("f.yaml", []byte(text))
		var at *ConfigError
		if err != nil {
			if !errors.As(err, &at) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("not one line with a place: %q", err)
			}
			return
		}
		if len(c.Sizes) == 0 || len(c.Sizes) > maxShapes || len(c.Kernels) == 0 || len(c.Asked) == 0 || c.MinRounds < 1 || c.Repetitions < 1 {
			t.Fatalf("accepted: %+v", c)
		}
		if c.Sizes = c.Sizes[:min(len(c.Sizes), 10)]; len(c.Blocks) > 10 {
			c.Blocks = c.Blocks[:10]
		}
		s, err := Plan(t.Context(), c, newFake().device, backend.Params{})
		if err != nil {
			t.Fatalf("accepted but not planned: %v", err)
		}
		if e := s.Estimate(); e.Points == 0 || e.Bytes < 0 || e.Time < 0 {
			t.Fatalf("estimate %+v of %+v", e, c)
		}
	})
}

func TestPlan(t *testing.T) {
	c := Default(problem.MatmulFamily)
	c.Kernels = rungs
	c.Sizes = []problem.Sizes{{100, 200, 300, 1}, {1024, 1024, 1024, 1}}
	c.Precisions = []tile.Precision{tile.Default, tile.Highest}
	s, err := Plan(t.Context(), c, newFake().device, backend.Params{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Groups) != 2*4 { // float32 alone has a precision
		t.Errorf("%d groups, want 2 sizes × (2 of float32, bfloat16, int8)", len(s.Groups))
	}
	for _, g := range s.Groups {
		for _, p := range g.Points {
			rung := p.Contender.(Rung)
			if rung.Blocks != problem.Clip(g.Problem, rung.Blocks) {
				t.Errorf("%s: blocks larger than the arrays", p)
			}
			if want := rung.Number() < 4; want != (rung.Source == FixedBlocks) {
				t.Errorf("%s: blocks are %s", p, rung.Source)
			}
		}
	}
	c.Blocks = []tile.Blocks{{M: 512, K: 512, N: 512}, {M: 256, K: 256, N: 512}, {M: 1024, K: 1024, N: 1024}}
	s, err = Plan(t.Context(), c, newFake().device, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for p := range s.Points() {
		count[fmt.Sprint(p.Problem.Sizes()[0], p.Contender.(Rung).Source)]++
	}
	want := map[string]int{"100fixed": 4 * 3, "1024fixed": 4 * 3, "100given": 4 * 2 * 1, "1024given": 4 * 2 * 3}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("points by size and source of blocks, -want +got:\n%s", diff)
	}
}

func TestEstimate(t *testing.T) {
	c := Default(problem.MatmulFamily)
	c.Sizes, c.Asked = []problem.Sizes{{4096, 4096, 4096, 1}}, c.Asked[:1]
	s, err := Plan(t.Context(), c, newFake().device, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	e := s.Estimate()
	matrix := int64(4096 * 4096 * 4)
	if e.Points != len(s.Groups[0].Points) || e.Largest != 4*matrix || e.Bytes != 512<<20 {
		t.Errorf("%+v: want 4 matrices of %d for a point, and half of the memory for a group", e, matrix)
	}
	launch := 2 * float64(s.Groups[0].Problem.FLOPs()) / 1e10
	runs := 0
	for _, p := range s.Groups[0].Points {
		if p.Status == "" { // a kernel that does not take the problem takes no time
			runs++
		}
	}
	if want := launch * float64(7*runs); e.Time.Seconds() < want || e.Time.Seconds() > 1.1*want {
		t.Errorf("time %s, want about %g s", e.Time, want)
	}
	s.Config.TimeBudget = 10 * time.Minute
	if e := s.Estimate(); e.Time != 10*time.Minute || !e.Budgeted {
		t.Errorf("with a budget: %+v", e)
	}
	s.Config.TimeBudget = time.Second
	if e := s.Estimate(); e.Time.Seconds() < launch*float64(runs) || e.Time.Seconds() > 1.1*launch*float64(runs) || !e.Budgeted {
		t.Errorf("with a budget below one round: %+v", e)
	}
}

func TestFingerprint(t *testing.T) {
	if a, b := fingerprint([]*problem.Family{problem.MatmulFamily}), fingerprint([]*problem.Family{problem.MatmulFamily}); a != b || len(a) != 8 {
		t.Errorf("fingerprints %s and %s of the same kernels", a, b)
	}
}

func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		times []float64
		want  bool
	}{
		{nil, false},
		{[]float64{1, 1, 1, 1, 1}, false}, // too few to be sure
		{[]float64{1, 1, 1, 1, 1, 1}, true},
		{[]float64{1, 1, 1, 1, 1, 1.03}, false},
		{[]float64{1, 1.01, 1.01, 1.01, 1.01, 1.02}, true},
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9}, true}, // one outlier among many
	} {
		if got := narrow(c.times); got != c.want {
			t.Errorf("narrow(%v) = %v", c.times, got)
		}
	}
}

// BenchmarkPlan is bench --dry-run of 10 000 points: the target is a second and
// 100 MB.
func BenchmarkPlan(b *testing.B) {
	c := Default(problem.MatmulFamily)
	c.Kernels = rungs
	for i := range 10_000 / (3 * 8) {
		c.Sizes = append(c.Sizes, problem.Sizes{512 + i, 512, 512, 1})
	}
	for b.Loop() {
		s, err := Plan(b.Context(), c, newFake().device, backend.Params{})
		if err != nil {
			b.Fatal(err)
		}
		e := s.Estimate()
		b.ReportMetric(float64(e.Points), "points")
	}
	b.ReportAllocs()
}
