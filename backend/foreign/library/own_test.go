package library

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/seeded"
	"matladder/backend/worker"
	"matladder/check"
	"matladder/internal/ccompilertest"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

func TestMain(m *testing.M) {
	worker.Hook(map[string]worker.Opener{OpenerName: Opener})
	os.Exit(m.Run())
}

// library is testdata/own.c, built.
func library(t testing.TB) string {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "own.so")
	ccompilertest.Shared(t, path, "testdata/own.c")
	return path
}

// products are products of what words ask for.
func products(t testing.TB, name, words string) foreign.Function {
	t.Helper()
	asked, err := problem.MatmulFamily.Parse(words)
	if err == nil {
		asked, err = problem.MatmulFamily.Complete(asked)
	}
	if err != nil {
		t.Fatal(err)
	}
	return foreign.Function{Name: name, Family: problem.MatmulFamily, Asked: asked}
}

// run takes a function through what the harness does with it: an exact probe, then inputs
// of the sweep, twice.
func run(b *Backend, p problem.Problem, fault string) (r backend.CheckResult, err error) {
	ctx := context.Background()
	made, err := b.Solve(ctx, backend.ProblemSpec{Problem: p})
	if err != nil {
		return r, err
	}
	e := seeded.Of(made, nil, new(seeded.References))
	defer e.Close()
	for i, dist := range []string{check.Exact, check.Uniform, check.Uniform} {
		spec := backend.InputSpec{Problem: p, Seed: uint64(i), Dist: dist}
		if err := e.LoadSeeded(ctx, spec); err != nil {
			return r, err
		}
		if err := e.Poison(ctx); err != nil {
			return r, err
		}
		s, err := e.Run(ctx, 2)
		if err != nil {
			return r, err
		}
		if s.Elapsed <= 0 || s.Method != "direct" {
			return r, errors.New("a sample without a time")
		}
		if r, err = e.Check(ctx, backend.CheckSpec{InputSpec: spec, Fault: fault}); err != nil || !r.OK {
			return r, err
		}
	}
	return r, nil
}

// TestNew: a Go function is measured and verified, whatever family it is of.
func TestNew(t *testing.T) {
	f := products(t, "mine", "float32")
	wrong := false
	call := func(sizes []int, arrays []tile.Tensor) error {
		m, k, n := sizes[0], sizes[1], sizes[2]
		a, b, o := arrays[0].Float32s(), arrays[1].Float32s(), arrays[2].Float32s()
		for i := range m {
			for j := range n {
				sum := float32(0)
				for l := range k {
					sum += a[i*k+l] * b[l*n+j]
				}
				o[i*n+j] = sum
			}
		}
		if wrong {
			o[len(o)-1]++
		}
		return nil
	}
	b, err := New(f, call, machine.Device{})
	if err != nil {
		t.Fatal(err)
	}
	p := problem.New(33, 70, 19, tile.Float32)
	if r, err := run(b, p, ""); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := run(b, p, "tile"); err != nil || r.OK {
		t.Errorf("with a wrong tile: %+v, %v", r, err)
	}
	wrong = true
	if r, err := run(b, p, ""); err != nil || r.OK {
		t.Errorf("wrong: %+v, %v", r, err)
	}
	if _, err := New(foreign.Function{Name: "a b", Family: f.Family}, call, machine.Device{}); err == nil {
		t.Error("a name of two words")
	}
	lazy := func([]int, []tile.Tensor) error { return errors.New("too lazy") }
	if b, err = New(f, lazy, machine.Device{}); err != nil {
		t.Fatal(err)
	}
	if _, err := run(b, p, ""); err == nil || err.Error() != "too lazy" {
		t.Error(err)
	}
	batch := p
	batch.Batch = 3
	softmax, err := problem.Find("softmax")
	if err != nil {
		t.Fatal(err)
	}
	highest := p
	highest.Precision = tile.Highest
	for _, c := range []struct {
		p    problem.Problem
		want string // in the reason; empty where it computes it
	}{
		{p, ""}, {highest, ""},
		{problem.New(4, 4, 4, tile.Int8), "mine computes float32"},
		{batch, "mine is not told of batch, which is 3"},
		{softmax.Make(softmax.Sample, f.Asked), "mine computes matrix products"},
	} {
		err := b.Supports(c.p)
		if got := ""; err != nil {
			if got = err.Error(); c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s", c.p, got)
			}
		} else if c.want != "" {
			t.Errorf("%s is computed", c.p)
		}
	}
}

