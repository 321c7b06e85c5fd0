package stats

import (
	"fmt"
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"
	"matladder/stats/twosample"
)

// The control is work that both sides did alike. Where it takes longer on one of them, the
// machine was slower there, whatever the programs under comparison are.

// runID names an execution within the files of a comparison.
type runID struct{ file, run string }

// A fixedWork is what the control says of one side: of each execution, the times of its
// arithmetic, and of its reads of memory by group.
type fixedWork struct {
	order   []runID
	compute map[runID][]float64
	memory  map[string]map[runID][]float64
}

// add counts in the controls of the executions that have times of a point.
func (w *fixedWork) add(s *Summary) {
	if s.machine == nil || !s.usable() {
		return
	}
	if w.compute == nil {
		w.compute, w.memory = map[runID][]float64{}, map[string]map[runID][]float64{}
	}
	group := SymptomsOf(&s.Record).group
	for _, r := range s.timing.whole().runs {
		id, run := runID{s.Pos.File, r.run}, s.machine.runs[r.run]
		if run == nil {
			continue
		}
		if w.compute[id] == nil {
			w.order = append(w.order, id)
			w.compute[id] = once(run.compute.values)
		}
		if reads := run.memory[group]; reads != nil {
			if w.memory[group] == nil {
				w.memory[group] = map[runID][]float64{}
			}
			w.memory[group][id] = once(reads.values)
		}
	}
}

// once has each time once: a control between two rounds is one behind and one ahead.
func once(values []float64) []float64 { return slices.Compact(slices.Sorted(slices.Values(values))) }

// fixedWorks are those of both sides, over the points that ran alike there.
func fixedWorks(list []Comparison, sides [][2]*side) (works [2]fixedWork) {
	for i, c := range list {
		if len(c.Differences) > 0 { // the control of other threads is another one
			continue
		}
		for k, side := range sides[i] {
			for _, s := range side.all {
				works[k].add(s)
			}
		}
	}
	return works
}

// computeRuns are an execution's times of the control's arithmetic, each a run.
func (w *fixedWork) computeRuns() (list []twosample.Run) {
	for _, id := range w.order {
		if times := w.compute[id]; len(times) > 0 {
			list = append(list, twosample.NewRun(times))
		}
	}
	return list
}

// memoryRuns are the same of its reads of memory: the mean over the groups that both sides
// read in, whose levels differ.
func (w *fixedWork) memoryRuns(other *fixedWork) (list []twosample.Run) {
	for _, id := range w.order {
		var sum twosample.Run
		n := 0.0
		for group, runs := range w.memory {
			if times := runs[id]; len(times) > 0 && other.memory[group] != nil {
				r := twosample.NewRun(times)
				sum.Figure, sum.Error, sum.Samples = sum.Figure+r.Figure, math.Hypot(sum.Error, r.Error), sum.Samples+r.Samples
				n++
			}
		}
		if n > 0 {
			list = append(list, twosample.Run{Figure: sum.Figure / n, Error: sum.Error / n, Samples: sum.Samples})
		}
	}
	return list
}

// compareWorks returns what is to be said of the machine on both sides: controls that
// differ by more than what is tolerated of rows, at the rate of false discoveries of
// verdicts. arithmetic is the logarithm by which that part of it differs, 0 if it does not:
// the machine may account for as much of any difference.
func compareWorks(works [2]fixedWork) (arithmetic float64, said []string) {
	old, new := &works[0], &works[1]
	points := []twosample.Point{
		{Old: old.computeRuns(), New: new.computeRuns()},
		{Old: old.memoryRuns(new), New: new.memoryRuns(old)},
	}
	differences, ok := twosample.Compare(points)
	for i, d := range differences {
		if ok[i] && d.P*float64(len(points)) <= falseDiscoveries && math.Abs(d.Log) > math.Log1p(tolerance) {
			said = append(said, controlRemark(i, secondsOf(points[i].Old), secondsOf(points[i].New)))
			if i == 0 {
				arithmetic = math.Abs(d.Log)
			}
		}
	}
	return arithmetic, said
}

