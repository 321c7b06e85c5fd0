package cpu

import (
	"errors"
	"math"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/kernels"
	"matladder/model/anatomy"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// TestAnatomy holds the plan of each step to its name, and its output to the interpreter's, for
// whole arrays and for blocks that overhang.
func TestAnatomy(t *testing.T) {
	const m, k, n = 61, 70, 83
	p := problem.New(m, k, n, tile.Float32)
	for _, isa := range gemm.Supported() {
		be := open(t, Options{Threads: 3, ISA: isa.String()})()
		for at, step := range anatomy.Steps {
			for _, blocks := range []tile.Blocks{{M: m, K: k, N: n}, {M: 32, K: 24, N: 40}} {
				programs, err := kernels.All[3].Build(p, "", blocks)
				if err != nil {
					t.Fatal(err)
				}
				e, err := be.compile(t.Context(), programs, backend.Params{Extra: map[string]string{anatomy.Param: step.Word}})
				if isa == gemm.Generic && (at == anatomy.Vectors || at == anatomy.Registers) {
					if !errors.Is(err, backend.ErrUnsupported) {
						t.Errorf("%s of %v, which has no vectors: %v", step.Word, isa, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%v %s %v: %v", isa, step.Word, blocks, err)
				}
				pl := e.Plans[0]
				if (pl.Tasks.Workers == 1) != (at < anatomy.Threads || blocks.M == m) {
					t.Errorf("%v %s %v: %d workers", isa, step.Word, blocks, pl.Tasks.Workers)
				}
				pl.EachDot(func(s plan.ShownStep, d *plan.Dot) {
					a, b, c := pl.Operands[d.A], pl.Operands[d.B], pl.CallOf(s.Step, d)
					packed := a.Keep != plan.KeepUnpacked && b.Keep != plan.KeepUnpacked
					if at <= anatomy.Packing && packed != (at == anatomy.Packing) || c.Read.Strided() != (at < anatomy.Packing) ||
						at < anatomy.Packing && (a.Keep != b.Keep || c.Read != gemm.ReadLoops+gemm.ReadB(at) || pl.LocalBytes+pl.SharedBytes > 0) {
						t.Errorf("%v %s %v: a %v, b %v, read in way %v", isa, step.Word, blocks, a.Keep, b.Keep, c.Read)
					}
					if at == anatomy.Packing && (a.Keep == plan.KeepPiece || b.Keep == plan.KeepPiece || c.MC != a.Packing.Lanes || c.Run != blocks.K) {
						t.Errorf("%v %s %v: a %v, b %v; %d rows and %d of k stay in caches", isa, step.Word, blocks, a.Keep, b.Keep, c.MC, c.Run)
					}
				})
				in := []tile.Tensor{tile.NewTensor(tile.Float32, m, k), tile.NewTensor(tile.Float32, k, n)}
				for i := range in {
					for j := range in[i].Len() {
						in[i].Set(j, float64((j*7+i)%13)-6)
					}
				}
				all, err := interp.Run(t.Context(), programs, in)
				if err != nil {
					t.Fatal(err)
				}
				want, got := all[0], tile.NewTensor(tile.Float32, m, n)
				if err := errors.Join(e.Load(in...), func() error { _, err := e.Run(t.Context(), 2); return err }(), e.Results(got)); err != nil {
					t.Fatal(err)
				}
				for i := range got.Len() { // sums of small whole numbers are exact in any order
					if x, y := got.At(i), want.At(i); math.Abs(x-y) > 0 || math.IsNaN(x) {
						t.Fatalf("%v %s %v: element %d is %v, the interpreter's %v", isa, step.Word, blocks, i, x, y)
					}
				}
				e.Close()
			}
		}
	}
}

// TestAnatomyLast: the last step is what the backend does unless asked, and others are refused
// where they cannot be taken.
func TestAnatomyLast(t *testing.T) {
	be := open(t, Options{Threads: 2})()
	texts := map[string]string{}
	for _, word := range []string{"", "threads"} {
		params := backend.Params{}
		if word != "" {
			params.Extra = map[string]string{anatomy.Param: word}
		}
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			programs, err := kernels.All[3].Build(problem.New(256, 256, 256, d), "", tile.Blocks{M: 128, K: 256, N: 64})
			if err != nil {
				t.Fatal(err)
			}
			e, err := be.compile(t.Context(), programs, params)
			if err != nil {
				t.Fatal(err)
			}
			texts[word] += e.Print(nil, false) + made(e)
			if d == tile.Float32 || word == "" {
				continue
			}
			_, err = be.compile(t.Context(), programs, backend.Params{Extra: map[string]string{anatomy.Param: "order"}})
			if !errors.Is(err, backend.ErrUnsupported) || !strings.Contains(err.Error(), "passes=order") {
				t.Errorf("loops of %s: %v", d, err)
			}
		}
	}
	if texts[""] != texts["threads"] {
		t.Errorf("with all steps:\n%s\nwithout the parameter:\n%s", texts["threads"], texts[""])
	}
	if _, err := ParseParams(map[string]string{anatomy.Param: "order", "b": "packed"}); err == nil || !strings.Contains(err.Error(), "no other choice") {
		t.Errorf("a choice beside steps: %v", err)
	}
}
