package cpu

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// keeping is options that make small problems take each of the ways in which
// packed blocks are kept; the default keeps all of a small b.
func keeping() map[string]Options {
	return map[string]Options{
		"all":     {Threads: 2},
		"groups":  {Threads: 2, CacheBytes: 64 << 10},
		"own":     {Threads: 3, CacheBytes: -1},
		"pieces":  {Threads: 2, CacheBytes: 20 << 10, ownBytes: 1},
		"shallow": {Threads: 2, CacheBytes: -1, ownBytes: 1},
		"ordered": {Threads: 2, ProgramOrder: true},
	}
}

// TestKeeping holds every way of keeping blocks to the suite.
func TestKeeping(t *testing.T) {
	for from, name := range slices.Sorted(maps.Keys(keeping())) {
		want := suite(from)
		n := thoroughtest.OneIn(5, 89, 211)
		want.Threads, want.OneIn, want.FamiliesOneIn = nil, n, n
		if name != "all" { // TestConformance
			t.Run(name, func(t *testing.T) { backendtest.Run(t, open(t, keeping()[name]), want) })
		}
	}
}

// TestKeeping_Modes shows that the options above lead where they say.
func TestKeeping_Modes(t *testing.T) {
	p := problem.New(131, 129, 183, tile.Float32)
	programs, err := kernels.All[2].Build(p, "", tile.Blocks{M: 16, K: 32, N: 64})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		keepA, keepB plan.Keep
		phases       int
		deep         bool
	}{
		"all":     {plan.KeepOwn, plan.KeepAll, 1, false},
		"groups":  {plan.KeepOwn, plan.KeepGroup, 3, false},
		"own":     {plan.KeepOwn, plan.KeepOwn, 1, false},
		"pieces":  {plan.KeepPiece, plan.KeepPiece, 1, true},
		"shallow": {plan.KeepPiece, plan.KeepPiece, 1, false},
		"ordered": {plan.KeepOwn, plan.KeepAll, 1, false},
	}
	for name, o := range keeping() {
		be := open(t, o)()
		e, err := be.Compile(context.Background(), programs, backend.Params{Extra: map[string]string{paramA: "packed"}})
		if err != nil {
			t.Fatal(err)
		}
		pl := e.(*exec.Executable).Plans[0]
		a, b := pl.Operands[0], pl.Operands[1]
		w := want[name]
		if a.Keep != w.keepA || b.Keep != w.keepB || pl.Tasks.Phases() != w.phases || b.Deep != w.deep {
			t.Errorf("%s: a %d, b %d, %d phases, deep %v; want %v", name, a.Keep, b.Keep, pl.Tasks.Phases(), b.Deep, w)
		}
	}
}

// TestKeeping_Columns: products by tiles, whose workers have columns of b of their
// own, are right however blocks are kept; groups of columns are gone through by rows.
func TestKeeping_Columns(t *testing.T) {
	if missing := gemm.AMX.Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks %v", missing)
	}
	p := problem.New(96, 128, 192, tile.Int8)
	programs, err := kernels.All[3].Build(p, "", tile.Blocks{M: 32, K: 64, N: 32})
	if err != nil {
		t.Fatal(err)
	}
	in := []tile.Tensor{tile.NewTensor(p.A, p.M, p.K), tile.NewTensor(p.B, p.K, p.N)}
	for i, x := range in {
		for at := range x.Len() {
			x.Set(at, float64(at*(5+2*i)%23-11))
		}
	}
	want, err := interp.Run(context.Background(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	options := keeping()
	options["columns in groups"] = Options{Threads: 2, CacheBytes: 10 << 10, ownBytes: 1}
	for name, o := range options {
		o.ISA = "amx"
		e, err := open(t, o)().Compile(context.Background(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.Load(in...); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(context.Background(), 2); err != nil {
			t.Fatal(err)
		}
		got := tile.NewTensor(p.Out, p.M, p.N)
		if err := e.Results(got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Int32s(), want[0].Int32s()) {
			t.Errorf("%s: a wrong product", name)
		}
	}
}

// TestCounters compares what one worker without caches counts with interp.
func TestCounters(t *testing.T) {
	be := open(t, Options{Threads: 1, CacheBytes: -1, ProgramOrder: true})()
	for _, k := range kernels.Ladder(problem.MatmulFamily) {
		for _, s := range [][3]int{{67, 129, 83}, {32, 64, 16}, {1, 5, 3}} {
			p := problem.New(s[0], s[1], s[2], tile.BFloat16)
			if k.Supports(p) != nil {
				continue
			}
			blocks := k.Candidates(p, problem.Machine{Parallel: 2})
			if k.Number() > 2 {
				blocks = append(blocks, tile.Blocks{M: 16, K: 32, N: 24}.Clip(s[0], s[1], s[2]))
			}
			for _, b := range blocks {
				t.Run(fmt.Sprintf("%s/%v/%v", k.Name(), p, b), func(t *testing.T) {
					programs, err := k.Build(p, "", b)
					if err != nil {
						t.Fatal(err)
					}
					in := []tile.Tensor{tile.NewTensor(p.A, p.M, p.K), tile.NewTensor(p.B, p.K, p.N)}
					var want interp.Counters
					if _, err := interp.RunWith(context.Background(), programs, in, interp.Options{Counters: &want}); err != nil {
						t.Fatal(err)
					}
					e, err := be.Compile(context.Background(), programs, backend.Params{})
					if err != nil {
						t.Fatal(err)
					}
					defer e.Close()
					if err := e.Load(in...); err != nil {
						t.Fatal(err)
					}
					sample, err := e.Run(context.Background(), 2)
					if err != nil {
						t.Fatal(err)
					}
					if got := sample.Counters; got.GridSteps != want.GridSteps || got.BlocksLoaded != want.BlocksLoaded ||
						got.BytesLoaded != want.BytesLoaded || got.BytesStored != want.BytesStored {
						t.Errorf("counted %+v, interp %+v", got, want)
					}
				})
			}
		}
	}
}
