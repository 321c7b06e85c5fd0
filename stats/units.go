package stats

import (
	"math"
	"strconv"
	"strings"

	"matladder/internal/words"
	"matladder/results"
)

// FormatSeconds writes a time with three digits and the unit that suits it:
// "1.23 ms".
func FormatSeconds(s float64) string {
	for _, u := range [...]struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		// 0.9995 and not 1: what rounds to 1000 of a unit is 1 of the next.
		if math.Abs(s) >= 0.9995*u.size {
			return words.Figure(s/u.size) + " " + u.name
		}
	}
	return words.Figure(s/1e-9) + " ns"
}

// formatError writes an error, which may be tiny, with two digits.
func formatError(v results.Optional[float64]) string {
	if !v.Known {
		return ""
	}
	return strconv.FormatFloat(v.Value, 'g', 2, 64)
}

// firstLine returns the first line of s, at most 60 characters of it.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

// FormatMemory writes an amount of memory for people, 1.25 GiB; nothing for none.
func FormatMemory(bytes int64) string {
	v, unit := float64(bytes)/(1<<20), " MiB"
	switch {
	case bytes <= 0:
		return ""
	case v >= 1024:
		v, unit = v/1024, " GiB"
	}
	return words.Figure(v) + unit
}
