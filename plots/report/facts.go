package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"matladder/machine"
	"matladder/results"
	"matladder/stats"
)

// dtypeOf names what a section computes.
func dtypeOf(s *stats.Summary) string {
	precision := ""
	if s.Precision != "" && s.Precision != "default" {
		precision = "precision " + s.Precision
	}
	return joined(s.FamilyWord(), s.Dtypes(), precision, s.Quant, s.Activation, s.Options)
}

// machineOf names where.
func machineOf(s *stats.Summary) string {
	devices := ""
	if s.Devices > 1 {
		devices = fmt.Sprintf("%d devices", s.Devices)
	}
	return cmp.Or(joined(machine.CommonName(cmp.Or(s.Device, s.Chip)), devices, s.Host), "unknown machine")
}

// howOf names what else a point ran with: points that differ in it share no
// line.
func howOf(s *stats.Summary) string {
	threads := ""
	switch {
	case s.Threads == 1:
		threads = "1 thread"
	case s.Threads > 1:
		threads = fmt.Sprintf("%d threads", s.Threads)
	}
	operands, inputs, version := "", "", ""
	if s.Operands != "" {
		operands = "operands in " + s.Operands
	}
	if s.Dist != "" {
		inputs = s.Dist + " inputs"
	}
	if s.MatladderVersion != "" {
		version = "matladder " + s.MatladderVersion
	}
	return joined(s.Backend, strings.TrimSpace(s.Plugin+" "+s.PluginVersion), string(s.Method), s.ISA, threads, s.Mesh, operands, inputs, version)
}

// spreadOf says how far the interval reaches, or that there is none.
func spreadOf(s *stats.Summary) string {
	switch {
	case !s.Time.Known() || s.Mode == results.Predicted:
		return ""
	case !s.Time.Sure():
		return fmt.Sprintf("n=%d", s.Time.N)
	}
	return fmt.Sprintf("%.1f%%", 100*s.Time.Spread())
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

// peakUnit is what a peak counts, whatever the row's rate does.
func peakUnit(s *stats.Summary) results.Unit {
	if s.Integer() {
		return results.OPs
	}
	return results.FLOPs
}

// compareKernels orders as the ladder's table does: the baseline and other
// libraries come last.
func compareKernels(a, b string) int {
	rank := func(kernel string) int {
		if _, ok := stats.Rung(kernel); ok {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), stats.CompareKernels(a, b))
}

// joined writes the parts that are not empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}
