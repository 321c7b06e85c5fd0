package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// enough is how many predictions are to be held against what is measured.
const enough = 30

// A point is what a prediction and a measurement have in common.
type point struct {
	chip, product, size, precision string
	bm, bk, bn                     int
}

func pointOf(s *stats.Summary) point {
	return point{s.Chip, s.Product(), s.Size(), s.Precision, s.BM, s.BK, s.BN}
}

func (p point) String() string {
	return fmt.Sprintf("%s %s in %d×%d×%d", p.product, p.size, p.bm, p.bk, p.bn)
}

// predictions holds what was predicted of points against what was measured.
func predictions(measured, predicted []results.Record) bar {
	b := bar{what: "predictions", wanted: fmt.Sprintf("median error at most 10 %% of %d points", enough), verdict: notMeasured}
	foretold, chips := map[point]stats.Summary{}, map[string]bool{}
	for _, s := range stats.Summarize(predicted) {
		if s.Mode == results.Predicted {
			foretold[pointOf(&s)], chips[s.Chip] = s, true
		}
	}
	var errs []float64
	left := map[string][]string{} // points by why they are not compared
	seen := map[point]bool{}
	for _, s := range stats.Summarize(measured) {
		if s.Mode != results.Measured {
			continue
		}
		p := pointOf(&s)
		f, ok := foretold[p]
		seen[p] = true
		why := ""
		switch {
		case len(chips) > 0 && !chips[s.Chip]:
			why = "of another device, " + s.Device
		case s.Status != results.OK:
			why = string(s.Status)
		case !s.Time.Known():
			why = "without a figure"
		case !ok:
			why = "not predicted"
		case !f.Time.Known():
			why = "predicted as " + string(f.Status)
		default:
			errs = append(errs, math.Abs(f.Time.Median/s.Time.Median-1))
			continue
		}
		left[why] = append(left[why], p.String())
	}
	for p := range foretold {
		if !seen[p] {
			left[notMeasured] = append(left[notMeasured], p.String())
		}
	}
	var found []string
	if len(errs) > 0 {
		slices.Sort(errs)
		median := (errs[len(errs)/2] + errs[(len(errs)-1)/2]) / 2
		found = []string{fmt.Sprintf("median %.1f %%, largest %.1f %%, of %d points", 100*median, 100*errs[len(errs)-1], len(errs))}
		if b.verdict = "too few points"; len(errs) >= enough {
			b.verdict = verdict(median <= 0.1)
		}
	} else if len(measured) > 0 {
		b.verdict = "nothing to compare"
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		list := left[why]
		found = append(found, fmt.Sprintf("%d %s: %s", len(list), why, slices.Min(list)))
		if len(list) > 1 {
			found[len(found)-1] += " …"
		}
	}
	b.found = strings.Join(found, "; ")
	return b
}
