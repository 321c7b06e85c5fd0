package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Verdict says how a point stands to the same point of an earlier run.
type Verdict string

// The verdicts. A difference counts only if 95 % confidence is behind it.
const (
	Faster Verdict = "FASTER"
	Slower Verdict = "SLOWER"
	Same   Verdict = "SAME"   // the whole interval lies within the band that does not matter
	Unsure Verdict = "UNSURE" // the samples do not tell
	Lost   Verdict = "LOST"   // was ok and is not any more
	NoBase Verdict = "NEW OK" // was not ok and is now
)

// Verdicts lists them in the order of concern.
var Verdicts = []Verdict{Lost, Slower, Unsure, Same, Faster, NoBase}

// A Comparison is one point in two runs.
type Comparison struct {
	Old, New    *Summary
	Ratio       Estimate // rate of new over rate of old: above 1 is faster; unknown if either has none
	Verdict     Verdict
	Differences []string // in machine and method, "threads: 2, then 4"
}

// Pair matches the points of two runs and compares them. band is the change, as
// a fraction of the time, that does not matter: 0.02 for 2 %. With best each
// kernel's fastest blocks are compared, whichever they are; otherwise equal
// blocks. Points of one run alone are returned as well; interpreted ones are
// left out.
func Pair(old, new []Summary, band float64, best bool) (list []Comparison, onlyOld, onlyNew []*Summary) {
	if best {
		old, new = Best(old), Best(new)
	}
	before, after := byIdentity(old, best), byIdentity(new, best)
	for _, id := range after.order {
		bs, as := before.points[id], after.points[id]
		for _, a := range as {
			at := slices.IndexFunc(bs, func(b *Summary) bool { return len(differences(b, a)) == 0 })
			if at < 0 && len(as) == 1 && len(bs) == 1 {
				at = 0
			}
			if at < 0 {
				onlyNew = append(onlyNew, a)
				continue
			}
			if c, ok := comparison(bs[at], a, band); ok {
				list = append(list, c)
			}
			bs = slices.Delete(slices.Clone(bs), at, at+1)
		}
		before.points[id] = bs
	}
	for _, id := range before.order {
		onlyOld = append(onlyOld, before.points[id]...)
	}
	return list, onlyOld, onlyNew
}

// An identity is what makes a point the same one in another run: what was
// computed and by which kernel, not where and with which version.
type identity struct {
	GroupKey
	backend, kernel, variant string
	bm, bk, bn               int
	params                   string
}

type identities struct {
	order  []identity
	points map[identity][]*Summary
}

func byIdentity(summaries []Summary, best bool) identities {
	list := identities{points: map[identity][]*Summary{}}
	for i := range summaries {
		s := &summaries[i]
		if s.Interpreted() {
			continue
		}
		id := identity{s.Group(), s.Backend, s.Kernel, s.Variant, s.BM, s.BK, s.BN, s.Params}
		id.Host, id.Chip, id.Devices, id.Mesh = "", "", 0, ""
		if best {
			id.bm, id.bk, id.bn, id.params = 0, 0, 0, ""
		}
		points := list.points[id]
		if points == nil {
			list.order = append(list.order, id)
		}
		// A file that was resumed by another version has the point twice.
		if at := slices.IndexFunc(points, func(o *Summary) bool { return len(differences(o, s)) == 0 }); at < 0 {
			points = append(points, s)
		} else if !s.Latest.Before(points[at].Latest) {
			points[at] = s
		}
		list.points[id] = points
	}
	return list
}

// differences names what of machine and method is not the same.
func differences(old, new *Summary) []string {
	var list []string
	for _, c := range [...]struct{ name, old, new string }{
		{"host", old.Host, new.Host},
		{"chip", old.Chip, new.Chip},
		{"device", old.Device, new.Device},
		{"devices", positive(old.Devices), positive(new.Devices)},
		{"mesh", old.Mesh, new.Mesh},
		{"plugin", strings.TrimSpace(old.Plugin), strings.TrimSpace(new.Plugin)},
		{"isa", old.ISA, new.ISA},
		{"threads", positive(old.Threads), positive(new.Threads)},
		{"method", string(old.Method), string(new.Method)},
		{"operands", old.Operands, new.Operands},
		{"inputs", old.Dist, new.Dist},
	} {
		if c.old != c.new {
			list = append(list, fmt.Sprintf("%s: %s, then %s", c.name, orNone(c.old), orNone(c.new)))
		}
	}
	return list
}

func orNone(s string) string {
	if s == "" {
		return "not stated"
	}
	return s
}

// comparison judges a pair; false if neither point has a time.
func comparison(old, new *Summary, band float64) (Comparison, bool) {
	c := Comparison{Old: old, New: new, Differences: differences(old, new)}
	switch {
	case !old.usable() && !new.usable():
		return c, false
	case old.Status == OK && new.Status == OK && !(old.usable() && new.usable()):
		c.Verdict = Unsure // a slope that noise hides is not a failure
		return c, true
	case !new.usable():
		c.Verdict = Lost
		return c, true
	case !old.usable():
		c.Verdict = NoBase
		return c, true
	}
	if old.Mode == Predicted { // no noise, so no interval
		r := old.Time.Median / new.Time.Median
		c.Ratio = Estimate{r, r, r, 1, 1}
	} else {
		c.Ratio = ratioOf(old.timing.samples, new.timing.samples)
	}
	c.Verdict = judge(c.Ratio, band)
	return c, true
}

// judge returns the verdict on a ratio of rates.
func judge(r Estimate, band float64) Verdict {
	low, high := 1/(1+band), 1+band
	switch {
	case !r.Known() || !r.Sure():
		return Unsure
	case r.Lo >= low && r.Hi <= high:
		return Same
	case r.Lo > 1 && r.Median > high:
		return Faster
	case r.Hi < 1 && r.Median < low:
		return Slower
	}
	return Unsure
}

// GeoMean returns the geometric mean of the known ratios, and how many there are.
func GeoMean(list []Comparison) (ratio float64, n int) {
	sum := 0.0
	for _, c := range list {
		if c.Ratio.Known() {
			sum += math.Log(c.Ratio.Median)
			n++
		}
	}
	if n == 0 {
		return 0, 0
	}
	return math.Exp(sum / float64(n)), n
}
