package stats

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"matladder/results"
)

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
