package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/cpu/cputest"
	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/cli"
	"matladder/kernels"
	"matladder/problem"
	"matladder/stats/interval"
	"matladder/tile"
)

func TestMain(m *testing.M) { os.Exit(cputest.Main(m, 0, 1)) }

// fake times block shapes by a rule, with noise and drift, on a clock of its own.
type fake struct {
	backend.Backend
	rng           *rand.Rand
	clock         time.Time
	seconds       func(tile.Blocks) float64
	wrong, broken tile.Blocks // its output does not pass; does not compile
	open          int
}

func newFake(seconds func(tile.Blocks) float64) *fake {
	return &fake{rng: rand.New(rand.NewPCG(1, 1)), clock: time.Unix(1e9, 0), seconds: seconds}
}

// exe runs one block shape.
type exe struct {
	backend.Executable
	f *fake
	b tile.Blocks
}

func (f *fake) Compile(_ context.Context, programs []*tile.Program, _ backend.Params) (backend.Executable, error) {
	e := &exe{f: f}
	for _, r := range programs[0].Refs {
		switch r.Name {
		case "a":
			e.b.M, e.b.K = r.Block[0], r.Block[1]
		case "b":
			e.b.N = r.Block[1]
		}
	}
	if e.b == f.broken {
		return nil, errors.New("does not compile")
	}
	f.open++
	return e, nil
}

func (e *exe) LoadSeeded(context.Context, backend.InputSpec) error { return nil }
func (e *exe) Poison(context.Context) error                        { return nil }
func (e *exe) Close() error                                        { e.f.open--; return nil }

func (e *exe) Check(context.Context, backend.CheckSpec) (backend.CheckResult, error) {
	return backend.CheckResult{OK: e.b != e.f.wrong, Detail: "zeros"}, nil
}

func (e *exe) Run(ctx context.Context, launches int) (backend.Sample, error) {
	drift := 1 + 0.1*math.Sin(float64(e.f.clock.UnixNano())/1e10) // what interleaving cancels
	noise := 1 + 0.02*math.Abs(e.f.rng.NormFloat64())
	d := time.Duration(e.f.seconds(e.b) * float64(launches) * drift * noise * 1e9)
	e.f.clock = e.f.clock.Add(d)
	return backend.Sample{Elapsed: d}, ctx.Err()
}

func auditor(f *fake) *Auditor {
	return &Auditor{Tuner: tune.Tuner{Backend: f, Space: tune.Space{Workers: 2, Most: 30}, Versions: "v"}, now: func() time.Time { return f.clock }}
}

func job(n int) tune.Job {
	return tune.Job{Kernel: kernels.All[3], Problem: problem.New(n, n, n, tile.Float32)}
}

// valley is fastest at 256×512×1024.
func valley(b tile.Blocks) float64 {
	off := func(have int, want float64) float64 { d := math.Log2(float64(have) / want); return d * d }
	return 0.01 * (1 + 0.05*(off(b.M, 256)+off(b.K, 512)+off(b.N, 1024)))
}

// adjuster has an adjustment that audits leave alone.
type adjuster struct{ *fake }

var _ backend.Adjuster = adjuster{}

func (adjuster) Adjustments(context.Context, []*tile.Program, backend.Params) ([]backend.Params, error) {
	panic("an audit compares block shapes")
}

// predictor predicts, so that there is nothing to race.
type predictor struct{ *fake }

func (predictor) Predict(context.Context, []*tile.Program, backend.Params) (backend.Prediction, error) {
	return backend.Prediction{}, nil
}

// audit runs the auditor on a fake.
func audit(t *testing.T, f *fake, most, n int) Audit {
	t.Helper()
	a := auditor(f)
	a.Tuner.Space.Most, a.Tuner.Backend = most, adjuster{f}
	out, err := a.Audit(context.Background(), job(n))
	if err != nil {
		t.Fatal(err)
	}
	if f.open != 0 {
		t.Errorf("%d executables left open", f.open)
	}
	return out
}

