package harness

import (
	"context"
	"strings"
	"time"

	"matladder/backend"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// A Contender is what takes turns in a group: a Rung, the Vendor's own way, or a Library.
// Nothing else tells one kind from another.
type Contender interface {
	// Name is that of its rows, in column kernel.
	Name() string
	// String is the name for people, with a version where there is one.
	String() string

	// build returns the tile programs that it computes a problem by; none if it does without.
	build(p problem.Problem, variant string) ([]*tile.Program, error)
	// on is the backend that runs it, and whether that has figures of its own to be held
	// against instead of the sweep's device.
	on(o *Options) (b backend.Backend, own bool)
	// compile and predict ask that backend.
	compile(ctx context.Context, b backend.Backend, p Point, programs []*tile.Program) (backend.Executable, error)
	predict(ctx context.Context, b backend.Backend, p Point, programs []*tile.Program) (backend.Prediction, error)
	// opening is about how long it takes until it is ready, beside compiling.
	opening(p problem.Problem) time.Duration
	// choices are what was chosen beside a point's parameters, into a row, where a backend
	// runs programs by a lowering.
	choices(row *results.Record, lowering string)
	// settings say the same, with parameters, for people; "" for none.
	settings(p backend.Params) string
}

// Rung is a kernel with its blocks.
type Rung struct {
	kernels.Kernel
	Blocks tile.Blocks
	Source string // where Blocks come from: one of the constants below
}

func (r Rung) String() string { return r.Name() }

func (r Rung) build(p problem.Problem, variant string) ([]*tile.Program, error) {
	return r.Build(p, variant, r.Blocks)
}

func (r Rung) on(o *Options) (backend.Backend, bool) { return o.Backend, false }

func (r Rung) compile(ctx context.Context, b backend.Backend, p Point, programs []*tile.Program) (backend.Executable, error) {
	return backend.Compile(ctx, b, programs, p.Params)
}

func (r Rung) predict(ctx context.Context, b backend.Backend, p Point, programs []*tile.Program) (backend.Prediction, error) {
	predictor, err := backend.As[backend.Predictor](b, cannotPredict)
	if err != nil {
		return backend.Prediction{}, err
	}
	return predictor.Predict(ctx, programs, p.Params)
}

func (r Rung) opening(problem.Problem) time.Duration { return 0 }

func (r Rung) choices(row *results.Record, lowering string) {
	row.Variant = strings.TrimSpace(row.Variant + " " + lowering)
	row.BM, row.BK, row.BN, row.BlockSource = r.Blocks.M, r.Blocks.K, r.Blocks.N, r.Source
}

func (r Rung) settings(p backend.Params) string {
	return words.When(r.Blocks != tile.Blocks{}, "%s", strings.TrimRight("blocks "+r.Blocks.String()+" "+p.String(), " "))
}

// Vendor is kernel 0, the baseline: the way that a backend has without tile programs.
type Vendor struct{}

// Name is the baseline's.
func (Vendor) Name() string   { return kernels.BaselineName }
func (Vendor) String() string { return kernels.BaselineName }

func (Vendor) build(problem.Problem, string) ([]*tile.Program, error) { return nil, nil }

func (Vendor) on(o *Options) (backend.Backend, bool) {
	if o.Baseline != nil {
		return o.Baseline, true
	}
	return o.Backend, false
}

func (Vendor) compile(ctx context.Context, b backend.Backend, p Point, _ []*tile.Program) (backend.Executable, error) {
	return backend.Solve(ctx, b, backend.ProblemSpec{Problem: p.Problem, Variant: p.Variant, Mesh: p.Mesh, Params: p.Params})
}

func (Vendor) predict(ctx context.Context, b backend.Backend, p Point, _ []*tile.Program) (backend.Prediction, error) {
	vendor, err := backend.As[backend.BaselinePredictor](b, "predicts no baseline")
	if err != nil {
		return backend.Prediction{}, err
	}
	return vendor.PredictBaseline(ctx, backend.ProblemSpec{Problem: p.Problem, Variant: p.Variant, Mesh: p.Mesh, Params: p.Params})
}

func (Vendor) opening(problem.Problem) time.Duration { return 0 }
func (Vendor) choices(*results.Record, string)       {}
func (Vendor) settings(backend.Params) string        { return "" }

// Library is a peer.
type Library struct {
	Vendor // as far as it does what a backend does without tile programs
	Peer   Peer
}

// Name is the peer's.
func (l Library) Name() string { return l.Peer.Name() }

func (l Library) String() string {
	if plugged, ok := l.Peer.(backend.Plugged); ok {
		_, version := plugged.Plugin()
		return l.Name() + " " + version
	}
	return l.Name()
}

func (l Library) on(*Options) (backend.Backend, bool) { return l.Peer, true }

// opening: a process is started, loads its libraries and is handed its arrays through a pipe.
func (l Library) opening(p problem.Problem) time.Duration {
	const start, bytesPerSecond = time.Second / 2, 1 << 29
	return start + time.Duration(p.Bytes()*int64(time.Second)/bytesPerSecond)
}
