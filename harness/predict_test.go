package harness

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"matladder/backend"
	"matladder/kernels"
	"matladder/results"
	"matladder/tile"
)

// prophet predicts that every program reaches half of its device's rate, later
// points sooner than earlier ones.
type prophet struct {
	*fake
	mu     sync.Mutex
	asked  int
	active int
	most   int                             // predictions at the same time
	answer func(kernel string) error       // may refuse
	block  func(ctx context.Context) error // may wait
}

func (p *prophet) enter() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	p.active++
	p.most = max(p.most, p.active)
	return p.asked
}

func (p *prophet) tell(ctx context.Context, kernel string, flops int64) (backend.Prediction, error) {
	n := p.enter()
	defer func() { p.mu.Lock(); p.active--; p.mu.Unlock() }()
	time.Sleep(time.Duration(n%4) * time.Millisecond)
	if p.block != nil {
		if err := p.block(ctx); err != nil {
			return backend.Prediction{}, err
		}
	}
	if p.answer != nil {
		if err := p.answer(kernel); err != nil {
			return backend.Prediction{MemoryBytes: 3 * flops}, err
		}
	}
	return backend.Prediction{MemoryBytes: 2 * flops, Elapsed: time.Duration(float64(flops) / p.rate * 1e9), Method: "aot"}, nil
}

func (p *prophet) Predict(ctx context.Context, programs []*tile.Program, _ backend.Params) (backend.Prediction, error) {
	b, err := tile.Bind(programs)
	if err != nil {
		return backend.Prediction{}, err
	}
	flops := int64(2 * b.Out[0].Array[0] * b.Out[0].Array[1] * b.In[0].Array[1])
	return p.tell(ctx, programs[0].Name, flops)
}

func (p *prophet) PredictBaseline(ctx context.Context, spec backend.ProblemSpec) (backend.Prediction, error) {
	return p.tell(ctx, kernels.BaselineName, spec.Problem.FLOPs())
}

