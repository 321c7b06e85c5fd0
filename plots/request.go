package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matladder/results"
)

// A Request says which charts to make of some rows.
type Request struct {
	Kind   Kind
	Kernel string // of a size chart
	Dtype  string // of operand a
}

// A NoRowsError says that nothing in the rows answers a request.
type NoRowsError struct {
	Request
	Has []Pair // what there is
}

// A Pair is a kernel and a dtype of operand a.
type Pair struct{ Kernel, Dtype string }

func (e *NoRowsError) Error() string {
	what, command := "", "go run ./cmd/bench"
	if e.Kernel != "" {
		what += " of " + e.Kernel
		command += " --kernel " + number(e.Kernel)
	}
	if e.Dtype != "" {
		what += " in " + e.Dtype
		command += " --dtype " + e.Dtype
	}
	if len(e.Has) == 0 {
		return fmt.Sprintf("no rows%s; make them with: %s", what, command)
	}
	return fmt.Sprintf("no rows%s (there are %s); make them with: %s", what, inventory(e.Has), command)
}

// inventory lists pairs, kernels of the same dtypes together.
func inventory(pairs []Pair) string {
	dtypes := map[string][]string{}
	var kernels []string
	for _, p := range pairs {
		if dtypes[p.Kernel] == nil {
			kernels = append(kernels, p.Kernel)
		}
		dtypes[p.Kernel] = append(dtypes[p.Kernel], p.Dtype)
	}
	alike := map[string][]string{}
	var order []string
	for _, k := range kernels {
		in := strings.Join(dtypes[k], ", ")
		if alike[in] == nil {
			order = append(order, in)
		}
		alike[in] = append(alike[in], k)
	}
	var text []string
	for _, in := range order {
		text = append(text, strings.Join(alike[in], ", ")+" in "+in)
	}
	return strings.Join(text, "; ")
}

// number is how the command line calls a kernel.
func number(kernel string) string {
	if kernel == results.Baseline {
		return "0"
	}
	if n, ok := results.Rung(kernel); ok {
		return fmt.Sprint(n)
	}
	return kernel
}

// Pairs lists the kernels and dtypes of rows, each once, in the order of the
// ladder.
func Pairs(rows []results.Record) []Pair {
	var list []Pair
	seen := map[Pair]bool{}
	for i := range rows {
		p := Pair{rows[i].Kernel, rows[i].DtypeA}
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(
			results.CompareKernels(a.Kernel, b.Kernel),
			strings.Compare(a.Dtype, b.Dtype),
		)
	})
	return list
}

// Charts makes the charts that answer q, one for each chip in the rows, and
// two of these where a kernel was run on square problems and on others. Rows
// that q does not ask for are left aside, and so are interpreted ones; a
// *NoRowsError means that none remain.
func Charts(rows []results.Record, q Request) ([]*Chart, error) {
	if !slices.Contains(Kinds, q.Kind) {
		return nil, fmt.Errorf("unknown kind %q (known: %s)", q.Kind, list(Kinds))
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r results.Record) bool { return r.Interpreted() })
	var chips []string
	asked := map[string][]results.Record{}
	for _, r := range rows {
		if r.DtypeA == q.Dtype && (q.Kernel == "" || r.Kernel == q.Kernel) {
			chip := cmp.Or(r.Chip, r.Device)
			if asked[chip] == nil {
				chips = append(chips, chip)
				asked[chip] = []results.Record{}
			}
		}
	}
	if chips == nil {
		return nil, &NoRowsError{q, Pairs(rows)}
	}
	for _, r := range rows {
		chip := cmp.Or(r.Chip, r.Device)
		if asked[chip] != nil && r.DtypeA == q.Dtype &&
			(q.Kernel == "" || r.Kernel == q.Kernel || r.Kernel == results.Baseline) {
			asked[chip] = append(asked[chip], r)
		}
	}
	var charts []*Chart
	for _, chip := range chips {
		made, err := chartsOf(q, results.Summarize(asked[chip]))
		if err != nil {
			return nil, err
		}
		for _, ch := range made {
			if len(chips) > 1 {
				ch.Name += "_" + fileSafe(cmp.Or(chip, "unknown"))
			}
			charts = append(charts, ch)
		}
	}
	return charts, nil
}

// chartsOf makes the charts of one chip.
func chartsOf(q Request, summaries []results.Summary) ([]*Chart, error) {
	switch q.Kind {
	case Size:
		return rateCharts(q, summaries, true), nil
	case Ladder:
		return rateCharts(q, results.Best(summaries), false), nil
	}
	ch, err := rooflineChart(q, results.Best(summaries))
	if err != nil {
		return nil, err
	}
	return []*Chart{ch}, nil
}

func list[T ~string](names []T) string {
	var text []string
	for _, n := range names {
		text = append(text, string(n))
	}
	return strings.Join(text, ", ")
}

// fileName is performance_<what>_<dtype>.
func fileName(q Request) string {
	what := string(q.Kind)
	if q.Kind == Size {
		what = "kernel_" + number(q.Kernel)
	}
	return fileSafe("performance_" + what + "_" + q.Dtype)
}

// fileSafe keeps what every file system takes in a name.
func fileSafe(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		}
		return '-'
	}, s)
}