// TestAudit: where the tuner sees few candidates, of which none is good, the
// exhaustive search finds the best of all under drift and noise, and the ratios are
// those of the landscape.
func TestAudit(t *testing.T) {
	f := newFake(valley)
	a := audit(t, f, 2, 4096)
	best := tile.Blocks{M: 256, K: 512, N: 1024}
	if valley(a.Exhaustive.Blocks) > 1.01*valley(best) {
		t.Errorf("chose %v", a.Exhaustive.Blocks)
	}
	if want := 7 * 7 * 7; a.Exhaustive.Candidates < want || a.Tuner.Candidates != 2+5 || a.Samples != 30 {
		t.Errorf("%d and %d candidates, %d samples", a.Exhaustive.Candidates, a.Tuner.Candidates, a.Samples)
	}
	for _, r := range []struct {
		have  interval.Interval
		other tile.Blocks
	}{{a.OverExhaustive, a.Exhaustive.Blocks}, {a.OverDefault, a.Default}} {
		want := valley(r.other) / valley(a.Tuner.Blocks)
		if r.other == a.Tuner.Blocks && r.have != (interval.Interval{Median: 1, Lo: 1, Hi: 1}) || math.Abs(r.have.Median-want) > 0.01 || r.have.Lo > r.have.Hi {
			t.Errorf("%+v over %v, want %.3f", r.have, r.other, want)
		}
	}
	first := tile.Blocks{M: 128, K: 128, N: 128} // of the sweep of a machine that does not tell what its cores do
	if want := valley(first) / valley(a.Exhaustive.Blocks); a.First != first || a.Default == first || math.Abs(a.OverFirst.Median-want) > 0.01*want || a.OverFirst.Lo <= 1 {
		t.Errorf("first %v, %+v, want %v, %.3f; the fastest of its own %v", a.First, a.OverFirst, first, want, a.Default)
	}
	// 1/30 of the candidates, each once and the best some more: far below the cost.
	if r := a.Tuner.Launching.Seconds() / a.Exhaustive.Launching.Seconds(); r > 0.1 || a.Short >= a.Exhaustive.Launching || a.Exhaustive.Elapsed < a.Exhaustive.Launching {
		t.Errorf("cost %.3f, %v %v", r, a.Short, a.Exhaustive)
	}
	// The fake's clock is of launches alone; what the reference takes in later heats is
	// not counted.
	if a.Tuner.Elapsed != a.Tuner.Launching {
		t.Errorf("%v of launches in %v", a.Tuner.Launching, a.Tuner.Elapsed)
	}
}

// TestAudit_Needle: one shape in hundreds that the counts do not favour.
func TestAudit_Needle(t *testing.T) {
	needle := tile.Blocks{M: 64, K: 4096, N: 64}
	f := newFake(func(b tile.Blocks) float64 {
		if b == needle {
			return 0.0098
		}
		return 0.01
	})
	a := audit(t, f, 2, 4096)
	if a.Exhaustive.Blocks != needle || a.OverExhaustive.Hi >= 1 || math.Abs(a.OverExhaustive.Median-0.98) > 0.01 {
		t.Errorf("%+v", a)
	}
}

// TestAudit_Faults: shapes that do not compile take no part, one whose output is
// wrong does not win.
func TestAudit_Faults(t *testing.T) {
	f := newFake(valley)
	f.broken = tile.Blocks{M: 128, K: 128, N: 128} // the first of the kernel's own
	f.wrong = tile.Blocks{M: 256, K: 512, N: 512}
	whole := audit(t, newFake(valley), 1000, 512).Exhaustive.Candidates
	a := audit(t, f, 1000, 512)
	if a.Exhaustive.Candidates != whole-1 || a.Exhaustive.Blocks == f.wrong || a.Tuner.Blocks == f.wrong || valley(a.Exhaustive.Blocks) > 1.07*valley(f.wrong) {
		t.Errorf("%d of %d, %+v", a.Exhaustive.Candidates, whole, a)
	}
	if second := (tile.Blocks{M: 256, K: 256, N: 256}); a.First != second {
		t.Errorf("first %v, want %v, as the first does not compile", a.First, second)
	}
	f.broken = tile.Blocks{M: 64, K: 64, N: 64}
	u := auditor(f)
	if _, err := u.Audit(context.Background(), job(64)); !errors.Is(err, tune.ErrNone) {
		t.Error(err)
	}
	u.Tuner.Backend = predictor{f}
	if _, err := u.Audit(context.Background(), job(64)); err == nil || !strings.Contains(err.Error(), "predicts") {
		t.Error(err)
	}
}

