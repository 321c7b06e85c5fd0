package stats

import (
	"matladder/results"
)

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
