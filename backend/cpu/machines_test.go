package cpu

import (
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"
)

// TestMachines plans products for machines of many cores that files describe.
func TestMachines(t *testing.T) {
	list, err := filepath.Glob("../../docs/machines/*.json")
	if err != nil || len(list) < 4 {
		t.Fatal(list, err)
	}
	v5, _ := kernels.Rung(problem.MatmulFamily, 5)
	for _, name := range list {
		m, err := described(name)
		if err != nil {
			t.Fatal(err)
		}
		d := (&Backend{other: &m}).Device()
		model, c := blocking.Of(d, blocking.Setup{}), *d.Blocking
		fast := float64(m.Threads-c.Slow) + float64(c.Slow)*c.Slowness // cores, in those
		for _, p := range []problem.Matmul{problem.New(8192, 8192, 8192, tile.Float32), problem.New(1024, 1024, 1024, tile.Float32)} {
			b := v5.Candidates(p, model.Machine)[0]
			seconds, ideal := model.Seconds(p, b), float64(p.FLOPs())/(c.Rates[p.A].FLOPs*fast)
			programs := tile.Ceil(p.M, b.M) * tile.Ceil(p.N, b.N)
			t.Logf("%s %s: %s, %d programs, %.3g s, %.0f %% of the cores' rate", filepath.Base(name), p, b, programs, seconds, 100*ideal/seconds)
			if programs < m.Threads*3/4 {
				t.Errorf("%s %s: %d programs in blocks %s leave many of %d workers without", name, p, programs, b, m.Threads)
			}
			if seconds < ideal || p.M == 8192 && seconds > 2*ideal {
				t.Errorf("%s %s in blocks %s: %v s; all cores at their rate take %v", name, p, b, seconds, ideal)
			}
		}
		if c.Nodes > 1 { // rows that decode read all of b
			p := problem.New(16, 8192, 16384, tile.Float32)
			b := v5.Candidates(p, model.Machine)[0]
			near := d
			near.Blocking = &machine.Cores{}
			*near.Blocking = c
			near.Blocking.Nodes = 1
			if far, all := model.Seconds(p, b), blocking.Of(near, blocking.Setup{}).Seconds(p, b); far <= all {
				t.Errorf("%s %s: %v s, with all of memory near %v", name, p, far, all)
			}
		}
		isa, err := gemm.ParseISA(m.ISA)
		if err != nil {
			t.Fatal(err)
		}
		if len(isa.Missing()) > 0 {
			continue // no routine of it can be named here
		}
		t.Setenv(MachineVariable, name)
		be, err := Open(Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := problem.New(4096, 4096, 4096, tile.Float32)
		programs, err := v5.Build(p, "", v5.Candidates(p, model.Machine)[0])
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := be.WritePlan(t.Context(), &text, programs, backend.Params{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{m.CPU, plan.KiB(c.L3), "packed by all of them"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: the plan does not say %q:\n%s", name, want, text.String())
			}
		}
		if _, err := be.Compile(t.Context(), programs, backend.Params{}); err == nil || !strings.Contains(err.Error(), MachineVariable) {
			t.Errorf("%s: compiles for a machine that is not here: %v", name, err)
		}
	}
	for _, broken := range []string{"../../README.md", "none.json"} {
		if m, err := described(broken); err == nil {
			t.Errorf("%s is %+v", broken, m)
		}
	}
}
