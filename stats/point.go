package stats

import (
	"cmp"
	"fmt"
	"slices"

	"matladder/internal/each"
	"matladder/results"
)

// A roundID is one pass over a group. The run is part of it because a resumed file holds several.
type roundID struct {
	run   string
	round int
}

// A roundTime is the time of one launch of a point as one round saw it.
type roundTime struct {
	id      roundID
	seconds float64
}

// A timing is what the ok rows of one point say about the time of a launch.
type timing struct {
	samples  []float64   // seconds a launch: one a repetition, for loop one a round
	dispatch []float64   // seconds a run call costs beside the launches; loop only
	rounds   []roundTime // in order, for pairing with other points of the group
	runs     []runTimes  // samples by run, in the order in which they came
	warnings []string

	total         int            // rows that were timed
	left          int            // of total: disturbed, and not in the figures
	causes        map[Causes]int // of left
	all           *timing        // of all rows, if some are left out
	lowConfidence bool           // too few rows were quiet: the figures rest on those, or on disturbed ones
}

// runTimes are the samples of one execution.
type runTimes struct {
	run     string
	samples []float64
}

// A rep is what one ok row says about time.
type rep struct {
	round    roundID
	launches int
	seconds  float64

	shared *Symptoms // of the round
	waited float64   // share of the processors' time
}

// symptoms are those of the row.
func (r rep) symptoms() Symptoms {
	c := *r.shared
	c.waited = r.waited
	return c
}

// timePoint computes the timing of one point from its ok rows.
//
// For loop, each round fits seconds = slope·launches + intercept over its launch counts: the
// slope is device time, the intercept dispatch. The other methods divide seconds by launches.
//
// Disturbed rows are left out; of a loop the whole round, which has one slope. A point is
// of low confidence if fewer than enoughQuiet are left. If none is, all count.
func timePoint(method results.Method, rows []rep, d *Disturbances) timing {
	quiet, t := sift(method, rows, d)
	t.fit(method, quiet)
	if t.left > 0 {
		t.all = &timing{}
		t.all.fit(method, rows)
	}
	return t
}

// whole is the timing of all rows, disturbed ones included.
func (t *timing) whole() *timing {
	if t.all != nil {
		return t.all
	}
	return t
}

// quiet is the timing of the rows that nothing disturbed, which may be none.
func (t *timing) quiet() *timing {
	if t.left > 0 && t.left == t.total {
		return &timing{}
	}
	return t
}

// fit computes what rows say.
func (t *timing) fit(method results.Method, rows []rep) {
	flat, rounds := 0, 0 // flat: rounds of a loop with a single launch count
	for id, reps := range grouped(rows, func(r rep) roundID { return r.round }) {
		rounds++
		if method != results.Loop {
			times := each.Of(reps, func(r rep) float64 { return r.seconds / float64(r.launches) })
			t.add(id.run, times...)
			t.rounds = append(t.rounds, roundTime{id, estimate(times).Median})
			continue
		}
		var launches, seconds []float64
		for _, r := range reps {
			launches = append(launches, float64(r.launches))
			seconds = append(seconds, r.seconds)
		}
		slope, intercept, ok := fitLine(launches, seconds)
		if !ok {
			flat++
			continue
		}
		t.add(id.run, slope)
		t.dispatch = append(t.dispatch, intercept)
		t.rounds = append(t.rounds, roundTime{id, slope})
	}
	if flat > 0 {
		t.warnings = append(t.warnings, fmt.Sprintf("%d of %d rounds have one launch count, a slope needs two", flat, rounds))
	}
	slices.SortStableFunc(t.rounds, func(a, b roundTime) int {
		return cmp.Or(cmp.Compare(a.id.run, b.id.run), cmp.Compare(a.id.round, b.id.round))
	})
}

// add counts samples of a run in.
func (t *timing) add(run string, samples ...float64) {
	t.samples = append(t.samples, samples...)
	if n := len(t.runs); n == 0 || t.runs[n-1].run != run {
		t.runs = append(t.runs, runTimes{run: run})
	}
	last := &t.runs[len(t.runs)-1]
	last.samples = append(last.samples, samples...)
}

// pairedRatio estimates how many times longer other took than this, from the
// rounds both took part in: what slows a whole round down cancels.
func pairedRatio(this, other []roundTime) Estimate {
	seconds := map[roundID]float64{}
	for _, r := range other {
		seconds[r.id] = r.seconds
	}
	var ratios []float64
	for _, r := range this {
		if s := seconds[r.id]; s > 0 && r.seconds > 0 {
			ratios = append(ratios, s/r.seconds)
		}
	}
	return estimate(ratios)
}

// enoughQuiet is how many quiet samples a figure needs: as many as an interval of 95 %.
const enoughQuiet = 6

// sift parts the quiet rows of a point from the disturbed ones.
func sift(method results.Method, rows []rep, d *Disturbances) (quiet []rep, t timing) {
	t.total, t.causes = len(rows), map[Causes]int{}
	causes := make([]Causes, len(rows))
	rounds := map[roundID]Causes{}
	for i, r := range rows {
		causes[i] = d.Of(r.symptoms())
		rounds[r.round] |= causes[i]
	}
	samples := 0
	seen := map[roundID]bool{}
	for i, r := range rows {
		if method == results.Loop {
			causes[i] = rounds[r.round]
		}
		if causes[i] != 0 {
			t.left++
			t.causes[causes[i]]++
			continue
		}
		quiet = append(quiet, r)
		if method != results.Loop || !seen[r.round] {
			samples++
		}
		seen[r.round] = true
	}
	t.lowConfidence = t.left > 0 && samples < enoughQuiet
	if len(quiet) == 0 {
		quiet = rows
	}
	return quiet, t
}
