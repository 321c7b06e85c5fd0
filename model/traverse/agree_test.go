package traverse_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/model"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
	"matladder/tile/tiletest"
)

// randomKernels calls f for every kernel, on n random ragged problems and blocks.
func randomKernels(t *testing.T, n, size, block int, f func(p problem.Matmul, programs []*tile.Program)) {
	r := rand.New(rand.NewPCG(7, 8))
	dtypes := []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8}
	for range n {
		p := problem.New(1+r.IntN(size), 1+r.IntN(size), 1+r.IntN(size), dtypes[r.IntN(3)])
		for _, k := range kernels.Ladder(problem.MatmulFamily) {
			if k.Supports(p) != nil {
				continue
			}
			b := tile.Blocks{M: 1 + r.IntN(block), K: 1 + r.IntN(block), N: 1 + r.IntN(block)}
			switch k.Number() {
			case 1:
				b = tile.Blocks{M: p.M, K: p.K, N: p.N}
			case 2:
				b.K = p.K
			}
			programs, err := k.Build(p, "", b.Clip(p.M, p.K, p.N))
			if err != nil {
				t.Fatal(err)
			}
			f(p, programs)
		}
	}
}

func sum(t *testing.T, programs []*tile.Program, tables map[string]tile.Tensor) traverse.Totals {
	t.Helper()
	s, err := traverse.Sum(context.Background(), programs, tables)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSum_Analyze(t *testing.T) {
	randomKernels(t, 200, 60, 20, func(p problem.Matmul, programs []*tile.Program) {
		s := sum(t, programs, nil)
		c, err := model.Count(programs)
		if err != nil {
			t.Fatal(err)
		}
		if s.GridSteps != c.GridSteps || s.BytesMoved() != c.BytesMoved || s.FastBytes != c.FastBytes {
			t.Errorf("%s\n%s: have %+v, model %+v", programs[0], p, s.Counters, c)
		}
	})
}

func TestSum_Interp(t *testing.T) {
	randomKernels(t, 25, 30, 16, func(p problem.Matmul, programs []*tile.Program) {
		in := []tile.Tensor{tile.NewTensor(p.A, p.M, p.K), tile.NewTensor(p.B, p.K, p.N)}
		agreesWithInterp(t, programs, nil, in)
	})
}

// TestSum_Random does so for random programs, with tables among them.
func TestSum_Random(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	compared, withTable := 0, 0
	for range 4000 {
		data := make([]byte, 64)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		p, err := tiletest.Random(data)
		if err != nil {
			continue
		}
		programs, in := []*tile.Program{p}, tiletest.Inputs(p, r.Uint64())
		bound, err := tile.Bind(programs)
		if err != nil {
			t.Fatal(err)
		}
		tables := map[string]tile.Tensor{}
		for i, ref := range bound.In {
			if ref.Kind == tile.Table {
				tables[ref.Name] = in[i]
			}
		}
		if !agreesWithInterp(t, programs, tables, in) {
			continue
		}
		compared++
		if len(tables) > 0 {
			withTable++
		}
	}
	if compared < 100 || withTable < 10 {
		t.Errorf("only %d programs compared, %d with a table", compared, withTable)
	}
}

// agreesWithInterp compares all counters; false if interp refuses the program.
// What it refuses because of a block, traverse refuses too.
func agreesWithInterp(t *testing.T, programs []*tile.Program, tables map[string]tile.Tensor, in []tile.Tensor) bool {
	t.Helper()
	var want interp.Counters
	_, err := interp.RunWith(context.Background(), programs, in, interp.Options{Counters: &want})
	if err != nil {
		if strings.Contains(err.Error(), " block [") {
			if _, have := traverse.Sum(context.Background(), programs, tables); have == nil {
				t.Errorf("not refused, but interp says %v", err)
			}
		}
		return false
	}
	s := sum(t, programs, tables)
	have := interp.Counters{GridSteps: s.GridSteps, BlocksLoaded: s.BlocksLoaded, BytesLoaded: s.BytesLoaded, BlocksStored: s.BlocksStored, BytesStored: s.BytesStored}
	var reread, moves, kept int64
	for i, r := range s.Refs {
		if w := want.Refs[i]; w.Ref != r.Ref || w.Blocks != r.Blocks || w.Bytes != r.Bytes {
			t.Errorf("%s: have %+v, interp %+v", r.Ref.Name, r, w)
		}
		reread += r.BytesReread
		if r.Ref.Kind == tile.In {
			moves, kept = moves+r.Blocks, kept+r.Kept
			if moved := r.Bytes - r.BytesReread; r.Ref.Dtype.Bits() >= 8 && moved > r.Ref.ArrayBytes() {
				t.Errorf("%s: %d bytes moved a first time, the array has %d", r.Ref.Name, moved, r.Ref.ArrayBytes())
			}
		}
	}
	refs := want.Refs
	want.Refs = nil
	if have.GridSteps != want.GridSteps || have.BlocksLoaded != want.BlocksLoaded || have.BytesLoaded != want.BytesLoaded ||
		have.BlocksStored != want.BlocksStored || have.BytesStored != want.BytesStored || len(refs) != len(s.Refs) ||
		reread != s.BytesReread || kept != s.LoadsSkipped {
		t.Errorf("%s: have %+v, interp %+v", programs[0].Name, s, want)
	}
	return true
}

// TestSum_CPU: one worker in program order without a cache counts the same; with
// the cache it loads no more. Two take as many steps and store as much, but load
// what both need twice.
func TestSum_CPU(t *testing.T) {
	for _, o := range []cpu.Options{{Threads: 1, CacheBytes: -1, ProgramOrder: true, NoProbe: true}, {Threads: 1, ProgramOrder: true, NoProbe: true}, {Threads: 2, NoProbe: true}} {
		be, err := cpu.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		randomKernels(t, 15/thoroughtest.OneIn(1, 3, 3), 90, 40, func(p problem.Matmul, programs []*tile.Program) {
			e, err := be.Compile(context.Background(), programs, backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if err := e.Load(tile.NewTensor(p.A, p.M, p.K), tile.NewTensor(p.B, p.K, p.N)); err != nil {
				t.Fatal(err)
			}
			sample, err := e.Run(context.Background(), 1)
			if err != nil {
				t.Fatal(err)
			}
			s, have := sum(t, programs, nil), sample.Counters
			loads := have.BlocksLoaded == s.BlocksLoaded && have.BytesLoaded == s.BytesLoaded
			switch {
			case o.Threads > 1:
				loads = have.BlocksLoaded > 0
			case o.CacheBytes == 0:
				loads = have.BlocksLoaded <= s.BlocksLoaded && have.BytesLoaded <= s.BytesLoaded
			}
			if have.GridSteps != s.GridSteps || have.BytesStored != s.BytesStored || !loads {
				t.Errorf("%+v %s\n%s: cpu %+v, traverse %+v", o, p, programs[0], have, s.Counters)
			}
		})
		be.Close()
	}
}
