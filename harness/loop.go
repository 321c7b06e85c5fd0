package harness

import "matladder/results"

// A program that loops on the device is timed at two launch counts, each a
// repetition of its own: the slope is the time of a launch, and what it takes to
// start a program cancels.
//
// Noise in proportion to a time reaches the slope √(r²+1)/(r-1)-fold where the
// longer count is r times the shorter: 1.15-fold for r = 8, 1.58-fold for r = 3,
// which is what launches get that are too long to run many.
func loopCounts(launches int) (shorter, longer int) {
	const few = 8
	if launches < few {
		return launches, 3 * launches
	}
	return launches / 4, launches / 4 * 8
}

// counts are the launches of the repetitions that belong together.
func (l *lane) counts() []int {
	if l.longer > 0 {
		return []int{l.launches, l.longer}
	}
	return []int{l.launches}
}

// launchTime is the time of a launch as row, the next row of its point after
// last, completes it; false if row is only the shorter count of a loop.
func launchTime(last, row *results.Record) (seconds float64, ok bool) {
	switch {
	case row.Method != results.Loop:
		return row.Seconds / float64(row.Launches), true
	case last == nil || last.RunID != row.RunID || last.Round != row.Round || last.Launches >= row.Launches:
		return 0, false
	}
	return (row.Seconds - last.Seconds) / float64(row.Launches-last.Launches), true
}
