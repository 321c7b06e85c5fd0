package tune

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/stats/interval"
	"matladder/tile"
)

// fake times block shapes by a rule, with noise and drift, on a clock of its own.
type fake struct {
	backend.Backend
	rng     *rand.Rand
	clock   time.Time
	seconds func(tile.Blocks) float64
	cost    func(tile.Blocks, backend.Params) float64 // what seconds are multiplied by; nil for 1
	wrong   tile.Blocks                               // its output does not pass
	broken  tile.Blocks                               // does not compile
	method  string                                    // how times are taken
	open    int
	most    int // executables open at a time
	runs    map[tile.Blocks]int
}

func newFake(seconds func(tile.Blocks) float64) *fake {
	return &fake{rng: rand.New(rand.NewPCG(1, 1)), clock: time.Unix(1e9, 0), seconds: seconds, runs: map[tile.Blocks]int{}}
}

// exe runs one block shape.
type exe struct {
	backend.Executable
	f      *fake
	b      tile.Blocks
	params backend.Params
}

// seconds of a launch.
func (e *exe) seconds() float64 {
	if e.f.cost == nil {
		return e.f.seconds(e.b)
	}
	return e.f.seconds(e.b) * e.f.cost(e.b, e.params)
}

// blocksOf reads the shape back from the program.
func blocksOf(p *tile.Program) (b tile.Blocks) {
	for _, r := range p.Refs {
		switch r.Name {
		case "a":
			b.M, b.K = r.Block[0], r.Block[1]
		case "b":
			b.N = r.Block[1]
		}
	}
	return b
}

func (f *fake) Compile(_ context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	b := blocksOf(programs[0])
	if b == f.broken {
		return nil, errors.New("does not compile")
	}
	f.open++
	f.most = max(f.most, f.open)
	return &exe{f: f, b: b, params: params}, nil
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
	d := time.Duration(e.seconds() * float64(launches) * drift * noise * 1e9)
	e.f.clock = e.f.clock.Add(d)
	e.f.runs[e.b] += launches
	return backend.Sample{Elapsed: d, Method: e.f.method}, ctx.Err()
}

func tuner(f *fake) *Tuner {
	return &Tuner{Backend: f, Space: Space{Workers: 2, Most: 30}, Versions: "v", now: func() time.Time { return f.clock }, sleep: func(d time.Duration) { f.clock = f.clock.Add(d) }}
}

func job(n int) Job {
	return Job{Kernel: kernels.All[3], Problem: problem.New(n, n, n, tile.Float32)}
}

// valley is fastest at 256×512×1024.
func valley(b tile.Blocks) float64 {
	off := func(have int, want float64) float64 { d := math.Log2(float64(have) / want); return d * d }
	return 0.01 * (1 + 0.05*(off(b.M, 256)+off(b.K, 512)+off(b.N, 1024)))
}

// TestMeasure finds the best of a smooth landscape under noise and drift, in a
// fraction of the launches that all candidates would take.
func TestMeasure(t *testing.T) {
	f := newFake(valley)
	u := tuner(f)
	u.Space.Most = 1000
	row, err := u.Tune(context.Background(), job(4096))
	if err != nil {
		t.Fatal(err)
	}
	if valley(row.Blocks) > 1.01*valley(tile.Blocks{M: 256, K: 512, N: 1024}) {
		t.Errorf("chose %v, %.3f × the best", row.Blocks, valley(row.Blocks)/0.01)
	}
	e := row.Evidence
	if e.Mode != tuned.Measured || e.Tried[row.Blocks] != 1 || !(e.Low <= e.Seconds && e.Seconds <= e.High) || e.Samples < interval.Enough ||
		e.Behind < -0.01 || e.RunnerUp == row.Blocks || e.Versions != "v" || e.Date != "2001-09-09" {
		t.Errorf("%+v", e)
	}
	if f.open != 0 {
		t.Errorf("%d executables left open", f.open)
	}
	if len(f.runs) < 300 {
		t.Errorf("%d candidates only", len(f.runs))
	}
}

// TestOwnCandidates: whatever the counts say, what the kernel itself proposes is
// tried, and wins where it is best.
func TestOwnCandidates(t *testing.T) {
	best := tile.Blocks{M: 128, K: 128, N: 128}
	f := newFake(func(b tile.Blocks) float64 {
		if b == best {
			return 0.01
		}
		return 0.012
	})
	u := tuner(f)
	u.Space.Most = 3
	row, err := u.Tune(context.Background(), job(2048))
	if err != nil || row.Blocks != best || len(f.runs) != 3+5 {
		t.Errorf("%v %v of %d", row.Blocks, err, len(f.runs))
	}
}

