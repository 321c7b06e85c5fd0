package backendtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"matladder/backend"
	"matladder/check"
	optblock "matladder/kernels/v4_optblock"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// sample is a small ragged problem of several blocks.
func sample(t *testing.T) (problem.Matmul, []*tile.Program) {
	t.Helper()
	p := problem.New(37, 29, 41, tile.Float32)
	programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: 16, K: 8, N: 16})
	if err != nil {
		t.Fatal(err)
	}
	return p, programs
}

// testLife tries the calls of an executable, in and out of order.
func testLife(t *testing.T, s suite) {
	_, programs := sample(t)
	ctx := context.Background()
	in := smallIntegers(t, programs, 3)

	t.Run("calls", func(t *testing.T) {
		e := s.compile(t, programs, s.Params)
		if _, err := e.Run(ctx, 1); err == nil {
			t.Error("Run before Load: no error")
		}
		if err := e.Load(in[:1]...); err == nil {
			t.Error("Load of one array of two: no error")
		}
		if err := e.Load(in[1], in[0]); err == nil {
			t.Error("Load in the wrong order: no error")
		}
		if err := e.Load(in...); err != nil {
			t.Fatal(err)
		}
		if err := e.Results(); err == nil {
			t.Error("Results of nothing: no error")
		}
		if err := e.Results(tile.NewTensor(tile.Float32, 1, 1)); err == nil {
			t.Error("Results of the wrong shape: no error")
		}
		for _, launches := range []int{0, -1} {
			if _, err := e.Run(ctx, launches); err == nil {
				t.Errorf("Run of %d launches: no error", launches)
			}
		}
		sameBits(t, oracle(t, programs, in), s.run(t, e, programs, in, 3))
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if _, err := e.Run(ctx, 1); err == nil {
			t.Error("Run after Close: no error")
		}
		if err := e.Load(in...); err == nil {
			t.Error("Load after Close: no error")
		}
		if err := e.Results(outputs(t, programs)...); err == nil {
			t.Error("Results after Close: no error")
		}
	})

	t.Run("never loaded", func(t *testing.T) { s.compile(t, programs, s.Params) })

	t.Run("new inputs", func(t *testing.T) {
		e := s.compile(t, programs, s.Params)
		for seed := range uint64(3) {
			in := smallIntegers(t, programs, seed)
			sameBits(t, oracle(t, programs, in), s.run(t, e, programs, in, 1))
		}
	})

	t.Run("two at once", func(t *testing.T) {
		one, two := s.compile(t, programs, s.Params), s.compile(t, programs, s.Params)
		other := smallIntegers(t, programs, 4)
		sameBits(t, oracle(t, programs, in), s.run(t, one, programs, in, 1))
		sameBits(t, oracle(t, programs, other), s.run(t, two, programs, other, 1))
		sameBits(t, oracle(t, programs, in), s.results(t, one, programs))
	})

	t.Run("cancel", func(t *testing.T) { testCancel(t, s) })
}

// testCancel ends a run that would take very long.
func testCancel(t *testing.T, s suite) {
	p := problem.New(300, 301, 302, tile.Float32)
	programs, err := optblock.Kernel.Build(p, "", tile.Blocks{M: 64, K: 64, N: 64})
	if err != nil {
		t.Fatal(err)
	}
	e := s.compile(t, programs, s.Params)
	in := smallIntegers(t, programs, 5)
	want := s.run(t, e, programs, in, 1)

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Run(gone, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Run with a cancelled context: %v", err)
	}
	if _, err := s.tryCompile(gone, programs, s.Params); !errors.Is(err, context.Canceled) {
		t.Errorf("Compile with a cancelled context: %v", err)
	}

	soon, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := e.Run(soon, 1<<30); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run past its deadline: %v", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("Run went on for %v past its deadline", d)
	}
	sameBits(t, want, s.run(t, e, programs, in, 1))
}

