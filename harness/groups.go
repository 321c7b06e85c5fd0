package harness

import (
	"context"
	"time"

	"matladder/internal/each"
	"matladder/results"
)

// groups takes the groups in turn, each with its share of the time that is left, in
// proportion to what its fewest rounds take. What time is left then goes to those whose
// share was over before their intervals were narrow.
func (r *run) groups(ctx context.Context, begin time.Time, done map[results.PointKey]*past) error {
	all := each.Upto(len(r.sweep.Groups), func(i int) *group {
		return &group{run: r, number: i, weight: r.sweep.leastTime(r.sweep.Groups[i]).Seconds()}
	})
	whole, before := weightOf(all), 0.0
	for _, g := range all {
		g.before, g.share = before, ratio(g.weight, whole)
		before += g.share
	}
	end, narrowing, narrowed := begin.Add(r.sweep.Config.TimeBudget), time.Time{}, 0
	for first, open := true, all; len(open) > 0; first = false {
		var wide []*group
		for i, g := range open {
			g.begin = r.now()
			if g.limited = r.sweep.Config.TimeBudget > 0; g.limited {
				rest := max(0, end.Sub(r.now()))
				share := time.Duration(float64(rest) * ratio(g.weight, weightOf(open[i:])))
				if !first {
					share = max(share, g.opening+g.last)
					if share > rest || rest == 0 {
						continue // not even a round
					}
					g.narrowed, g.begin, g.end = narrowed, narrowing, end
				}
				g.deadline = r.now().Add(share)
			}
			g.rng = order(r.sweep.Config.Seed, r.sweep.Groups[g.number].Problem)
			if err := g.measure(ctx, r.candidates(r.sweep.Groups[g.number], done)); err != nil {
				return err
			}
			g.rng = nil // there may be many groups
			if g.wide > 0 {
				wide = append(wide, g)
			}
		}
		if first {
			narrowing = r.now()
			narrowed = each.Sum(wide, func(g *group) int { return g.wide })
		}
		if open = wide; len(open) > 0 {
			done = history(r.rows.all())
		}
	}
	return nil
}

// weightOf adds up weights.
func weightOf(groups []*group) float64 {
	return each.Sum(groups, func(g *group) float64 { return g.weight })
}
