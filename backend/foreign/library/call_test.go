package library

import (
	"context"
	"testing"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// TestSignature: what docs/own.md says of the arguments of families.
func TestSignature(t *testing.T) {
	softmax, err := problem.Find("softmax")
	if err != nil {
		t.Fatal(err)
	}
	f := products(t, "f", "float32")
	for want, f := range map[string]foreign.Function{
		"void f(int64_t m, int64_t k, int64_t n, const float *a, const float *b, float *o)":                    f,
		"void f(int64_t m, int64_t k, int64_t n, const int8_t *a, const int8_t *b, int32_t *o)":                products(t, "f", "int8"),
		"void f(int64_t m, int64_t k, int64_t n, const float *a, const float *b, const float *bias, float *o)": products(t, "f", "float32:bias"),
		"void f(int64_t m, int64_t k, int64_t n, const uint16_t *a, const uint16_t *b, uint16_t *o)":           products(t, "f", "bfloat16"),
		"void f(int64_t rows, int64_t cols, const float *x, float *o)":                                         {Name: "f", Family: softmax, Asked: f.Asked},
	} {
		if got := signature(f, "f"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// BenchmarkCall is what a launch costs beside the function.
func BenchmarkCall(b *testing.B) {
	own, err := Open(context.Background(), products(b, "", "float32"), Library{File: library(b), Symbol: "nothing", Threads: 1}, machine.Device{})
	if err != nil {
		b.Fatal(err)
	}
	defer own.Close()
	p := problem.New(4, 4, 4, tile.Float32)
	made, err := own.Solve(context.Background(), backend.ProblemSpec{Problem: p})
	if err != nil {
		b.Fatal(err)
	}
	e := seeded.Of(made, nil, new(seeded.References))
	defer e.Close()
	if err := e.LoadSeeded(context.Background(), backend.InputSpec{Problem: p, Dist: check.Uniform}); err != nil {
		b.Fatal(err)
	}
	s, err := e.Run(context.Background(), b.N)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(s.Elapsed.Nanoseconds())/float64(b.N), "ns/launch")
}
