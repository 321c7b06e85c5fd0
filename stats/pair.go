package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/results"
	"matladder/stats/twosample"
)

// A side is what the files of one side of a comparison say about a point.
type side struct {
	*Summary // of the file that speaks for the side: one that is not ok, or the first
	all      []*Summary
}

// An identity is what makes a point the same one in another run: what was
// computed and by which kernel, not where and with which version.
type identity struct {
	results.GroupKey
	backend, kernel, variant string
	bm, bk, bn               int
	params                   string
}

type identities struct {
	order  []identity
	points map[identity][]*side
}

// A match says what makes two points the same one.
type match struct {
	anyBlocks bool // each kernel's fastest blocks, whichever they are
	anyParams bool // settings are what is compared
}

// byIdentity collects the points of one side, whichever of its files they are from.
func byIdentity(summaries []Summary, m match) identities {
	list := identities{points: map[identity][]*side{}}
	for i := range summaries {
		s := &summaries[i]
		if s.Interpreted() {
			continue
		}
		id := identity{s.Group(), s.Backend, s.Kernel, s.Variant, s.BM, s.BK, s.BN, s.Params}
		id.Host, id.Chip, id.Devices, id.Mesh, id.Dist = "", "", 0, "", ""
		if m.anyBlocks {
			id.bm, id.bk, id.bn = 0, 0, 0
		}
		if m.anyBlocks || m.anyParams {
			id.params = ""
		}
		points := list.points[id]
		if points == nil {
			list.order = append(list.order, id)
		}
		at := slices.IndexFunc(points, func(o *side) bool { return len(differences(o.Summary, s)) == 0 })
		if at < 0 {
			list.points[id] = append(points, &side{Summary: s, all: []*Summary{s}})
			continue
		}
		points[at].add(s)
	}
	return list
}

// add counts in what another file says about the point, or the same one that another
// version went on with: of that the latest counts.
func (p *side) add(s *Summary) {
	twin := slices.IndexFunc(p.all, func(o *Summary) bool { return o.Pos.File == s.Pos.File })
	switch {
	case twin < 0:
		p.all = append(p.all, s)
	case s.Latest.Before(p.all[twin].Latest):
		return
	default:
		p.all[twin] = s
	}
	p.Summary = p.all[0]
	for _, o := range p.all { // what failed in one file of several has failed
		if p.usable() && !o.usable() {
			p.Summary = o
		}
	}
}

// runs are the executions that have times of the point, as far as nothing disturbed them.
func (p *side) runs() []twosample.Run {
	var list []twosample.Run
	for _, s := range p.all {
		for _, r := range s.timing.quiet().runs {
			if times := positiveOf(r.samples); len(times) > 0 && s.usable() {
				list = append(list, twosample.NewRun(times))
			}
		}
	}
	return list
}

// samples are the times of one file: all, and those that nothing disturbed.
func (p *side) samples(file string) (all, quiet []float64) {
	for _, s := range p.all {
		if s.Pos.File == file && s.usable() {
			return positiveOf(s.timing.whole().samples), positiveOf(s.timing.quiet().samples)
		}
	}
	return nil, nil
}

// total is how many samples there are, disturbed ones included.
func (p *side) total() int {
	n := 0
	for _, s := range p.all {
		if s.usable() {
			n += len(positiveOf(s.timing.whole().samples))
		}
	}
	return n
}

// positiveOf leaves out slopes that are lost in noise.
func positiveOf(times []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(times), func(t float64) bool { return !(t > 0) })
}

// measured reports whether any file of the side has a time.
func (p *side) measured() bool {
	return slices.ContainsFunc(p.all, func(s *Summary) bool { return s.usable() })
}

// builds are the versions of the program that measured the point.
func (p *side) builds() []string {
	var list []string
	for _, s := range p.all {
		if s.MatladderVersion != "" {
			list = each.With(list, s.MatladderVersion)
		}
	}
	return list
}

// differences names what of machine and method is not the same.
func differences(old, new *Summary) []string {
	host, plugin := condition{"host", old.Host, new.Host}, pluginOf(old, new)
	if predicted(old, new) { // the chip's figures, whoever computed them: a changed file is what is compared
		host, plugin = condition{}, condition{}
	}
	return unlike([]condition{
		host, plugin,
		{"chip", old.Chip, new.Chip},
		{"device", old.Device, new.Device},
		{"devices", positive(old.Devices), positive(new.Devices)},
		{"mesh", old.Mesh, new.Mesh},
		{"isa", old.ISA, new.ISA},
		{"threads", positive(old.Threads), positive(new.Threads)},
		{"method", string(old.Method), string(new.Method)},
		{"operands", old.Operands, new.Operands},
		{"inputs", old.Dist, new.Dist},
		{"pinning", old.Pin, new.Pin},
		{"fault", old.Fault, new.Fault},
	})
}

// remarks names what else a reader should know is not the same: it may be what was
// meant to be compared.
func remarks(old, new *Summary) []string {
	plugin := condition{}
	if predicted(old, new) {
		plugin = pluginOf(old, new)
	}
	return unlike([]condition{
		plugin,
		{"kernels", fingerprint(old.MatladderVersion), fingerprint(new.MatladderVersion)},
		{"plugin version", old.PluginVersion, new.PluginVersion},
		{"block source", old.BlockSource, new.BlockSource},
		{"blocks", old.Blocks(), new.Blocks()},
		{"params", old.Params, new.Params},
	})
}

func pluginOf(old, new *Summary) condition {
	return condition{"plugin", strings.TrimSpace(old.Plugin), strings.TrimSpace(new.Plugin)}
}

func predicted(old, new *Summary) bool {
	return old.Mode == results.Predicted && new.Mode == results.Predicted
}

// fingerprint is the part of a version that stands for the programs of the kernels.
func fingerprint(version string) string {
	_, f, _ := strings.Cut(version, " kernels ")
	return f
}

type condition struct{ name, old, new string }

func unlike(conditions []condition) []string {
	var list []string
	for _, c := range conditions {
		if c.old != c.new {
			list = append(list, fmt.Sprintf("%s: %s, then %s", c.name, cmp.Or(c.old, unstated), cmp.Or(c.new, unstated)))
		}
	}
	return list
}

// unstated replaces a condition that a file does not have.
const unstated = "not stated"

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
	*ratio = s.Against(other).scale(factor)
	switch {
	case !ratio.Known():
		s.warn("shares no round with %s: no ratio", other.Kernel)
	case other.Method == results.Published:
		s.warn("%s was published, of other inputs, clocks and caches: on an H200 such a ratio was 8 %% low at 4096, 14 %% high at 8192", other.Kernel)
	case (s.Method == results.Wall) != (other.Method == results.Wall):
		s.warn("timed by %s, %s by %s: one includes dispatch", s.Method, other.Kernel, other.Method)
	}
}

// rungBelow returns the highest kernel of the group below that of s on the same backend, whether or
// not it could be measured: the step over a rung that failed is not a step over the one before it.
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
