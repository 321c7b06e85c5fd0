package stats

import (
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/results"
	"matladder/stats/interval"
	"matladder/stats/twosample"

	"gonum.org/v1/gonum/stat"
)

// A Verdict says whether a point is faster or slower than on the old side. What decides is
// judge, over the statistics of package twosample.
type Verdict string

// The verdicts.
const (
	Faster Verdict = "FASTER"
	Slower Verdict = "SLOWER"
	Same   Verdict = "SAME"   // the difference is shown to lie within the band that does not matter
	Unsure Verdict = "UNSURE" // the samples do not tell
	Lost   Verdict = "LOST"   // was ok and is not any more
	NoBase Verdict = "NEW OK" // was not ok and is now
	Steady Verdict = "STEADY" // no run of a series changed it
	Shared Verdict = "SHARED" // both sides ran the same, XLA under one plugin: what differs is the machine
)

// Verdicts lists them in the order of concern.
var Verdicts = []Verdict{Lost, Slower, Unsure, Same, Steady, Faster, NoBase, Shared}

// falseDiscoveries is the share of the verdicts FASTER and SLOWER that may be false: one in
// a hundred.
const falseDiscoveries = 0.01

// falseOfFiles is that of files, whose distribution is assumed, not known from a draw: half
// of it is kept for where the assumption is off.
const falseOfFiles = falseDiscoveries / 2

// A Comparison is one point on two sides.
type Comparison struct {
	Old, New               *Summary // of a file of either side
	OldSeconds, NewSeconds float64  // times of a launch that are compared; 0 where there is none
	Ratio                  Estimate // rate of new over rate of old: above 1 is faster; unknown if either has none
	Runs, Samples          [2]int   // of old and new, that are compared
	Disturbed              [2]int   // samples of old and new that the machine disturbed; left out, unless Mixed
	Mixed                  bool     // too few samples of turns were quiet, so that all are compared
	LowConfidence          bool     // too few samples of files were quiet: there is no verdict
	Quantile               float64  // of the samples that is compared; 0 for a prediction
	FalseRate              float64  // p-value adjusted for the number of points: the smallest false discovery rate at which this one differs
	Verdict                Verdict
	Differences            []string    // in machine and method, "threads: 2, then 4"
	Remarks                []string    // differences in what was run, such as the source of blocks
	Builds                 [2][]string // versions of the program that measured old and new
	Change                 *Change     // of a series: which run brought it; nil of two sides
	difference             twosample.Difference
	judged                 bool // there are samples enough for difference to tell something
}

// Pair matches the points of two sides, each of one file or several, and compares them. band is
// the change, as a fraction of the time, that does not matter: 0.02 for 2 %. With best each
// kernel's fastest blocks are compared, whichever they are; otherwise equal blocks. Points of one
// side alone are returned as well; interpreted ones are left out.
func Pair(old, new []Summary, band float64, best bool) (list []Comparison, onlyOld, onlyNew []*Summary) {
	return pairSides(old, new, match{anyBlocks: best}, func(list []Comparison, sides [][2]*side) {
		var points []twosample.Point
		var at []int
		shared := sharedOf(list)
		for i := range list {
			switch c := &list[i]; {
			case !c.judgeable():
			case !c.count(sides[i]):
				c.OldSeconds, c.NewSeconds = c.Old.Time.Median, c.New.Time.Median
				c.estimate(twosample.Difference{}, false)
			default:
				points = append(points, twosample.Point{Old: sides[i][0].runs(), New: sides[i][1].runs(), Shared: shared[i]})
				at = append(at, i)
			}
		}
		arithmetic, said := compareWorks(fixedWorks(list, sides))
		differences, ok := twosample.Compare(points)
		for j, i := range at {
			c, p := &list[i], points[j]
			c.OldSeconds, c.NewSeconds = secondsOf(p.Old), secondsOf(p.New)
			c.Runs, c.Samples = [2]int{len(p.Old), len(p.New)}, [2]int{samplesOf(p.Old), samplesOf(p.New)}
			c.Quantile = twosample.FastEnd
			d := differences[j]
			if ok[j] && arithmetic > 0 {
				d = d.Allow(arithmetic)
			}
			c.estimate(d, ok[j])
		}
		remark(list, said)
		judgeAll(list, shared, band, falseOfFiles)
	})
}

// count counts the samples of files, and reports whether both sides have enough that
// nothing disturbed.
func (c *Comparison) count(sides [2]*side) bool {
	for k, p := range sides {
		quiet := samplesOf(p.runs())
		c.Disturbed[k] = p.total() - quiet
		c.Samples[k] = quiet
		c.LowConfidence = c.LowConfidence || c.Disturbed[k] > 0 && quiet < enoughQuiet
	}
	return !c.LowConfidence
}

