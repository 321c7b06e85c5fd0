package stats

import (
	"matladder/results"
)

// compareGroup fills in, for the summaries of one group, how they stand to
// the baseline and to the rung below.
func compareGroup(group []*Summary) {
	for _, s := range group {
		if s.Kernel == results.Baseline {
			continue
		}
		if below := rungBelow(s, group); below != "" {
			s.Below = below
			s.compare(&s.OverBelow, reference(s, group, below), 1)
		}
		s.compare(&s.PercentOfBaseline, reference(s, group, results.Baseline), 100)
	}
}

// compare sets ratio to factor times the speed of s over that of other.
func (s *Summary) compare(ratio *Estimate, other *Summary, factor float64) {
	if other == nil || !s.usable() {
		return
	}
	*ratio = pairedRatio(s.timing.rounds, other.timing.rounds).scale(factor)
	ratio.LowConfidence = s.LowConfidence || other.LowConfidence
	switch {
	case !ratio.Known():
		s.warn("shares no round with %s: no ratio", other.Kernel)
	case other.Method == results.Published:
		s.warn("%s was published, of other inputs, clocks and caches: on an H200 such a ratio was 8 %% low at 4096, 14 %% high at 8192", other.Kernel)
	case (s.Method == results.Wall) != (other.Method == results.Wall):
		s.warn("timed by %s, %s by %s: one includes dispatch", s.Method, other.Kernel, other.Method)
	}
}

// rungBelow returns the highest kernel of the group below that of s on the
// same backend, whether or not it could be measured: the step over a rung
// that failed is not a step over the one before it.
func rungBelow(s *Summary, group []*Summary) string {
	below := ""
	for _, o := range group {
		if o.Kernel == results.Baseline || o.Backend != s.Backend || CompareKernels(o.Kernel, s.Kernel) >= 0 {
			continue
		}
		if below == "" || CompareKernels(below, o.Kernel) < 0 {
			below = o.Kernel
		}
	}
	return below
}

// reference returns the point of kernel that s is compared with, nil if none
// was measured: of those most like s in how they ran, the fastest.
func reference(s *Summary, group []*Summary, kernel string) *Summary {
	var best *Summary
	for _, o := range group {
		if o.Kernel != kernel || !o.usable() || kernel != results.Baseline && o.Backend != s.Backend {
			continue
		}
		if best == nil || likeness(s, o) > likeness(s, best) ||
			likeness(s, o) == likeness(s, best) && o.Time.Median < best.Time.Median {
			best = o
		}
	}
	return best
}

// likeness ranks o by how far it ran under the conditions of s; the most important condition
// weighs most. Blocks and params are what each kernel may choose for itself and do not count.
func likeness(s, o *Summary) int {
	rank := 0
	for _, same := range [...]bool{
		o.Backend == s.Backend,
		o.Dist == s.Dist,
		o.Operands == s.Operands,
		o.Threads == s.Threads,
		o.ISA == s.ISA,
		o.Method == s.Method,
		o.Variant == "",
	} {
		rank *= 2
		if same {
			rank++
		}
	}
	return rank
}
