package harness

import (
	"math"
	"testing"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// TestMachine_Pipeline: the time by which blocks are chosen for a TPU is that of the step
// model, which counts what the program moves, for all that it proposes and more, whether an
// input comes ahead or not.
func TestMachine_Pipeline(t *testing.T) {
	for _, key := range []string{"tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e", "tpu_v7x"} {
		d, err := machine.Find(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{512, 2048, 8192} {
			for _, dtype := range []tile.Dtype{tile.BFloat16, tile.Int8} {
				for _, prefetch := range []bool{false, true} {
					checkPipeline(t, d, problem.New(n, n, n, dtype), prefetch)
					checkPipeline(t, d, problem.New(n, n, 2*n, dtype), prefetch)
				}
			}
		}
	}
}

func checkPipeline(t *testing.T, d machine.Device, p problem.Matmul, prefetch bool) {
	t.Helper()
	m := modelOf(d, backend.Params{Prefetch: prefetch})
	list := kernels.All[4].Candidates(p, m.Machine)
	for _, b := range append(list, tile.Blocks{M: 256, K: 512, N: 512}, tile.Blocks{M: 512, K: p.K, N: 256}) {
		programs, err := kernels.All[4].Build(p, "", b)
		if err != nil {
			t.Fatal(err)
		}
		f, err := model.FootprintOf(programs)
		if err != nil {
			t.Fatal(err)
		}
		var inputs []model.Resident
		if _, _, prefetched := m.VMEM.Request(f, true); prefetched {
			r, err := model.Prefetched(programs, m.VMEM.Prefetch.Apart)
			if err != nil {
				t.Fatal(err)
			}
			inputs = []model.Resident{{Name: r.Name, Between: m.VMEM.Prefetch.Apart}}
		}
		w, err := model.WorkOf(programs[0], inputs...)
		if err != nil {
			t.Fatal(err)
		}
		cores := float64(max(1, d.Cores))
		w.Cycles = float64(w.FLOPs)/float64(w.Steps)/m.VMEM.Core.Rates[p.A]*d.ClockHertz.Value + m.VMEM.Core.Drain*d.ClockHertz.Value
		peak := p.A.String()
		if !d.PeakAt(peak, "").Known() {
			peak = "bfloat16"
		}
		want, err := w.On(d, peak, "")
		if err != nil {
			t.Fatal(err)
		}
		// The first blocks of a second core overlap in one and not in the other.
		tolerance := 0.01 + (cores-1)*0.02
		if have := m.Seconds(p, b); math.Abs(have/want.Seconds-1) > tolerance {
			t.Errorf("%s %s %s, prefetched %v: %.4g s, the step model has %.4g", d.Key, p, b, inputs, have, want.Seconds)
		}
	}
}

// TestPlan_Prefetch: where inputs may come ahead, rows of v5 say so, and their blocks are the
// kernel's own choice: those of the machine's table are for launches without. Others and the
// vendor's matmul, which has it anyway, are left as they are.
func TestPlan_Prefetch(t *testing.T) {
	d, err := machine.Find("tpu_v5e")
	if err != nil {
		t.Fatal(err)
	}
	f := problem.MatmulFamily
	asked, err := f.Parse("bfloat16")
	if err != nil {
		t.Fatal(err)
	}
	p := f.Make(f.Equal(2048), asked)
	table := &tuned.Table{Machine: "tpu_v5e"}
	for _, k := range kernels.Ladder(f)[3:] {
		table.Put(tuned.Row{Key: tuned.KeyOf(k.Name(), "", p), Blocks: tile.Blocks{M: 512, K: 512, N: 512}})
	}
	c := Config{Family: f, Kernels: []int{0, 4, 5}, Batches: []int{1}, Precisions: []tile.Precision{tile.Default},
		Sizes: []problem.Sizes{f.Equal(2048)}, Asked: []problem.Asked{asked}, Tuned: table}
	for _, prefetch := range []bool{false, true} {
		s, err := Plan(t.Context(), c, d, backend.Params{Prefetch: prefetch})
		if err != nil {
			t.Fatal(err)
		}
		for p := range s.Points() {
			if v5 := p.Name() == "v5_quant"; p.Params.Prefetch != (prefetch && v5) {
				t.Errorf("prefetch %v: %s", prefetch, p)
			}
			if rung, ok := p.Contender.(Rung); ok && (rung.Source == CandidateBlocks) != p.Params.Prefetch {
				t.Errorf("prefetch %v: %s has blocks by %s", prefetch, p, rung.Source)
			}
		}
	}
}

// TestPlan_Memory: v5 asks for fast memory where its blocks need more than the compiler
// grants, the vendor's matmul beside it has as much, other kernels keep to what is
// granted, and what a person asks for stands.
func TestPlan_Memory(t *testing.T) {
	d, err := machine.Find("tpu_v6e")
	if err != nil {
		t.Fatal(err)
	}
	f := problem.MatmulFamily
	asked, err := f.Parse("bfloat16")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Family: f, Kernels: []int{0, 3, 5}, Batches: []int{1}, Precisions: []tile.Precision{tile.Default},
		Sizes: []problem.Sizes{f.Equal(512), f.Equal(8192)}, Asked: []problem.Asked{asked}}
	const most = 120 << 20
	for _, limit := range []int64{0, 32 << 20} {
		s, err := Plan(t.Context(), c, d, backend.Params{VMEMBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		for p := range s.Points() {
			want := limit
			if limit == 0 && p.Problem.Sizes() == f.Equal(8192) && (p.isBaseline() || p.Name() == "v5_quant") {
				want = most
			}
			if p.Params.VMEMBytes != want {
				t.Errorf("%s asks for %d bytes, want %d", p, p.Params.VMEMBytes, want)
			}
		}
	}
}

// TestMachine_Ragged: every problem has blocks, however its sizes divide.
func TestMachine_Ragged(t *testing.T) {
	for _, key := range []string{"tpu_v4", "tpu_v5e", "tpu_v7x"} {
		d, err := machine.Find(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range [][3]int{{1, 1, 1}, {7, 1009, 3}, {1, 4096, 14336}, {50021, 50021, 50021}, {16, 1 << 18, 128}} {
			for _, dtype := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
				if p := problem.New(s[0], s[1], s[2], dtype); len(kernels.All[4].Candidates(p, modelOf(d, backend.Params{}).Machine)) == 0 {
					t.Errorf("%s: no blocks for %s", key, p)
				}
			}
		}
	}
}

// TestMachine_MLP: both rungs of gated MLPs have blocks on every generation that fit the fast
// memory that the compiler grants or is asked for, the second no others, all of whole units of
// columns. (Blocks that fit the first rung's products may be too large for what joins these.)
func TestMachine_MLP(t *testing.T) {
	for _, key := range []string{"tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e", "tpu_v7x"} {
		d, err := machine.Find(key)
		if err != nil {
			t.Fatal(err)
		}
		m := modelOf(d, backend.Params{})
		for _, words := range []string{"bfloat16", "float32", "bfloat16xint8"} {
			asked, err := problem.MLPFamily.Parse(words)
			if err != nil {
				t.Fatal(err)
			}
			for _, sizes := range []problem.Sizes{{512, 512, 512}, {8, 4096, 14336}, {512, 4096, 14336}} {
				p := problem.MLPFamily.Make(sizes, asked)
				for _, k := range kernels.Ladder(problem.MLPFamily) {
					found := false
					for _, b := range k.Candidates(p, m.Machine) {
						fit := fits(k, p, "", b, m)
						if found = found || fit; !fit && k.Number() == 2 || b.N%128 != 0 {
							t.Errorf("%s, %s, %s: %v", key, k.Name(), p, b)
						}
					}
					if !found {
						t.Errorf("%s, %s: no blocks for %s", key, k.Name(), p)
					}
				}
			}
		}
	}
}
