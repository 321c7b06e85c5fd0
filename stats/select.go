package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/results"
)

// Best returns, of the summaries that differ only in blocks and params, the
// fastest that is ok, or the first if none is. The order is kept. If others
// of the choice are not ok, a warning counts them.
func Best(summaries []Summary) []Summary {
	choice := func(s *Summary) pointID {
		id := s.id
		id.BM, id.BK, id.BN, id.Params = 0, 0, 0, ""
		return id
	}
	var list []Summary
	for _, choices := range grouped(each.Pointers(summaries), choice) {
		best := choices[0]
		failed := map[results.Status]int{}
		for _, s := range choices {
			if s.Status != results.OK {
				failed[s.Status]++
			}
			if s.usable() && (!best.usable() || s.Time.Median < best.Time.Median) {
				best = s
			}
		}
		chosen := *best
		chosen.Warnings = slices.Clone(best.Warnings)
		if len(failed) > 0 && chosen.Status == results.OK {
			var counts []string
			for _, status := range results.Statuses {
				if n := failed[status]; n > 0 {
					counts = append(counts, fmt.Sprintf("%d %s", n, status))
				}
			}
			chosen.warn("of %d block shapes and parameters not all are ok: %s", len(choices), strings.Join(counts, ", "))
		}
		list = append(list, chosen)
	}
	return list
}

// Newest returns the summaries to show for a kernel of a family and a dtype of operand a, ""
// meaning any: those of the file with the latest start that has ok points for both, measured
// before predicted. Where nothing is ok, the latest that say why. All points of the same mode
// from that file come with them, those of other dtypes too: the kernel is compared with the
// others and with the baseline, and its peak with those of other dtypes.
func Newest(summaries []Summary, family, kernel, dtype string) []Summary {
	for _, status := range []results.Status{results.OK, ""} {
		for _, mode := range results.Modes {
			var latest *Summary
			for i := range summaries {
				s := &summaries[i]
				if s.Mode != mode || family != "" && s.FamilyName() != family || kernel != "" && s.Kernel != kernel || dtype != "" && s.DtypeA != dtype ||
					status != "" && s.Status != status {
					continue
				}
				if latest == nil || !s.Latest.Before(latest.Latest) {
					latest = s
				}
			}
			if latest == nil {
				continue
			}
			return each.That(summaries, func(s Summary) bool {
				return s.Pos.File == latest.Pos.File && s.Mode == mode && (family == "" || s.FamilyName() == family)
			})
		}
	}
	return nil
}

// Rung returns the number of a kernel named v1_… to vN_…; false for other names.
func Rung(kernel string) (n int, ok bool) {
	number, _, _ := strings.Cut(strings.TrimPrefix(kernel, "v"), "_")
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0 && strings.HasPrefix(kernel, "v")
}

// CompareKernels orders kernels up the ladder: the baseline, v1, v2 … v10, others.
func CompareKernels(a, b string) int {
	return cmp.Or(cmp.Compare(rungOrder(a), rungOrder(b)), cmp.Compare(a, b))
}

func rungOrder(kernel string) int {
	if kernel == results.Baseline {
		return 0
	}
	if n, ok := Rung(kernel); ok {
		return n
	}
	return math.MaxInt
}
