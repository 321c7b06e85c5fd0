package plot

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"matladder/harness"
	"matladder/internal/each"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/stats"
	"matladder/tile"
)

const (
	shownSteps  = 600     // of a traversal, in the player
	walkedSteps = 1 << 22 // of a traversal, for its totals: a second at most
)

// A launch is a point whose programs could be built anew.
type launch struct {
	point    *stats.Summary
	programs []*tile.Program
	steps    int64
}

// traversals follows the kernels of one problem through their grids, each with the blocks it did
// best with. The problem is the one that most kernels have; of several, the largest of which the
// player can show every step, else the smallest.
func traversals(ctx context.Context, list []stats.Summary) ([]*traverse.Recording, error) {
	var order []problem.Problem
	launches := map[problem.Problem][]launch{}
	best := stats.Best(list)
	for i := range best {
		p, programs, err := harness.Rebuild(&best[i].Record)
		if err != nil {
			continue // the baseline, a library, or a row of another version
		}
		l := launch{&best[i], programs, each.Sum(programs, (*tile.Program).Steps)}
		twice := slices.ContainsFunc(launches[p], func(o launch) bool { return o.point.Kernel == l.point.Kernel })
		if twice || l.steps > walkedSteps {
			continue
		}
		order, launches[p] = each.With(order, p), append(launches[p], l)
	}
	if len(order) == 0 {
		return nil, nil
	}
	rank := func(p problem.Problem) int64 {
		if slices.ContainsFunc(launches[p], func(l launch) bool { return l.steps > shownSteps }) {
			return -p.FLOPs()
		}
		return p.FLOPs()
	}
	chosen := slices.MaxFunc(order, func(a, b problem.Problem) int {
		return cmp.Or(cmp.Compare(len(launches[a]), len(launches[b])), cmp.Compare(rank(a), rank(b)))
	})
	slices.SortFunc(launches[chosen], func(a, b launch) int {
		return stats.CompareKernels(a.point.Kernel, b.point.Kernel)
	})
	var recordings []*traverse.Recording
	for _, l := range launches[chosen] {
		title := fmt.Sprintf("%s %s, blocks %s", l.point.Kernel, chosen, l.point.Blocks())
		r, err := traverse.Record(ctx, title, l.programs, nil, shownSteps)
		if err != nil {
			return nil, fmt.Errorf("traversal of %s: %w", title, err)
		}
		recordings = append(recordings, r)
	}
	return recordings, nil
}