// remark adds what is to be said of the machine to the points that ran alike.
func remark(list []Comparison, said []string) {
	for i := range list {
		if c := &list[i]; c.judgeable() && len(c.Differences) == 0 {
			c.Remarks = append(c.Remarks, said...)
		}
	}
}

// Turns say which files are turns of a pair, and how these are compared.
type Turns struct {
	Pair  map[string]int // of a file: the number of its pair, from 0
	Seed  uint64         // of the random swaps (twosample.CompareTurns)
	Share float64        // of the false verdicts that may be made: 1, or less where turns are compared again when there are more (twosample.Looks)
}

// PairTurns is Pair for sides that took turns. Parameters may differ: they are settings
// that are compared.
func PairTurns(old, new []Summary, turns Turns, band float64, best bool) (list []Comparison, onlyOld, onlyNew []*Summary) {
	return pairSides(old, new, match{anyBlocks: best, anyParams: true}, func(list []Comparison, sides [][2]*side) {
		shared := sharedOf(list)
		for i := range list {
			if c := &list[i]; c.judgeable() {
				c.compareTurns(sides[i], turns)
			}
		}
		remark(list, compareTurnWorks(fixedWorks(list, sides), turns))
		judgeAll(list, shared, band, falseDiscoveries*turns.Share)
	})
}

// compareTurns compares the samples of a point's turns: all of them, or the quiet ones.
func (c *Comparison) compareTurns(sides [2]*side, turns Turns) {
	all, quiet := make([]twosample.Pair, len(turns.Pair)), make([]twosample.Pair, len(turns.Pair))
	for k, p := range sides {
		for _, s := range p.all {
			n := turns.Pair[s.Pos.File]
			every, some := p.samples(s.Pos.File)
			for _, set := range []struct {
				pairs []twosample.Pair
				times []float64
			}{{all, every}, {quiet, some}} {
				turn := []*[]float64{&set.pairs[n].Old, &set.pairs[n].New}[k]
				*turn = append(*turn, each.Of(set.times, math.Log)...)
			}
			c.Disturbed[k] += len(every) - len(some)
		}
	}
	all, quiet = wholePairs(all), wholePairs(quiet)
	chosen := quiet
	if len(quiet) < min(fewestPairs, len(all)) {
		chosen, c.Mixed = all, c.Disturbed != [2]int{}
	}
	for _, p := range chosen {
		c.Runs[0]++
		c.Runs[1]++
		c.Samples[0] += len(p.Old)
		c.Samples[1] += len(p.New)
	}
	d, quantile, ok := twosample.CompareTurns(chosen, turns.Seed, turns.Share)
	if ok {
		c.OldSeconds, c.NewSeconds = twosample.SidesAt(chosen, quantile)
		c.Quantile = quantile
	}
	c.estimate(d, ok)
}

// fewestPairs is how many pairs of turns need quiet samples on both sides for the others to
// be left out: with fewer pairs hardly any difference shows.
const fewestPairs = 12

// wholePairs are those with samples on both sides.
func wholePairs(pairs []twosample.Pair) []twosample.Pair {
	return slices.DeleteFunc(pairs, func(p twosample.Pair) bool { return len(p.Old) == 0 || len(p.New) == 0 })
}

// pairSides matches the points and has those compared that have times on both sides.
func pairSides(old, new []Summary, m match, compare func([]Comparison, [][2]*side)) (list []Comparison, onlyOld, onlyNew []*Summary) {
	if m.anyBlocks {
		old, new = Best(old), Best(new)
	}
	before, after := byIdentity(old, m), byIdentity(new, m)
	var sides [][2]*side
	for _, id := range after.order {
		bs, as := before.points[id], after.points[id]
		for _, a := range as {
			at := slices.IndexFunc(bs, func(b *side) bool { return len(differences(b.Summary, a.Summary)) == 0 })
			if at < 0 && len(as) == 1 && len(bs) == 1 {
				at = 0
			}
			if at < 0 {
				onlyNew = append(onlyNew, a.Summary)
				continue
			}
			if c, ok := comparison(bs[at], a); ok {
				list = append(list, c)
				sides = append(sides, [2]*side{bs[at], a})
			}
			bs = slices.Delete(slices.Clone(bs), at, at+1)
		}
		before.points[id] = bs
	}
	for _, id := range before.order {
		onlyOld = append(onlyOld, each.Of(before.points[id], func(p *side) *Summary { return p.Summary })...)
	}
	compare(list, sides)
	return list, onlyOld, onlyNew
}

