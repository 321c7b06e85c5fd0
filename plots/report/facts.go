package report

import (
	"cmp"
	"strings"
	"time"

	"matladder/internal/words"
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
	return words.Joined(" · ", s.FamilyWord(), s.Dtypes(), precision, s.Quant, s.Activation, s.Options)
}

// machineOf names where.
func machineOf(s *stats.Summary) string {
	return cmp.Or(words.Joined(" · ", machine.CommonName(cmp.Or(s.Device, s.Chip)), words.Counted(s.Devices, "device", 2), s.Host), "unknown machine")
}

// howOf names what else a point ran with: points that differ in it share no line.
func howOf(s *stats.Summary) string {
	return words.Joined(" · ", s.Backend, strings.TrimSpace(s.Plugin+" "+s.PluginVersion), string(s.Method), s.ISA, words.Counted(s.Threads, "thread", 1), s.Mesh,
		words.Between("operands in ", s.Operands, ""), words.Between("", s.Dist, " inputs"), words.Between("matladder ", s.MatladderVersion, ""))
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
