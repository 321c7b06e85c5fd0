// Package backendtest is the suite that accepts a backend: one call of Run compares it with
// tile/interp and tries what the interfaces of package backend promise.
//
//  1. Kernels: every rung, dtype, ragged shape and block shape. Integers and
//     floats that are small integers must come out exactly; random floats
//     within a bound that counts the roundings of the program.
//  2. Quantized: every quantization of the fifth rung and its variants. Scales
//     that are powers of two on small integers must come out exactly; seeded
//     inputs as the backend's own check allows.
//  3. Programs beyond the kernels: batches, transposed operands, epilogues,
//     sequences. A backend may refuse those that Options names.
//  4. The life of an executable: loading, running again, cancelling, closing,
//     bad calls, seeded inputs and their check.
//  5. Kernels of the other problem families, through what a sweep does with them.
//  6. Random (a separate call, for fuzz tests) compares random programs.
//
// Each result of interp is computed once in a process, whatever the number of
// backends compared with it. The package measures no speed.
package backendtest

import (
	"context"
	"testing"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/problem"
	"matladder/tile"
)

// Options say what a backend is held to.
type Options struct {
	// Params are given to every Compile.
	Params backend.Params
	// Threads are values of Params.Threads that must not change exact results;
	// none for a backend without threads.
	Threads []int
	// FloatRoundoff is the unit roundoff of one float32 product and its sum; 0
	// for 2^-24. A device that multiplies float32 as bfloat16 needs more.
	FloatRoundoff float64
	// MayRefuse names the programs beyond the kernels that the backend may
	// answer ErrUnsupported to, by the names of their subtests; nil for none.
	MayRefuse []string
	// MayRefuseQuantized says of which quantized problems the backend may answer
	// ErrUnsupported; nil for none.
	MayRefuseQuantized func(problem.Matmul) bool
	// MayRefuseFamilies says that it may answer ErrUnsupported to kernels of families beyond
	// matmul.
	MayRefuseFamilies bool
	// Refuses are programs that it must answer ErrUnsupported to, by name.
	Refuses map[string][]*tile.Program
	// KnowsMemory says that Compile answers TooBigError to what cannot fit.
	KnowsMemory bool
	// OneIn runs one in so many of the kernel cases and quantizations, FamiliesOneIn of the
	// cases of families beyond matmul; 0 for all.
	OneIn, FamiliesOneIn int
	// From shifts which those are, so that several backends take different ones.
	From int
	// Seeded says that outputs of inputs made from a seed are verified too (package
	// backend/seeded): that Poison is there, and a launch takes no seconds.
	Seeded bool
}

// Run holds the backend that open returns to the suite. open is called once a
// group of tests; the suite closes what it opens.
func Run[B backend.Backend](t *testing.T, open func() B, o Options) {
	if o.FloatRoundoff == 0 {
		o.FloatRoundoff = 0x1p-24
	}
	groups := []struct {
		name string
		run  func(*testing.T, suite)
	}{
		{"kernels", testKernels},
		{"quantized", testQuantized},
		{"programs", testPrograms},
		{"life", testLife},
		{"seeded", testSeeded},
		{"families", testFamilies},
		{"refusals", testRefusals},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			be := open()
			g.run(t, suite{be, seeded.Keep(seeded.Most, false), o})
			if err := be.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// several is how many launches follow each other where one more may be unlike the first: a
// backend may learn from launches what the next ones do.
const several = 6

// suite is one backend under test.
type suite struct {
	backend    backend.Backend
	references *seeded.References
	Options
}

// runs reports whether case n is one of one in oneIn.
func (o Options) runs(n, oneIn int) bool { return oneIn <= 1 || (n+o.From)%oneIn == 0 }

// compile compiles programs that the backend must take, and closes the result with the test.
func (s suite) compile(t *testing.T, programs []*tile.Program, params backend.Params) backend.Seeded {
	t.Helper()
	e, err := s.tryCompile(t.Context(), programs, params)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return e
}

// tryCompile compiles programs that the backend may refuse.
func (s suite) tryCompile(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Seeded, error) {
	e, err := backend.Compile(ctx, s.backend, programs, params)
	if err != nil {
		return nil, err
	}
	return seeded.Of(e, programs, s.references), nil
}

// run loads in, runs launches and returns the outputs.
func (s suite) run(t *testing.T, e backend.Executable, programs []*tile.Program, in []tile.Tensor, launches int) []tile.Tensor {
	t.Helper()
	if err := e.Load(in...); err != nil {
		t.Fatalf("Load: %v", err)
	}
	sample, err := e.Run(context.Background(), launches)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if sample.Elapsed <= 0 || sample.Method == "" {
		t.Errorf("Run: sample %+v has no time or no method", sample)
	}
	return s.results(t, e, programs)
}

func (s suite) results(t *testing.T, e backend.Executable, programs []*tile.Program) []tile.Tensor {
	t.Helper()
	out := outputs(t, programs)
	if err := e.Results(out...); err != nil {
		t.Fatalf("Results: %v", err)
	}
	return out
}
