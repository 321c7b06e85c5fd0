package harness

import "matladder/results"

// A program that loops on the device is timed at two launch counts, each a
// repetition of its own: the slope is the time of a launch, and what it takes to
// start a program cancels.
const longLoop = 3 // the longer count, in units of the shorter

// counts are the launches of the repetitions that belong together.
func (l *lane) counts() []int {
	if l.loops {
		return []int{l.launches, longLoop * l.launches}
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