// compareTurnWorks is compareWorks for sides that took turns.
func compareTurnWorks(works [2]fixedWork, turns Turns) (said []string) {
	for i := range 2 {
		pairs := make([]twosample.Pair, len(turns.Pair))
		for k := range works {
			w, other := &works[k], &works[1-k]
			for _, id := range w.order {
				n := turns.Pair[id.file]
				turn := []*[]float64{&pairs[n].Old, &pairs[n].New}[k]
				if i == 0 {
					*turn = append(*turn, each.Of(w.compute[id], math.Log)...)
					continue
				}
				for group, runs := range w.memory { // less the level of the group
					if level, ok := levelOf(w.memory[group], other.memory[group]); ok {
						*turn = append(*turn, each.Of(runs[id], func(t float64) float64 { return math.Log(t) - level })...)
					}
				}
			}
		}
		d, quantile, ok := twosample.CompareTurns(pairs, turns.Seed, turns.Share)
		if ok && 2*d.P <= falseDiscoveries*turns.Share && math.Abs(d.Log) > math.Log1p(tolerance) {
			old, new := twosample.SidesAt(pairs, quantile)
			said = append(said, controlRemark(i, old, new))
		}
	}
	return said
}

// levelOf is the mean logarithm of the times of both sides; false if one has none.
func levelOf(a, b map[runID][]float64) (level float64, ok bool) {
	n := 0.0
	for _, side := range []map[runID][]float64{a, b} {
		if len(side) == 0 {
			return 0, false
		}
		for _, times := range side {
			for _, t := range times {
				level += math.Log(t)
				n++
			}
		}
	}
	return level / n, n > 0
}

// controlRemark says that the machine was slower on one side. Of reads of memory the ratio
// alone means something.
func controlRemark(which int, old, new float64) string {
	what := []string{"arithmetic", "read of memory"}[which]
	side, percent := "new", 100*(new/old-1)
	if percent < 0 {
		side, percent = "old", 100*(old/new-1)
	}
	return fmt.Sprintf("control's %s: %.1f %% longer on the %s side, where the machine was slower, or the program leaves it so (heat, caches), or times it otherwise", what, percent, side)
}

// missBytes is what a miss moves: a line of a cache, on every processor that counts here.
const missBytes = 64

// Events are what processors counted of a launch, over all threads, by the columns of rows: the
// mean of all rows that have one. Disturbed rows count too, as what others do is not in it.
type Events map[string]float64

// eventColumns are those columns.
var eventColumns = [...]string{"cycles", "instructions", "l2_misses", "l3_misses", "dtlb_misses"}

// L2Bytes is how many bytes missed L2.
func (e Events) L2Bytes() (bytes float64, known bool) {
	n, known := e["l2_misses"]
	return n * missBytes, known
}

// L3Bytes is how many bytes missed all caches.
func (e Events) L3Bytes() (bytes float64, known bool) {
	n, known := e["l3_misses"]
	return n * missBytes, known
}

// eventSums adds up rows: of each of eventColumns its number and the launches that it is of.
type eventSums [len(eventColumns)]struct{ number, launches float64 }

func (s *eventSums) add(r *results.Record) {
	for i, n := range [...]results.Optional[int64]{r.Cycles, r.Instructions, r.L2Misses, r.L3Misses, r.DTLBMisses} {
		if n.Known && r.Launches > 0 {
			s[i].number += float64(n.Value)
			s[i].launches += float64(r.Launches)
		}
	}
}

func (s *eventSums) events() Events {
	e := Events{}
	for i, name := range eventColumns {
		if s[i].launches > 0 {
			e[name] = s[i].number / s[i].launches
		}
	}
	return e
}

// eventColumn has the number of an event, by the name of its column.
func eventColumn(name string) ladderColumn {
	return ladderColumn{name: name, cell: func(s *Summary) string {
		n, known := s.Events[name]
		return words.When(known, "%.3g", n)
	}}
}

// ipcCell is how many instructions there were in a cycle.
func (s *Summary) ipcCell() string {
	instructions, known := s.Events["instructions"]
	cycles := s.Events["cycles"]
	return words.When(known && cycles > 0, "%.2f", instructions/cycles)
}
