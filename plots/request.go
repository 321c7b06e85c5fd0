package plots

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"matladder/stats"

	"matladder/results"
)

// A Request says which pictures to make. What it leaves empty is not filtered by;
// the kind's Scope says what it needs.
type Request struct {
	Kind   Kind
	Family string // of problems
	Kernel string
	Dtype  string    // of operand a
	Model  StepModel // of a waterfall; nil for the limits of the device alone
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
	what, command := "", "go run ./cmd/bench"
	if e.Kernel != "" {
		what += " of " + e.Kernel
		if word := familyWord(e.Family); word != "" {
			command += " --family " + word
		}
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
		if dtypes[p.name()] == nil {
			kernels = append(kernels, p.name())
		}
		dtypes[p.name()] = append(dtypes[p.name()], p.Dtype)
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
	if n, ok := stats.Rung(kernel); ok {
		return fmt.Sprint(n)
	}
	return kernel
}

// Pairs lists the kernels and dtypes of summaries, each once, in the order of
// the ladder. Peers are no kernels.
func Pairs(summaries []stats.Summary) []Pair {
	var list []Pair
	seen := map[Pair]bool{}
	for i := range summaries {
		p := Pair{summaries[i].FamilyName(), summaries[i].Kernel, summaries[i].DtypeA}
		if !seen[p] && !summaries[i].Peer() {
			seen[p] = true
			list = append(list, p)
		}
	}
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
// kind compares chips. Summaries that q does not ask for are left aside, and so
// are interpreted ones, and peers but for the kind that shows them; a
// *NoRowsError means that none remain.
func Pictures(summaries []stats.Summary, q Request) ([]Picture, error) {
	kind := q.Kind.row()
	if kind.pictures == nil {
		return nil, fmt.Errorf("unknown kind %q (known: %s)", q.Kind, list(Kinds()))
	}
	summaries = slices.DeleteFunc(slices.Clone(summaries), func(s stats.Summary) bool { return s.Interpreted() || s.Peer() && q.Kind != Peers })
	var chips []string
	chipOf := func(s *stats.Summary) string {
		if kind.allChips {
			return ""
		}
		return cmp.Or(s.Chip, s.Device)
	}
	for i := range summaries {
		if s := &summaries[i]; q.wants(s) && !slices.Contains(chips, chipOf(s)) {
			chips = append(chips, chipOf(s))
		}
	}
	if chips == nil {
		return nil, &NoRowsError{q, Pairs(summaries)}
	}
	if err := few(summaries, q); err != nil {
		return nil, err
	}
	var pictures []Picture
	for _, chip := range chips {
		var d data
		for i := range summaries {
			s := &summaries[i]
			if chipOf(s) != chip {
				continue
			}
			if q.Family != "" && s.FamilyName() != q.Family {
				continue
			}
			d.all = append(d.all, *s)
			if q.wants(s) || s.Kernel == results.Baseline && s.DtypeA == q.Dtype {
				d.asked = append(d.asked, *s)
			}
		}
		made, err := kind.pictures(q, d)
		if err != nil {
			return nil, err
		}
		for _, p := range made {
			if len(chips) > 1 {
				p.Head().Name += "_" + fileSafe(cmp.Or(chip, "unknown"))
			}
			pictures = append(pictures, p)
		}
	}
	return pictures, nil
}

// maxKernels is how many kernels a picture shows. Colours run out long before, and what
// places labels takes time that grows with their square.
const maxKernels = 500

// few refuses what no picture can show.
func few(summaries []stats.Summary, q Request) error {
	kernels := map[string]bool{}
	for i := range summaries {
		if q.wants(&summaries[i]) {
			kernels[summaries[i].Kernel] = true
		}
	}
	if len(kernels) <= maxKernels {
		return nil
	}
	return fmt.Errorf("%d kernels do not fit into the picture %s, at most %d do: choose some with --kernel", len(kernels), q.Kind, maxKernels)
}

// wants reports whether q asks for s.
func (q Request) wants(s *stats.Summary) bool {
	return (q.Family == "" || s.FamilyName() == q.Family) && (q.Dtype == "" || s.DtypeA == q.Dtype) && (q.Kernel == "" || s.Kernel == q.Kernel)
}

func list[T ~string](names []T) string {
	var text []string
	for _, n := range names {
		text = append(text, string(n))
	}
	return strings.Join(text, ", ")
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
	if q.Dtype != "" {
		what += "_" + q.Dtype
	}
	if word := familyWord(q.Family); word != "" {
		what = word + "_" + what
	}
	return fileSafe("performance_" + what)
}

// fileSafe keeps what every file system takes in a name.
func fileSafe(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		}
		return '-'
	}, s)
	if len(s) <= maxName {
		return s
	}
	sum := sha256.Sum256([]byte(s)) // tells apart what begins alike
	return s[:maxName-9] + "-" + hex.EncodeToString(sum[:4])
}

// maxName is the longest name of a file without its ending, well below the 255 bytes
// of file systems.
const maxName = 120
