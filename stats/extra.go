package stats

import (
	"fmt"
	"slices"
	"strings"

	"matladder/results"
	"matladder/stats/interval"
)

// TableColumns are the names of the columns that a table for people has on request.
var TableColumns = []string{"min", "p20", "p80", "n", "disturbed", "cycles", "ipc", "l2_misses", "l3_misses", "dtlb_misses"}

// extraColumns are those columns.
var extraColumns = map[string]ladderColumn{
	"min":       {name: "min", cell: func(s *Summary) string { return s.secondsAt(0) }},
	"p20":       {name: "p20", cell: func(s *Summary) string { return s.secondsAt(0.2) }},
	"p80":       {name: "p80", cell: func(s *Summary) string { return s.secondsAt(0.8) }},
	"n":         {name: "n", cell: func(s *Summary) string { return positive(s.Time.N) }},
	"disturbed": {name: "disturbed", cell: func(s *Summary) string { return positive(s.Disturbed) }},

	"cycles":      eventColumn("cycles"),
	"ipc":         {name: "ipc", cell: (*Summary).ipcCell},
	"l2_misses":   eventColumn("l2_misses"),
	"l3_misses":   eventColumn("l3_misses"),
	"dtlb_misses": eventColumn("dtlb_misses"),
}

// ParseTableColumns reads names of TableColumns, joined by commas.
func ParseTableColumns(text string) ([]string, error) {
	names := strings.Split(text, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if !slices.Contains(TableColumns, names[i]) {
			return nil, fmt.Errorf("unknown column %q (known: %s)", names[i], strings.Join(TableColumns, ", "))
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, fmt.Errorf("%s is listed twice", names[i])
		}
	}
	return names, nil
}

// TimeAt returns the time of a launch, in seconds, at a quantile of the samples that the
// figures rest on, between two of them where it lies between; false without samples, and of
// a prediction.
func (s *Summary) TimeAt(q float64) (seconds float64, ok bool) {
	if s.Mode != results.Measured || !s.Time.Known() {
		return 0, false
	}
	seconds = interval.Quantile(slices.Sorted(slices.Values(s.timing.samples)), q)
	return seconds, seconds > 0
}

func (s *Summary) secondsAt(q float64) string {
	seconds, ok := s.TimeAt(q)
	if !ok {
		return ""
	}
	return markOf(s.Time) + FormatSeconds(seconds)
}
