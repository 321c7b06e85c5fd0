package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
)

// A Request says which pictures to make. What it leaves empty is not filtered by;
// the kind's Scope says what it needs.
type Request struct {
	Kind   Kind
	Family string // of problems
	Kernel string
	Dtype  string    // of operand a
	Model  StepModel // of a waterfall; nil for the limits of the device alone
	// AllBlocks draws a line with a name for each block shape of one kernel.
	AllBlocks bool
}

// A NoRowsError says that nothing in the rows answers a request.
type NoRowsError struct {
	Request
	Has []Pair // what there is
}

// A Pair is a kernel of a family and a dtype of operand a.
type Pair struct{ Family, Kernel, Dtype string }

// name is the kernel, with its family unless that goes without saying.
func (p Pair) name() string {
	if word := familyWord(p.Family); word != "" {
		return word + "/" + p.Kernel
	}
	return p.Kernel
}

func (e *NoRowsError) Error() string {
	what, kernel := words.Between(" of ", e.Kernel, "")+words.Between(" in ", e.Dtype, ""), ""
	if e.Kernel != "" {
		kernel = words.Between(" --family ", familyWord(e.Family), "") + " --kernel " + number(e.Kernel)
	}
	return fmt.Sprintf("no rows%s%s; make them with: go run ./cmd/bench%s%s", what, words.Between(" (there are ", inventory(e.Has), ")"), kernel, words.Between(" --dtype ", e.Dtype, ""))
}

// inventory lists pairs, kernels of the same dtypes together.
func inventory(pairs []Pair) string {
	kernels, of := each.Grouped(pairs, func(p *Pair) string { return p.name() })
	alike, in := each.Grouped(kernels, func(k *string) string {
		return strings.Join(each.Of(of[*k], func(p Pair) string { return p.Dtype }), ", ")
	})
	return strings.Join(each.Of(alike, func(dtypes string) string { return strings.Join(in[dtypes], ", ") + " in " + dtypes }), "; ")
}

// number is how the command line calls a kernel.
func number(kernel string) string {
	if kernel == results.Baseline {
		return "0"
	}
	if n, ok := stats.Rung(kernel); ok {
		return fmt.Sprint(n)
	}
	return kernel
}

// Pairs lists the kernels and dtypes of summaries, each once, in the order of
// the ladder. Peers are no kernels.
func Pairs(summaries []stats.Summary) []Pair {
	kernels := slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool { return s.Peer() })
	list := distinct(kernels, func(s *stats.Summary) Pair { return Pair{s.FamilyName(), s.Kernel, s.DtypeA} })
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(
			strings.Compare(familyWord(a.Family), familyWord(b.Family)),
			stats.CompareKernels(a.Kernel, b.Kernel),
			strings.Compare(a.Dtype, b.Dtype),
		)
	})
	return list
}

// familyWord is the name of a family, "" for the one that goes without saying.
func familyWord(family string) string { return (&results.Record{Family: family}).FamilyWord() }

// Pictures makes the pictures that answer q, apart for each chip unless the
// kind compares chips, and for each kind of inputs unless its labels tell these. Summaries that q does not ask for are left aside, and so
// are interpreted ones, and peers but for the kind that shows them; a
// *NoRowsError means that none remain.
func Pictures(summaries []stats.Summary, q Request) ([]figure.Picture, error) {
	kind := q.Kind.row()
	if kind.pictures == nil {
		return nil, fmt.Errorf("unknown kind %q (known: %s)", q.Kind, words.Join(Kinds(), ", "))
	}
	summaries = slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool { return s.Interpreted() || s.Peer() && q.Kind != Peers })
	wanted := slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool { return !q.wants(&s) })
	if len(wanted) == 0 {
		return nil, &NoRowsError{q, Pairs(summaries)}
	}
	if n := len(distinct(wanted, func(s *stats.Summary) string { return s.Kernel })); n > maxKernels {
		return nil, fmt.Errorf("%d kernels do not fit into the picture %s, at most %d do: choose some with --kernel", n, q.Kind, maxKernels)
	}
	type part struct{ chip, inputs string } // that has pictures of its own
	partOf := func(s *stats.Summary) (p part) {
		if !kind.allChips {
			p.chip = cmp.Or(s.Chip, s.Device)
		}
		if kind.alike {
			p.inputs = words.Joined(" ", s.Dist, s.LoadWord())
		}
		return p
	}
	var pictures []figure.Picture
	_, of := each.Grouped(summaries, partOf)
	parts := distinct(wanted, partOf)
	chips, inputs := distinct(parts, func(p *part) string { return p.chip }), distinct(parts, func(p *part) string { return p.inputs })
	for _, part := range parts {
		made, err := kind.pictures(q, data{each.That(of[part], func(s stats.Summary) bool {
			ofFamily := q.Family == "" || s.FamilyName() == q.Family
			return q.wants(&s) || ofFamily && s.Kernel == results.Baseline && s.DtypeA == q.Dtype
		})})
		if err != nil {
			return nil, err
		}
		for _, p := range made {
			if len(chips) > 1 {
				p.Head().Name += "_" + figure.FileSafe(cmp.Or(part.chip, "unknown"))
			}
			if len(inputs) > 1 {
				p.Head().Name += "_" + figure.FileSafe(strings.ReplaceAll(cmp.Or(part.inputs, "unknown"), " %", ""))
			}
			pictures = append(pictures, p)
		}
	}
	return pictures, nil
}

// maxKernels is how many kernels a picture shows. Colours run out long before, and what
// places labels takes time that grows with their square.
const maxKernels = 500

// wants reports whether q asks for s.
func (q Request) wants(s *stats.Summary) bool {
	return (q.Family == "" || s.FamilyName() == q.Family) && (q.Dtype == "" || s.DtypeA == q.Dtype) && (q.Kernel == "" || s.Kernel == q.Kernel)
}

// fileName is performance_<what>_<dtype>, of other families performance_<family>_<what>_<dtype>.
func fileName(q Request) string {
	what := string(q.Kind)
	switch {
	case q.Kind == Size:
		what = "kernel_" + number(q.Kernel)
	case q.Kernel != "":
		what += "_" + number(q.Kernel)
	}
	return figure.FileSafe("performance_" + words.Between("", familyWord(q.Family), "_") + what + words.Between("_", q.Dtype, ""))
}
