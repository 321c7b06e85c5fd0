package stats

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"matladder/internal/words"

	"golang.org/x/perf/benchunit"
)

// Energy is what launches of a point took, by all rows that nothing disturbed together.
type Energy struct {
	Joules float64 // of a launch; 0 if it is not known
	Watts  float64 // during launches: by Joules, or else as a GPU's driver averages its power; 0 if not known
	Short  bool    // a counter told, and the rows are too short for the steps in which it rises
}

// energySteps are the longest times between two rises of a counter.
var energySteps = map[string]time.Duration{"rapl": time.Millisecond, "hwmon": 10 * time.Millisecond}

// EnergyStep is how long a counter of energy may stand still.
func EnergyStep(source string) time.Duration {
	return cmp.Or(energySteps[source], 100*time.Millisecond) // as NVML's
}

// energySums adds up rows that tell.
type energySums struct {
	joules, seconds, launches, rows float64
	watts, watched                  float64
}

func (e *energySums) add(r rep) {
	if r.joules.Known {
		e.joules, e.seconds, e.launches, e.rows = e.joules+r.joules.Value, e.seconds+r.seconds, e.launches+float64(r.launches), e.rows+1
	}
	if r.watts > 0 {
		e.watts, e.watched = e.watts+r.watts, e.watched+1
	}
}

// energy is that of a launch. The counter is off by up to a step at both ends of each row, which
// as noise is √(rows/6) steps: more than a twentieth of the time makes no figure.
func (e energySums) energy(source string) (a Energy) {
	a.Watts = e.watts / max(1, e.watched)
	switch noise := EnergyStep(source).Seconds() * math.Sqrt(e.rows/6); {
	case e.joules <= 0:
	case noise > e.seconds/20:
		a.Short = true
	default:
		a.Joules, a.Watts = e.joules/e.launches, e.joules/e.seconds
	}
	return a
}

// WorkPerJoule is what a launch does over what it takes: FLOP/J; 0 if it is not known.
func (s *Summary) WorkPerJoule() float64 {
	if s.Energy.Joules == 0 {
		return 0
	}
	return s.Work() / s.Energy.Joules
}

// energyColumns are columns of tables for people on request.
var energyColumns = map[string]func(s *Summary) string{
	"joules": func(s *Summary) string { return prefixed(s.Energy.Joules, "J") },
	"watts":  func(s *Summary) string { return prefixed(s.Energy.Watts, "W") },
	"per_joule": func(s *Summary) string {
		return prefixed(s.WorkPerJoule(), strings.TrimSuffix(s.RateOf().PerSecond(), "/s")+"/J")
	},
}

func energyColumn(name string) ladderColumn {
	return ladderColumn{name: name, cell: func(s *Summary) string {
		if s.Energy.Short && (name != "watts" || s.Energy.Watts == 0) {
			return "n/a"
		}
		return energyColumns[name](s)
	}}
}

// prefixed writes a positive number with the prefix that suits it, "" for 0.
func prefixed(v float64, unit string) string {
	if v <= 0 {
		return ""
	}
	s := benchunit.CommonScale([]float64{v}, benchunit.Decimal)
	return words.Figure(v/s.Factor) + " " + s.Prefix + unit
}

// energyRemark says why columns of energy that were asked for are empty, "" if they are not.
func energyRemark(summaries []Summary, columns []string) string {
	asked := slices.ContainsFunc(columns, func(name string) bool { return energyColumns[name] != nil })
	has := func(is func(e Energy) bool) bool {
		return slices.ContainsFunc(summaries, func(s Summary) bool { return is(s.Energy) })
	}
	switch {
	case !asked:
	case has(func(e Energy) bool { return e.Short }):
		return "energy is n/a where launches were timed for too short, by the steps of the counter: larger problems or --duty 100 take longer"
	case !has(func(e Energy) bool { return e.Joules > 0 }):
		return "energy is not known: no counter told it; bench --machine says why"
	}
	return ""
}