// testSeeded makes inputs beside the device and verifies there; each injected
// fault must be found.
func testSeeded(t *testing.T, s suite) {
	if !s.Seeded {
		t.Skip("seeded inputs are not asked for")
	}
	p, programs := sample(t)
	e := s.compile(t, programs, s.Params)
	if _, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: backend.InputSpec{Problem: p}}); err == nil {
		t.Error("Check before LoadSeeded: no error")
	}
	for _, dist := range check.Distributions() {
		spec := backend.InputSpec{Problem: p, Seed: 7, Dist: dist}
		if err := e.LoadSeeded(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || r.OK {
			t.Errorf("Check of an output never computed: %+v, %v", r, err)
		}
		if _, err := e.Run(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
			t.Errorf("%s: Check: %+v, %v", dist, r, err)
		}
		for _, fault := range []string{"zeros", "sign", "tile", "gain", "nan"} {
			if check.Constant(dist) && fault != "nan" {
				continue // which leaves outputs that are all alike as they are
			}
			if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec, Fault: fault}); err != nil || r.OK {
				t.Errorf("%s: fault %s was not found: %+v, %v", dist, fault, r, err)
			}
		}
		if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
			t.Errorf("%s: Check after faults: %+v, %v", dist, r, err)
		}
	}
	if _, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: backend.InputSpec{Problem: p, Seed: 8, Dist: "uniform"}}); err == nil {
		t.Error("Check of other inputs than those loaded: no error")
	}
	if _, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: backend.InputSpec{Problem: p, Seed: 7, Dist: "integers"}, Fault: "gremlin"}); err == nil {
		t.Error("Check with an unknown fault: no error")
	}
	if err := e.LoadSeeded(t.Context(), backend.InputSpec{Problem: p, Dist: "nonsense"}); err == nil {
		t.Error("LoadSeeded of an unknown distribution: no error")
	}
	testSeededCanceled(t, e, backend.InputSpec{Problem: p, Seed: 9, Dist: "uniform"})
}

// testSeededCanceled cancels inputs and the check of an output, and then does both.
func testSeededCanceled(t *testing.T, e backend.Seeded, spec backend.InputSpec) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.LoadSeeded(gone, spec); !errors.Is(err, context.Canceled) {
		t.Errorf("LoadSeeded with a canceled context: %v", err)
	}
	if _, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err == nil {
		t.Error("Check after a canceled LoadSeeded: no error")
	}
	if err := e.LoadSeeded(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Check(gone, backend.CheckSpec{InputSpec: spec}); !errors.Is(err, context.Canceled) {
		t.Errorf("Check with a canceled context: %v", err)
	}
	if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
		t.Errorf("Check after a canceled one: %+v, %v", r, err)
	}
}

// testRefusals compiles what must not compile.
func testRefusals(t *testing.T, s suite) {
	ctx := context.Background()
	for name, programs := range s.Refuses {
		e, err := s.tryCompile(ctx, programs, s.Params)
		if !errors.Is(err, backend.ErrUnsupported) {
			t.Errorf("%s: Compile answers %v, want ErrUnsupported", name, err)
		}
		if err == nil {
			e.Close()
		}
	}
	if !s.KnowsMemory {
		return
	}
	const huge = 1 << 21
	p := problem.New(huge, huge, huge, tile.Float32)
	programs, err := optblock.Kernel.Build(p, "", tile.Blocks{M: 128, K: 128, N: 128})
	if err != nil {
		t.Fatal(err)
	}
	var big *backend.TooBigError
	if _, err = s.tryCompile(ctx, programs, s.Params); !errors.As(err, &big) {
		t.Fatalf("Compile of %d TiB: %v, want TooBigError", p.Bytes()>>40, err)
	}
	if big.Needed < p.Bytes() || big.Limit <= 0 || big.Limit >= big.Needed || big.What == "" {
		t.Errorf("%+v for %d bytes of arrays", *big, p.Bytes())
	}
}