// TestAudit_Budget: candidates have fewer samples, all of them the fewest that have
// an interval; a cancelled audit leaves nothing open.
func TestAudit_Budget(t *testing.T) {
	f := newFake(valley)
	a := auditor(f)
	a.Budget = time.Second
	out, err := a.Audit(context.Background(), job(2048))
	if err != nil || out.Samples != interval.Enough || out.Row.Params != "" {
		t.Errorf("%v, %d samples", err, out.Samples)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.Tuner.Observe = func(e tune.Event) {
		if e.Round == 0 && e.Racing == 0 && e.Screened > 20 && e.Screened < e.Candidates {
			cancel()
		}
	}
	if _, err := a.Audit(ctx, job(2048)); !errors.Is(err, context.Canceled) || f.open != 0 {
		t.Errorf("%v, %d open", err, f.open)
	}
}

// audits are two made-up ones.
func audits() []Audit {
	small, large := tile.Blocks{M: 64, K: 64, N: 64}, tile.Blocks{M: 128, K: 128, N: 96}
	key := tuned.KeyOf("v4_optblock", "", problem.New(128, 128, 96, tile.Int8))
	other := tuned.KeyOf("v4_optblock", "", problem.New(128, 256, 96, tile.Float32))
	evidence := tuned.Evidence{Mode: tuned.Measured, Seconds: 1, Low: 1, High: 1, Versions: "v", Date: "2026-11-22"}
	return []Audit{
		{tuned.Row{Key: key, Blocks: large, Evidence: evidence}, Search{large, 10, time.Second, 2 * time.Second}, Search{large, 30, 20 * time.Second, 22 * time.Second},
			small, small, 30, 5 * time.Second, interval.Interval{Median: 1, Lo: 1, Hi: 1}, interval.Interval{Median: 1.21, Lo: 1.2, Hi: 1.25, N: 30}, interval.Interval{Median: 1.24, Lo: 1.22, Hi: 1.25, N: 30}},
		{tuned.Row{Key: other, Blocks: small, Evidence: evidence}, Search{small, 10, time.Second, 2 * time.Second}, Search{large, 30, 20 * time.Second, 22 * time.Second},
			small, large, 20, 5 * time.Second, interval.Interval{Median: 0.81, Lo: 0.8, Hi: 0.82, N: 30}, interval.Interval{Median: 1, Lo: 1, Hi: 1}, interval.Interval{Median: 1, Lo: 1, Hi: 1}},
	}
}

func TestWriteReport(t *testing.T) {
	var b bytes.Buffer
	if err := writeReport(&b, audits()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 128×128×96 | v4_optblock | int8→int32 | 128×128×96 | 128×128×96 | 64×64×64 | 64×64×64 | 1 | same shape | 1.210 | 1.200 – 1.250 | 1.240 | 1.220 – 1.250 | 10 of 30 | 1.0 s of 20.0 s | 5.0 % |\n",
		"| 128×256×96 | v4_optblock | float32 | 64×64×64 | 128×128×96 | 64×64×64 | 128×128×96 | 0.810 | 0.800 – 0.820 | 1 | same shape | 1 | same shape |",
		"\n- the tuner's blocks are 0.900 × as fast as the best of the exhaustive search in the geometric mean of 2, least 0.810 × at 128×256×96; the same in 1; slower beyond the interval in 1: 128×256×96 (0.810)\n",
		"\n- the tuner's blocks are 1.100 × as fast as the fastest of the kernel's own candidates in the geometric mean of 2, least 1.000 × at 128×256×96; the same in 1; slower beyond the interval in none\n",
		"\n- the kernel's first choice takes 1.120 × as long as the best of the exhaustive search in the median of 2, 1.240 × at most, at 128×128×96; the same in 1; longer beyond the interval in 1: 128×128×96 (1.240)\n",
		"launches 20 of 60 block shapes and takes 5.0 % of the time of launches (2.0 s of 40.0 s), 9.1 % of the wall time (4.0 s of 44.0 s); each shape of the exhaustive search has 20 samples or more, and the tuner takes 20.0 % of one that stops at 6",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	b.Reset()
	if err := writeAudits(&b, audits()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 3 || rows[2][17] != "0.8" || rows[0][17] != "over_exhaustive_low" || rows[0][22] != "over_first" || rows[1][22] != "1.24" || rows[1][len(rows[1])-1] != "22" {
		t.Errorf("%v %q", err, rows)
	}
}

func TestTimeLookups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.yaml")
	var table tuned.Table
	var rows []tuned.Row
	table.Machine = "m"
	for _, a := range audits() {
		rows = append(rows, a.Row)
		table.Put(a.Row)
	}
	if err := table.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if list, err := timeLookups(path, rows); err != nil || len(list) != 2 || list[0] <= 0 {
		t.Errorf("%v %v", list, err)
	}
	rows[1].Blocks.M++
	if _, err := timeLookups(path, rows); err == nil {
		t.Error("other blocks than the table's were found")
	}
}

// TestRun audits two small problems, and writes what it finds.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"sweep.yaml": "name: small\nsizes: [33, 24x36x40]\nkernels: [4]\ndtypes: [float32, int8]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	audits := func(ctx context.Context, args ...string) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		code = run(ctx, append([]string{"--config", "sweep.yaml", "--threads", "1", "--rounds", "6", "--candidates", "2"}, args...), &out, &errs)
		return code, out.String(), errs.String()
	}
	code, stdout, stderr := audits(t.Context(), "--csv", "sub/a.csv")
	if code != cli.OK || !strings.HasSuffix(stderr, "\nsub/a.csv\n") {
		t.Fatalf("%d\n%s\n%s", code, stdout, stderr)
	}
	for _, want := range []string{"Measured on ", "| 33 | v4_optblock | float32 | ", "| 24×36×40 | v4_optblock | int8→int32 | ", "from a table of 2 rows in "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if rows, err := os.ReadFile("sub/a.csv"); err != nil || strings.Count(string(rows), "\n") != 3 {
		t.Errorf("%v\n%s", err, rows)
	}
	if files, _ := filepath.Glob("configs/tuned/*"); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, stderr := audits(cancelled); code != cli.Interrupted || !strings.Contains(stderr, "nothing to keep") {
		t.Errorf("cancelled: %d %s", code, stderr)
	}
	for args, want := range map[string]string{
		"--backend aot":     `backend`,
		"--rounds 5":        "an interval takes 6",
		"--csv .":           "cannot write .: it is a folder",
		"--config nope":     "--config: ",
		"--time-budget -1s": "none may be negative",
		"v4":                `unexpected argument "v4"`,
	} {
		if code, stdout, stderr := audits(t.Context(), strings.Fields(args)...); code == cli.OK || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d %q %q", args, code, stdout, stderr)
		}
	}
}