// TestOpen: functions of a shared library, right and wrong, and what becomes of one that
// takes its process with it.
func TestOpen(t *testing.T) {
	path := library(t)
	open := func(symbol, words string) *Backend {
		t.Helper()
		b, err := Open(context.Background(), products(t, "", words), Library{File: path, Symbol: symbol, Threads: 3}, machine.Device{Key: "here"})
		if err != nil {
			t.Fatalf("%s: %v", symbol, err)
		}
		t.Cleanup(func() { b.Close() })
		if file, version := b.Plugin(); b.Name() != symbol || file != "own.so" || len(version) != 8 || b.Device().Key != "here" {
			t.Errorf("%s of %s %s", b.Name(), file, version)
		}
		return b
	}
	float, integer := problem.New(33, 70, 19, tile.Float32), problem.New(33, 70, 19, tile.Int8)
	for _, c := range []struct {
		symbol, words string
		p             problem.Matmul
		wrong         string // in the detail
		crash         string // in the reason
	}{
		{"gemm", "float32", float, "", ""},
		{"threads", "float32", float, "", ""},
		{"integers", "int8", integer, "", ""},
		{"short_of", "float32", float, "o[0, 18] is NaN", ""},
		{"swapped", "float32", float, "2 of 627 elements", ""},
		{"nothing", "float32", float, "627 of 627 elements", ""},
		{"crashes", "float32", float, "", "segmentation fault"},
		{"ends", "float32", float, "", "exit status 3; it said last: no licence found"},
	} {
		b := open(c.symbol, c.words)
		for range 2 { // after a crash the next is another process
			r, err := run(b, c.p, "")
			var crash *backend.CrashError
			switch {
			case c.crash != "":
				if !errors.As(err, &crash) || !strings.Contains(err.Error(), c.crash) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v", c.symbol, err)
				}
			case err != nil:
				t.Errorf("%s: %v", c.symbol, err)
			case r.OK != (c.wrong == "") || !strings.Contains(r.Detail, c.wrong):
				t.Errorf("%s: %+v", c.symbol, r)
			}
		}
	}
}

// TestOpen_Hangs: a function that does not return is ended with its context.
func TestOpen_Hangs(t *testing.T) {
	b, err := Open(context.Background(), products(t, "", "float32"), Library{File: library(t), Symbol: "hangs"}, machine.Device{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p := problem.New(9, 8, 7, tile.Float32)
	made, err := b.Solve(context.Background(), backend.ProblemSpec{Problem: p})
	if err != nil {
		t.Fatal(err)
	}
	e := seeded.Of(made, nil, new(seeded.References))
	defer e.Close()
	if err := e.LoadSeeded(context.Background(), backend.InputSpec{Problem: p, Dist: check.Uniform}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := e.Run(ctx, 5); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestOpen_Refuses: what cannot be called is told in one line.
func TestOpen_Refuses(t *testing.T) {
	path := library(t)
	text := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(text, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		l     Library
		words string
		want  string
	}{
		{Library{File: "nowhere.so", Symbol: "gemm"}, "float32", "no such file: nowhere.so"},
		{Library{File: text, Symbol: "gemm"}, "float32", "not a shared library that can be loaded"},
		{Library{File: path, Symbol: "gem"}, "float32", "no function gem in " + path},
		{Library{File: path, Symbol: "hidden"}, "float32", "no function hidden in " + path},
		{Library{File: path, Symbol: "gemm"}, "int8:per_channel+token", "is handed no scales"},
	} {
		_, err := Open(context.Background(), products(t, "", c.words), c.l, machine.Device{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", c.l, err)
		}
	}
}
