package report

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/machine"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// Provenance is where the figures come from: what the rows say of the runs
// that made them, and of the machines' limits.
type Provenance struct {
	Runs   []Run
	Limits []Limit
	Notes  []string // warnings about the figures
	Rows   int
	Points int

	machines []string
	first    time.Time // start of the first run that says when it was
}

// A Run is one execution: facts by name, several values of one joined.
type Run struct {
	ID    string
	Facts []Fact
}

// A Fact is a name and what rows have under it.
type Fact struct{ Name, Value string }

// A Limit is what rows state of one machine and dtype.
type Limit struct{ Machine, Dtype, Peak, PeakSource, Bandwidth, BandwidthSource string }

// facts are what the page says of a run; at most maxValues of each are listed.
var facts = []struct {
	name string
	of   func(*results.Record) string
}{
	{"started", func(r *results.Record) string {
		return words.When(!r.StartedAt.IsZero(), "%s UTC", r.StartedAt.Format(time.DateTime))
	}},
	{"mode", func(r *results.Record) string { return string(r.Mode) }},
	{"host", func(r *results.Record) string { return r.Host }},
	{"device", func(r *results.Record) string { return r.Device }},
	{"chip", func(r *results.Record) string { return r.Chip }},
	{"matladder", func(r *results.Record) string { return r.MatladderVersion }},
	{"backend", func(r *results.Record) string { return r.Backend }},
	{"plugin", func(r *results.Record) string { return strings.TrimSpace(r.Plugin + " " + r.PluginVersion) }},
	{"method", func(r *results.Record) string { return string(r.Method) }},
	{"isa", func(r *results.Record) string { return r.ISA }},
	{"threads", func(r *results.Record) string { return count(r.Threads) }},
	{"devices", func(r *results.Record) string { return count(r.Devices) }},
	{"kernels", func(r *results.Record) string { return r.Kernel }},
	{"dtypes", func(r *results.Record) string { return r.Dtypes() }},
	{"sizes", func(r *results.Record) string { return r.Size() }},
	{"blocks from", func(r *results.Record) string { return r.BlockSource }},
	{"parameters", func(r *results.Record) string { return r.Params }},
	{"inputs", func(r *results.Record) string { return r.Dist }},
	{"seeds", func(r *results.Record) string { return words.When(r.Seed.Known, "%d", r.Seed.Value) }},
}

const maxValues = 24

// newProvenance also returns the columns of rows that the format does not know.
func newProvenance(summaries []stats.Summary, rows iter.Seq2[*results.Record, error]) (*Provenance, []string, error) {
	p := &Provenance{Points: len(summaries), Notes: stats.NewLadder(stats.Best(summaries)).Notes, Limits: limits(summaries)}
	for i := range summaries {
		p.machines = each.With(p.machines, machineOf(&summaries[i]))
	}
	var ids numbering
	var values [][]numbering // by run and fact
	columns := map[string]bool{}
	for r, err := range rows {
		if err != nil {
			return nil, nil, err
		}
		p.Rows++
		if at := r.StartedAt; !at.IsZero() && (p.first.IsZero() || at.Before(p.first)) {
			p.first = at
		}
		n := ids.of(r.RunID)
		if n == len(values) {
			values = append(values, make([]numbering, len(facts)))
		}
		for f, fact := range facts {
			if text := fact.of(r); text != "" {
				values[n][f].of(text)
			}
		}
		for name := range r.Extra {
			columns[name] = true
		}
	}
	for n, id := range ids.list {
		run := Run{ID: cmp.Or(id, "no run id")}
		for f, fact := range facts {
			if list := values[n][f].list; len(list) > 0 {
				run.Facts = append(run.Facts, Fact{fact.name, words.First(list, maxValues, ", ")})
			}
		}
		p.Runs = append(p.Runs, run)
	}
	return p, slices.Sorted(maps.Keys(columns)), nil
}

// limits lists the newest statement for each machine and dtype.
func limits(summaries []stats.Summary) []Limit {
	newest := map[[2]string]*stats.Summary{}
	var order [][2]string
	for i := range summaries {
		s := &summaries[i]
		key := [2]string{machineOf(s), s.DtypeA}
		if old := newest[key]; s.PeakFLOPs > 0 && (old == nil || old.StartedAt.Before(s.StartedAt)) {
			order, newest[key] = each.With(order, key), s
		}
	}
	var list []Limit
	for _, key := range order {
		s := newest[key]
		unit, divisor := results.RateUnit(s.PeakFLOPs, results.Operations(s.Integer()))
		l := Limit{Machine: key[0], Dtype: key[1], Peak: words.Figure(s.PeakFLOPs/divisor) + " " + unit, PeakSource: s.PeakSource}
		if s.Bandwidth > 0 {
			l.Bandwidth, l.BandwidthSource = words.Figure(s.Bandwidth/1e9)+" GB/s", s.BandwidthSource
		}
		list = append(list, l)
	}
	return list
}

// title says on what machines and when the first row was made.
func (p *Provenance) title() string {
	machine, day := strings.Join(p.machines, " and "), ""
	if n := len(p.machines); n > 2 {
		machine = fmt.Sprintf("%d machines", n)
	}
	if !p.first.IsZero() {
		day = p.first.Format(time.DateOnly)
	}
	return words.Joined(" · ", "matladder report", machine, day)
}

// fileName is that of the rows' download: the run's, if there is but one.
func (p *Provenance) fileName() string {
	name := "results"
	if len(p.Runs) == 1 {
		name = p.Runs[0].ID
	}
	return figure.FileSafe(name) + ".csv"
}

func count(n int) string { return words.When(n != 0, "%d", n) }

// dtypeOf names what a section computes.
func dtypeOf(s *stats.Summary) string {
	precision := words.When(s.Precision != "" && s.Precision != "default", "precision %s", s.Precision)
	return words.Joined(" · ", s.FamilyWord(), s.Dtypes(), precision, s.Quant, s.Activation, s.Options)
}

// machineOf names where.
func machineOf(s *stats.Summary) string {
	return cmp.Or(words.Joined(" · ", machine.CommonName(cmp.Or(s.Device, s.Chip)), words.Counted(s.Devices, "device", 2), s.Host), "unknown machine")
}

// howOf names what else a point ran with: points that differ in it share no line.
func howOf(s *stats.Summary) string {
	return words.Joined(" · ", s.Backend, strings.TrimSpace(s.Plugin+" "+s.PluginVersion), string(s.Method), s.ISA, words.Counted(s.Threads, "thread", 1), s.Mesh,
		words.Between("operands in ", s.Operands, ""), words.Between("", s.Dist, " inputs"), s.LoadWord(), words.Between("matladder ", s.MatladderVersion, ""))
}

// roof is what a section's rows say of its machine: the newest statement
// counts, a kernel's before the baseline's.
type roof struct {
	peak, bandwidth float64
	kernel          bool
	at              time.Time
}

func (r *roof) state(s *stats.Summary) {
	kernel := s.Kernel != results.Baseline
	if s.Roof() <= 0 || r.kernel && !kernel || r.kernel == kernel && s.StartedAt.Before(r.at) {
		return
	}
	*r = roof{s.Roof(), s.Bandwidth, kernel, s.StartedAt}
}

// compareKernels orders as the ladder's table does: the baseline and other libraries come last.
func compareKernels(a, b string) int {
	rank := func(kernel string) int {
		if _, ok := stats.Rung(kernel); ok {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), stats.CompareKernels(a, b))
}