// comparison is a pair without its figures; false if neither side has a time.
func comparison(old, new *side) (Comparison, bool) {
	c := Comparison{Old: old.Summary, New: new.Summary, Differences: differences(old.Summary, new.Summary), Remarks: remarks(old.Summary, new.Summary)}
	c.Builds = [2][]string{old.builds(), new.builds()}
	switch {
	case !old.measured() && !new.measured():
		return c, false
	case old.Status == results.OK && new.Status == results.OK && !(old.usable() && new.usable()):
		c.Verdict = Unsure // a slope that noise hides is not a failure
	case !new.usable():
		c.Verdict = Lost
	case !old.usable():
		c.Verdict = NoBase
	case old.Mode == results.Predicted: // no noise, so no interval
		c.OldSeconds, c.NewSeconds = old.Time.Median, new.Time.Median
		r := c.OldSeconds / c.NewSeconds
		c.Ratio.Interval = interval.Interval{Median: r, Lo: r, Hi: r, Confidence: 1, N: 1}
		c.difference, c.judged = twosample.Difference{Log: math.Log(r), Lo90: math.Log(r), Hi90: math.Log(r)}, true
	}
	return c, true
}

// judgeable reports whether a pair has samples to compare.
func (c *Comparison) judgeable() bool { return c.Verdict == "" && c.Old.Mode != results.Predicted }

// estimate makes the ratio of a difference; one that tells nothing, or has no interval,
// makes it that of the two times, without one.
func (c *Comparison) estimate(d twosample.Difference, ok bool) {
	c.difference, c.judged = d, ok
	n := min(c.Samples[0], c.Samples[1])
	if !ok || math.IsInf(d.Lo, 0) || math.IsInf(d.Hi, 0) {
		r := c.OldSeconds / c.NewSeconds
		if c.OldSeconds > 0 && c.NewSeconds > 0 {
			c.Ratio.Interval = interval.Interval{Median: r, Lo: r, Hi: r, N: n}
		}
		return
	}
	c.Ratio.Interval = interval.Interval{Median: math.Exp(d.Log), Lo: math.Exp(d.Lo), Hi: math.Exp(d.Hi), Confidence: interval.Confidence, N: n}
}

// sharedOf says which comparisons are of what both sides ran alike: XLA under one
// plugin. Where there is nothing else, XLA is what was asked about.
func sharedOf(list []Comparison) []bool {
	shared := make([]bool, len(list))
	others := false
	for i, c := range list {
		shared[i] = c.Old.Kernel == results.Baseline && c.Old.Mode == results.Measured && c.Old.PluginVersion == c.New.PluginVersion &&
			c.Old.PluginVersion != "" && len(c.Differences) == 0
		others = others || !shared[i]
	}
	if !others {
		clear(shared)
	}
	return shared
}

// judgeAll gives the verdicts. That many points are tested at once is taken into
// account: of the verdicts FASTER and SLOWER the share of wrong may be false.
func judgeAll(list []Comparison, shared []bool, band, wrong float64) {
	var p []float64
	var at []int
	for i := range list {
		if c := &list[i]; c.judgeable() && c.judged && !shared[i] {
			p, at = append(p, c.difference.P), append(at, i)
		}
	}
	for j, rate := range twosample.Adjust(p) {
		list[at[j]].FalseRate = rate
	}
	for i := range list {
		c := &list[i]
		switch {
		case c.Verdict != "":
		case shared[i]:
			c.Verdict = Shared
		default:
			c.Verdict = c.judge(math.Log1p(band), wrong)
		}
	}
}

// judge returns the verdict on a difference. SAME comes first: a difference that
// is certain, but shown to be too small to matter, is SAME. band is a logarithm.
func (c *Comparison) judge(band, wrong float64) Verdict {
	switch {
	case !c.judged:
		return Unsure
	case c.difference.Within(band):
		return Same
	case c.FalseRate <= wrong && c.difference.Log > 0:
		return Faster
	case c.FalseRate <= wrong && c.difference.Log < 0:
		return Slower
	}
	return Unsure
}

func secondsOf(runs []twosample.Run) float64 {
	return math.Exp(each.Sum(runs, func(r twosample.Run) float64 { return r.Figure }) / float64(len(runs)))
}

func samplesOf(runs []twosample.Run) int {
	return each.Sum(runs, func(r twosample.Run) int { return r.Samples })
}

// GeoMean returns the geometric mean of the known ratios, and how many there are.
// What both sides ran alike is left out.
func GeoMean(list []Comparison) (ratio float64, n int) {
	list = each.That(list, func(c Comparison) bool { return c.Ratio.Known() && c.Verdict != Shared })
	if len(list) == 0 {
		return 0, 0
	}
	return stat.GeometricMean(each.Of(list, func(c Comparison) float64 { return c.Ratio.Median }), nil), len(list)
}
