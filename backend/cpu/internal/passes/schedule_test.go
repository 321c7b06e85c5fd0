package passes

import (
	"math/rand/v2"
	"testing"

	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// TestTasks_CoverTheGrid: phases, tasks and steps visit every program once, and
// those of one point of the parallel axes in order.
func TestTasks_CoverTheGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		p := &plan.Plan{Program: &tile.Program{}, Machine: plan.Machine{Workers: 2}}
		tk := &p.Tasks
		all := 1
		for i := range 1 + rng.IntN(4) {
			a := &tile.Axis{Size: 1 + rng.IntN(5)}
			p.Program.Grid = append(p.Program.Grid, a)
			all *= a.Size
			switch rng.IntN(3) {
			case 0:
				tk.Outer = append(tk.Outer, i)
			case 1:
				tk.Inner = append(tk.Inner, i)
			default:
				tk.Serial = append(tk.Serial, i)
			}
		}
		tk.Outers, tk.Inners, tk.Steps = points(p, tk.Outer), points(p, tk.Inner), points(p, tk.Serial)
		tk.Group = 1 + rng.IntN(tk.Inners)
		seen := map[[4]int]bool{}
		var ids [4]int
		for phase := range tk.Phases() {
			for task := range tk.Count(phase) {
				tk.Locate(p.Program.Grid, phase, task, ids[:])
				last := -1
				for s := range tk.Steps {
					plan.Decode(p.Program.Grid, tk.Serial, s, ids[:])
					if seen[ids] {
						t.Fatalf("program %v runs twice: %+v", ids, *tk)
					}
					seen[ids] = true
					n := 0
					for i, a := range p.Program.Grid {
						n = n*a.Size + ids[i]
					}
					if n <= last {
						t.Fatalf("program %v runs out of order: %+v", ids, *tk)
					}
					last = n
				}
			}
		}
		if len(seen) != all {
			t.Fatalf("%d of %d programs run: %+v", len(seen), all, *tk)
		}
	}
}
