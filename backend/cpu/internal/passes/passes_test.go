package passes

import (
	"strings"
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// productPlan is the plan of a product, compiled for the pure Go kernels.
func productPlan(t *testing.T) *plan.Plan {
	t.Helper()
	b := tile.New("product")
	zero := tile.Const(0)
	x := b.In("a", tile.Float32, tile.Array(4, 8), tile.Block(4, 8).At(zero, zero))
	y := b.In("b", tile.Float32, tile.Array(8, 4), tile.Block(8, 4).At(zero, zero))
	b.Store(b.Out("o", tile.Float32, tile.Array(4, 4), tile.Block(4, 4).At(zero, zero)), tile.Dot(x, y))
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(programs[0], plan.Machine{Kernels: gemm.For(gemm.Generic), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPasses_Told: a plan tells of every pass, by its name and in the order in which they run.
func TestPasses_Told(t *testing.T) {
	var text plan.Text
	productPlan(t).Print(&text)
	var told, want []string
	for _, line := range strings.Split(text.String(), "\n") {
		if line != "" && line[0] != ' ' {
			told = append(told, strings.Fields(line)[0])
		}
	}
	for _, pass := range Passes {
		want = append(want, pass.Name)
	}
	want = append(want, "loops")
	if got, want := strings.Join(told, " "), strings.Join(want, " "); got != want {
		t.Errorf("told of %s; passes are %s", got, want)
	}
}