func TestWrongAndBroken(t *testing.T) {
	f := newFake(valley)
	f.broken = tile.Blocks{M: 128, K: 128, N: 128}
	f.wrong = tile.Blocks{M: 256, K: 512, N: 1024}
	u := tuner(f)
	u.Space.Most = 1000
	row, err := u.Tune(context.Background(), job(2048))
	if err != nil || row.Blocks == f.wrong || valley(row.Blocks) > 1.07*valley(f.wrong) || f.open != 0 {
		t.Errorf("%v %v, %d open", row.Blocks, err, f.open)
	}
	small := job(32)
	f.broken = tile.Blocks{M: 32, K: 32, N: 32}
	if _, err := u.Tune(context.Background(), small); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "does not compile") {
		t.Error(err)
	}
	f.broken, f.wrong = tile.Blocks{}, f.broken
	if _, err := u.Tune(context.Background(), small); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "wrong: zeros") {
		t.Error(err)
	}
}

// prober finds the same peak each time.
type prober struct {
	float32 float64
	asked   int
}

func (p *prober) Probe(context.Context) machine.Device {
	p.asked++
	return peak(p.float32)
}

// peak is a device of which one figure is known, by a probe.
func peak(flops float64) machine.Device {
	return machine.Device{Peak: map[string]machine.Figure{"float32": {Value: flops, Source: "a probe", Measured: true}}}
}

// TestImpossible: what is faster than the device can be does not win, and is told; a peak
// that was measured too low condemns nothing.
func TestImpossible(t *testing.T) {
	t.Parallel()
	best := tile.Blocks{M: 256, K: 512, N: 1024}
	cheat := tile.Blocks{M: 512, K: 512, N: 512}
	j := job(4096)
	j.Known = []tuned.Answer{{Blocks: cheat}} // which is looked at in any case
	reached := float64(j.Problem.FLOPs()) / valley(best)
	for _, method := range []string{"direct", "loop"} {
		for _, c := range []struct {
			name          string
			before, after float64 // the peak over what the best reaches
			fails         bool
			asked         int
		}{
			{"not asked", 2, 2, false, 3},
			{"found too low", 0.1, 2, false, 3},
			{"below all for good", 0.1, 0.1, true, 3},
		} {
			f := newFake(func(b tile.Blocks) float64 {
				if b == cheat {
					return valley(best) / 4
				}
				return valley(b)
			})
			f.method = method
			p := &prober{float32: c.after * reached}
			u := tuner(f)
			u.Space.Most, u.Space.Device, u.Prober = 200, peak(c.before*reached), p
			row, err := u.Tune(context.Background(), j)
			if c.fails {
				if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "impossible: ") {
					t.Errorf("%s, %s: %v", method, c.name, err)
				}
				continue
			}
			if err != nil || row.Blocks == cheat || valley(row.Blocks) > 1.01*valley(best) || p.asked != c.asked || f.open != 0 {
				t.Errorf("%s, %s: %s, %d probes, %d open, %v", method, c.name, row.Blocks, p.asked, f.open, err)
			}
			if len(u.Dropped) != 1 || !strings.Contains(u.Dropped[0].String(), cheat.String()+": impossible: ") || !strings.Contains(u.Dropped[0].String(), "(a probe)") {
				t.Errorf("%s, %s: %v", method, c.name, u.Dropped)
			}
		}
	}
	pr := predictor{newFake(func(b tile.Blocks) float64 {
		if b == cheat {
			return valley(best) / 4
		}
		return valley(b)
	})}
	u := tuner(pr.fake)
	u.Backend, u.Space.Most, u.Space.Device = pr, 200, peak(2*reached)
	if row, err := u.Tune(context.Background(), j); err != nil || row.Blocks != best || len(u.Dropped) != 1 {
		t.Errorf("predicted: %s, %v, %v", row.Blocks, u.Dropped, err)
	}
}

func TestCancel(t *testing.T) {
	f := newFake(valley)
	u := tuner(f)
	ctx, cancel := context.WithCancel(context.Background())
	u.Observe = func(e Event) {
		if e.Round == 2 {
			cancel()
		}
	}
	if row, err := u.Tune(ctx, job(4096)); !errors.Is(err, context.Canceled) || f.open != 0 {
		t.Errorf("%v %v, %d open", row, err, f.open)
	}
}

// predictor predicts by the same rule.
type predictor struct{ *fake }

func (p predictor) Predict(_ context.Context, programs []*tile.Program, _ backend.Params) (backend.Prediction, error) {
	b := blocksOf(programs[0])
	if b.M > 1024 {
		return backend.Prediction{}, &backend.TooBigError{What: "VMEM", Needed: 2, Limit: 1}
	}
	return backend.Prediction{Elapsed: time.Duration(p.seconds(b) * 1e9)}, nil
}

func TestPredict(t *testing.T) {
	u := tuner(newFake(valley))
	u.Backend = predictor{newFake(valley)}
	u.Space.Most = 1000
	row, err := u.Tune(context.Background(), job(4096))
	want := tile.Blocks{M: 256, K: 512, N: 1024}
	if err != nil || row.Blocks != want || row.Evidence.Mode != tuned.Predicted || math.Abs(row.Evidence.Behind-0.05) > 1e-3 {
		t.Errorf("%+v %v", row, err)
	}
}

