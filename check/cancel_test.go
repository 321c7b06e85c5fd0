package check

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// fading is a context that ends when it has been looked at often enough.
type fading struct {
	context.Context
	left atomic.Int64
}

func (f *fading) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCanceled checks that each part of the work looks at its context all along, and
// that it ends with the context wherever it is.
func TestCanceled(t *testing.T) {
	const m, k, n = 30, 300, 500
	list := []problem.Matmul{problem.New(m, k, n, tile.Float32), problem.New(m, k, n, tile.BFloat16), problem.New(m, k, n, tile.Int8)}
	run := thoroughtest.Choose(1, 3, 11)
	for _, p := range append(list, problemtest.Quantized(1, m, k, n, 100)...) {
		if run() {
			t.Run(problemtest.Label(p), func(t *testing.T) { testCanceled(t, p) })
		}
	}
}

func testCanceled(t *testing.T, p problem.Matmul) {
	none := context.Background()
	programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: p.M, K: 100, N: p.N})
	if err != nil {
		t.Fatal(err)
	}
	b, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]tile.Tensor{}
	for _, r := range b.In {
		in[r.Name] = tile.NewTensor(r.Dtype, r.Array...)
	}
	out := tile.NewTensor(p.Out, p.M, p.N)
	fill := func(dist string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			for _, r := range b.In {
				if err := Fill(ctx, in[r.Name], r.Name, p, 1, dist); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var reference, answers *Reference
	for _, work := range []struct {
		name  string
		looks int // at the least
		do    func(ctx context.Context) error
	}{
		{"inputs", (p.M*p.K + p.K*p.N) / checkEvery, fill(Normal)},
		{"reference", p.K + p.M, func(ctx context.Context) (err error) {
			reference, err = NewReference(ctx, p, in)
			return err
		}},
		{"unquantized", 0, func(ctx context.Context) error { return reference.Unquantized(ctx, in, 1, Normal) }},
		{"verification", p.K, func(ctx context.Context) error {
			clear(reference.exact)
			_, err := reference.Verify(ctx, programs, in, map[string]tile.Tensor{"o": out})
			return err
		}},
		{"inputs of an exact probe", p.M + p.K, fill(Exact)},
		{"answers", p.K, func(ctx context.Context) (err error) {
			answers, err = referenceOfMatmul(ctx, p, nil, 1, Exact)
			return err
		}},
		{"comparison with them", p.M, func(ctx context.Context) error {
			_, err := answers.Verify(ctx, programs, nil, map[string]tile.Tensor{"o": out})
			return err
		}},
	} {
		if strings.Contains(work.name, "exact") && !HasExact(p) {
			break
		}
		ctx := &fading{Context: none}
		ctx.left.Store(math.MaxInt64)
		if err := work.do(ctx); err != nil {
			t.Fatalf("%s: %v", work.name, err)
		}
		looks := math.MaxInt64 - ctx.left.Load()
		if looks < int64(work.looks) {
			t.Errorf("%s: looks at its context %d times, want %d", work.name, looks, work.looks)
		}
		for _, after := range []int64{0, looks / 2, looks - 1} {
			if looks == 0 {
				continue // there is nothing to do
			}
			ctx.left.Store(after)
			if err := work.do(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, canceled at look %d of %d: %v", work.name, after, looks, err)
			}
		}
		if err := work.do(none); err != nil {
			t.Fatalf("%s after it was canceled: %v", work.name, err)
		}
	}
}
