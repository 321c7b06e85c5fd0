package cpu

import (
	"math"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/thoroughtest"
	optblock "matladder/kernels/v4_optblock"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// TestKept: a plan keeps a packed block of a for the next program of its row up to as many
// bytes as kernels are told.
func TestKept(t *testing.T) {
	b, err := Open(Options{Threads: 2, NoProbe: true, ownBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	kept := b.describe(measurements{Threads: 2, Cores: &machine.Cores{}}).Blocking.Kept
	const k, row = 256, 1024 // elements, and their bytes however they are packed
	for _, test := range []struct {
		rows int
		keep plan.Keep
	}{{int(kept)/row - 64, plan.KeepOwn}, {int(kept)/row + 64, plan.KeepPiece}} {
		programs, err := optblock.Kernel.Build(problem.New(4*test.rows, k, 256, tile.Float32), "", tile.Blocks{M: test.rows, K: k, N: 64})
		if err != nil {
			t.Fatal(err)
		}
		e, err := b.Compile(t.Context(), programs, backend.Params{Extra: map[string]string{paramA: "packed"}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if o := e.(*exec.Executable).Plans[0].Operands[0]; o.Keep != test.keep {
			t.Errorf("%d rows of %d bytes, of %d bytes kept: a is kept as %v (%s), want %v", test.rows, row, kept, o.Keep, o.Why, test.keep)
		}
	}
}

// TestMeasureCores: figures that block shapes are ranked by are numbers above zero,
// whatever the machine.
func TestMeasureCores(t *testing.T) {
	numbers := []int{2}
	if thoroughtest.All() {
		numbers = []int{1, 3} // more than many machines have cores: they wait for each other long
	}
	for _, threads := range numbers {
		b, err := Open(Options{Threads: threads, NoProbe: true, brief: !thoroughtest.All()})
		if err != nil {
			t.Fatal(err)
		}
		c := b.measureCores(t.Context(), 1e10)
		figures := map[string]float64{"shared": c.Shared, "memory": c.Memory, "launch": c.Launch, "task": c.Task}
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			r := c.Rates[d]
			figures[d.String()], figures[d.String()+" a"], figures[d.String()+" b"] = r.FLOPs, r.PackA, r.PackB
			figures[d.String()+" fetched"] = r.Fetch
			if r.Rows < 1 || r.Columns < 1 || r.Depth < 1 {
				t.Errorf("%s: register tile %d×%d, %d deep", d, r.Rows, r.Columns, r.Depth)
			}
		}
		for name, v := range figures {
			if !(v > 0) || math.IsInf(v, 0) {
				t.Errorf("%d threads: %s: %v", threads, name, v)
			}
		}
		t.Logf("%d threads: %+v", threads, *c)
	}
}