// TestCandidates: all tile, all fit, none twice.
func TestCandidates(t *testing.T) {
	s := Space{Device: machine.Device{}, Workers: 2, Most: 50, Limit: 16 << 20,
		Model: blocking.Model{Machine: problem.Machine{Parallel: 2, Align: map[tile.Dtype][2]int{tile.Float32: {8, 128}}}}}
	list, err := s.Candidates(Job{Kernel: kernels.All[4], Problem: problem.New(300, 4096, 1000, tile.Float32)})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[tile.Blocks]bool{}
	own := 0
	for _, c := range list {
		if seen[c.Blocks] || !c.Own && (c.Blocks.M != 300 && c.Blocks.M%8 != 0 || c.Blocks.N != 1000 && c.Blocks.N%128 != 0) {
			t.Errorf("%+v", c.Blocks)
		}
		seen[c.Blocks] = true
		if c.Own {
			own++
		}
	}
	if len(list) != 50+own || own < 3 {
		t.Errorf("%d candidates, %d of the kernel's own", len(list), own)
	}
}

// adjustable predicts with parameters too: each step of warps towards 8 gains 10 %, and
// split is slower.
type adjustable struct{ predictor }

func (a adjustable) Predict(ctx context.Context, programs []*tile.Program, p backend.Params) (backend.Prediction, error) {
	got, err := a.predictor.Predict(ctx, programs, p)
	if w, e := strconv.Atoi(p.Extra["warps"]); e == nil {
		got.Elapsed = time.Duration(float64(got.Elapsed) * map[int]float64{8: 1 / 1.1, 16: 1 / 1.21, 32: 1 / 1.1}[w])
	}
	if p.Extra["split"] != "" {
		got.Elapsed *= 2
	}
	return got, err
}

func (a adjustable) Adjustments(_ context.Context, _ []*tile.Program, p backend.Params) ([]backend.Params, error) {
	w, err := strconv.Atoi(p.Extra["warps"])
	if err != nil {
		w = 4
	}
	return []backend.Params{p.With("warps", strconv.Itoa(2*w)), p.With("split", "2")}, nil
}

// TestPredict_Adjusted: parameters are taken a step at a time while that is faster, the
// row has them with their gain, and a file keeps it.
func TestPredict_Adjusted(t *testing.T) {
	u := tuner(newFake(valley))
	u.Backend = adjustable{predictor{newFake(valley)}}
	u.Space.Most = 1000
	row, err := u.Tune(context.Background(), job(4096))
	if err != nil {
		t.Fatal(err)
	}
	if a := row.Evidence.Adjusted; row.Params != "warps=16" || a.Gain != 1.21 || a.Rounds != 0 || a.Tried != 6 {
		t.Errorf("%q, %+v", row.Params, a)
	}
	want := valley(tile.Blocks{M: 256, K: 512, N: 1024}) / 1.21
	if got := row.Evidence.Seconds; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("%g s, want %g", got, want)
	}
	table := &tuned.Table{Machine: "m"}
	table.Put(row)
	var text bytes.Buffer
	if _, err := table.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	again, err := tuned.Parse("m.yaml", text.Bytes())
	if err != nil || !reflect.DeepEqual(again.Rows, table.Rows) {
		t.Errorf("%v\n%s\n%+v", err, text.String(), again)
	}
}

// TestTimes: answers are timed in turns under noise and drift, with their parameters; what does not
// compile is NaN, and the others are timed all the same.
func TestTimes(t *testing.T) {
	f := newFake(valley)
	f.broken = tile.Blocks{M: 32, K: 32, N: 32}
	f.cost = func(_ tile.Blocks, p backend.Params) float64 {
		if p.Extra["half"] == "yes" {
			return 0.5
		}
		return 1
	}
	best := tile.Blocks{M: 256, K: 512, N: 1024}
	seconds, failed, err := tuner(f).Times(t.Context(), job(4096), []tuned.Answer{{Blocks: best}, {Blocks: f.broken}, {Blocks: tile.Blocks{M: 256, K: 512, N: 64}}, {Blocks: best, Params: "half=yes"}})
	if err != nil || failed == nil || !strings.Contains(failed.Error(), "does not compile") || f.open != 0 {
		t.Fatalf("%v, %v, %v, %d open", seconds, failed, err, f.open)
	}
	for i, want := range []float64{0.01, math.NaN(), 0.018, 0.005} {
		if math.IsNaN(want) != math.IsNaN(seconds[i]) || math.Abs(seconds[i]/want-1) > 0.2 {
			t.Errorf("%d: %v s, want %v", i, seconds[i], want)
		}
	}
	if _, failed, err := tuner(f).Times(t.Context(), job(4096), []tuned.Answer{{Blocks: f.broken}}); err != nil || failed == nil {
		t.Errorf("nothing runs: %v, %v", failed, err)
	}
}