// predictions runs a small sweep of every kernel and the baseline.
func predictions(t *testing.T, ctx context.Context, p *prophet, path string, resume bool, observe func(Event)) (Sweep, Outcome, error) {
	t.Helper()
	s, err := Plan(t.Context(), small(t, "kernels: [0, 1, 2, 3, 4, 5]"), p.device, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	s.Predict = true
	o := options(p.fake, path)
	o.Backend, o.Resume, o.Observe = p, resume, observe
	out, err := Run(ctx, s, o)
	return s, out, err
}

// TestPredict: one row a point, in the order of the sweep whatever is ready first,
// several at a time, events from one goroutine.
func TestPredict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.csv")
	p := &prophet{fake: newFake()}
	groups, last := 0, 0.
	s, out, err := predictions(t, t.Context(), p, path, false, func(e Event) {
		if e.Done < last || e.Done > 1 {
			t.Errorf("done %v after %v", e.Done, last)
		}
		if last = e.Done; e.Complete {
			groups++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	points := slices.Collect(s.Points())
	if len(out.Rows) != len(points) || groups != len(s.Groups) || last != 1 {
		t.Fatalf("%d rows of %d points, %d groups, done %v", len(out.Rows), len(points), groups, last)
	}
	if p.most > runtime.GOMAXPROCS(0) {
		t.Errorf("%d at a time", p.most)
	}
	for i, r := range out.Rows {
		at := points[i]
		rung, _ := at.Contender.(Rung) // no blocks of others
		if r.Kernel != at.Name() || r.M != at.Problem.Sizes()[0] || r.DtypeA != at.Problem.Asked().A.String() || r.BM != rung.Blocks.M {
			t.Errorf("row %d is %s %d, want %s", i, r.Kernel, r.M, at)
		}
		if r.Mode != results.Predicted || r.Method != results.AOT || r.Status != results.OK ||
			r.Launches != 1 || r.Round != 0 || r.Rep != 0 || !(r.Seconds > 0) || r.MemoryBytes != 2*at.Problem.FLOPs() {
			t.Errorf("row %d: %s %s %s, %d launches, round %d.%d, %v s", i, r.Mode, r.Method, r.Status, r.Launches, r.Round, r.Rep, r.Seconds)
		}
	}
	audit(t, path, out)
}

// TestPredict_Statuses: what goes wrong is a row, and the sweep goes on.
func TestPredict_Statuses(t *testing.T) {
	p := &prophet{fake: newFake()}
	p.answer = func(kernel string) error {
		switch kernel {
		case "v1_naive":
			return &backend.TooBigError{What: "VMEM", Needed: 2, Limit: 1}
		case "v2_parallel":
			return &backend.CrashError{What: "compiler", Reason: "signal: killed"}
		case "v3_block":
			panic("no such loop")
		case "v4_optblock":
			return errors.Join(errors.New("no answer within 1s"), context.DeadlineExceeded)
		case "xla":
			return backend.ErrUnsupported
		}
		return nil
	}
	_, out, err := predictions(t, t.Context(), p, filepath.Join(t.TempDir(), "p.csv"), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]results.Status{"v1_naive": results.TooBig, "v2_parallel": results.Crashed, "v3_block": results.Crashed,
		"v4_optblock": results.Timeout, "v5_quant": results.OK, "xla": results.Unsupported}
	for _, r := range out.Rows {
		if r.Status != want[r.Kernel] || (r.Status == results.OK) != (r.Reason == "") {
			t.Errorf("%s: %s: %s", r.Kernel, r.Status, r.Reason)
		}
		if want := map[results.Status]int64{results.TooBig: 3, results.OK: 2}[r.Status] * r.FLOPs; r.MemoryBytes != want {
			t.Errorf("%s: %s: %d bytes of memory, want %d", r.Kernel, r.Status, r.MemoryBytes, want)
		}
	}
	fast := &prophet{fake: newFake()}
	fast.rate = 1e15
	if _, out, err = predictions(t, t.Context(), fast, filepath.Join(t.TempDir(), "p.csv"), false, nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Rows {
		if r.Status != results.Impossible {
			t.Errorf("%s at 1e15 FLOP/s: %s", r.Kernel, r.Status)
		}
	}
}

// TestPredict_Resume: a sweep that is stopped keeps its groups whole, and goes on
// without predicting them again.
func TestPredict_Resume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.csv")
	ctx, cancel := context.WithCancel(t.Context())
	p := &prophet{fake: newFake()}
	s, out, err := predictions(t, ctx, p, path, false, func(e Event) {
		if e.Complete {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(out.Rows) != len(s.Groups[0].Points) {
		t.Fatalf("%v, %d rows of %d", err, len(out.Rows), len(s.Groups[0].Points))
	}
	again := &prophet{fake: newFake()}
	_, out, err = predictions(t, t.Context(), again, path, true, nil)
	points := len(slices.Collect(s.Points()))
	if err != nil || len(out.Rows) != points || again.asked != points-len(s.Groups[0].Points) {
		t.Errorf("%v, %d rows of %d, %d predicted", err, len(out.Rows), points, again.asked)
	}
	none := &prophet{fake: newFake()}
	if _, _, err := predictions(t, t.Context(), none, path, true, nil); err != nil || none.asked != 0 {
		t.Errorf("a complete file: %v, %d predicted", err, none.asked)
	}
	hangs := &prophet{fake: newFake(), block: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
	soon, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, _, err := predictions(t, soon, hangs, filepath.Join(t.TempDir(), "h.csv"), false, nil); err == nil {
		t.Error("no error of a sweep that was stopped")
	}
}

// TestPredict_Cannot: a backend that only measures is told apart at once.
func TestPredict_Cannot(t *testing.T) {
	f := newFake()
	s := plan(t, small(t, ""), f)
	s.Predict = true
	if _, err := Run(t.Context(), s, options(f, filepath.Join(t.TempDir(), "p.csv"))); err == nil {
		t.Error("no error")
	}
}
