package cpu

import (
	"math/rand/v2"
	"sync"
	"testing"

	"matladder/tile"
)

// TestTasks_CoverTheGrid: phases, tasks and steps visit every program once, and
// those of one point of the parallel axes in order.
func TestTasks_CoverTheGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		p := &plan{program: &tile.Program{}, machine: machine{workers: 2}}
		tk := &p.tasks
		points := 1
		for i := range 1 + rng.IntN(4) {
			a := &tile.Axis{Size: 1 + rng.IntN(5)}
			p.program.Grid = append(p.program.Grid, a)
			points *= a.Size
			switch rng.IntN(3) {
			case 0:
				tk.outer = append(tk.outer, i)
			case 1:
				tk.inner = append(tk.inner, i)
			default:
				tk.serial = append(tk.serial, i)
			}
		}
		tk.outers, tk.inners, tk.steps = p.points(tk.outer), p.points(tk.inner), p.points(tk.serial)
		tk.group = 1 + rng.IntN(tk.inners)
		seen := map[[4]int]bool{}
		var ids [4]int
		for phase := range tk.phases() {
			for task := range tk.count(phase) {
				tk.locate(p.program.Grid, phase, task, ids[:])
				last := -1
				for s := range tk.steps {
					decode(p.program.Grid, tk.serial, s, ids[:])
					if seen[ids] {
						t.Fatalf("program %v runs twice: %+v", ids, *tk)
					}
					seen[ids] = true
					n := 0
					for i, a := range p.program.Grid {
						n = n*a.Size + ids[i]
					}
					if n <= last {
						t.Fatalf("program %v runs out of order: %+v", ids, *tk)
					}
					last = n
				}
			}
		}
		if len(seen) != points {
			t.Fatalf("%d of %d programs run: %+v", len(seen), points, *tk)
		}
	}
}

// TestShares_EachTaskOnce lets workers of very different speed take tasks.
func TestShares_EachTaskOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		for _, tasks := range []int{0, 1, 2, 5, 1000} {
			s := make(queues, workers)
			s.deal(tasks)
			taken := make([][]int, workers)
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for {
						n, ok := s.next(w)
						if !ok {
							return
						}
						taken[w] = append(taken[w], n)
					}
				})
			}
			wg.Wait()
			count := make([]int, tasks)
			for _, ns := range taken {
				for _, n := range ns {
					count[n]++
				}
			}
			for n, c := range count {
				if c != 1 {
					t.Fatalf("%d workers: task %d of %d was taken %d times", workers, n, tasks, c)
				}
			}
		}
	}
}
