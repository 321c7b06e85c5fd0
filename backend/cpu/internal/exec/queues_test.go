package exec

import (
	"sync"
	"testing"
)

// TestShares_EachTaskOnce lets workers of very different speed take tasks.
func TestShares_EachTaskOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		for _, tasks := range []int{0, 1, 2, 5, 1000} {
			s := make(Queues, workers)
			s.Deal(tasks)
			taken := make([][]int, workers)
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for {
						n, ok := s.next(w, true)
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
