package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"matladder/internal/each"
)

// Kind is a kind of slot of a bundle, whatever a generation calls its units.
type Kind int

// Kinds of slots.
const (
	Other    Kind = iota
	Matrix        // products of the MXU
	Weights       // a block made ready in the MXU
	Vector        // elementwise
	Cross         // across lanes: XLU
	Function      // exp, rsqrt …: EUP
	Pop           // results taken from the MXU and the EUP
	Load          // from VMEM to vector registers
	Fill          // those of them that undo a spill
	Store         // from vector registers to VMEM
	Spill         // those of them that are a spill
	Scalar
)

// kinds are the columns of the file; older versions of libtpu have one for the MXU.
var kinds = map[string]Kind{
	"MXU": Matrix, "MATMUL": Matrix, "MATPUSH": Weights, "XLU": Cross, "VALU": Vector, "VPOP": Pop, "EUP": Function,
	"VLOAD": Load, "VLOAD:FILL": Fill, "VSTORE": Store, "VSTORE:SPILL": Spill, "SALU": Scalar,
}

// Unit is a column of the file.
type Unit struct {
	Name     string // the compiler's
	Kind     Kind
	Capacity int // slots in a bundle
}

var columnForm = regexp.MustCompile(`^\s*[A-Z][A-Z:_]*(?:\s*,\s*[A-Z][A-Z:_]*)+\s*$`)

// readSlots reads capacities under a line of names, and one line of slots in use for each bundle.
func (s *Schedule) readSlots(path, text string) error {
	lines := strings.Split(text, "\n")
	i := 0
	for ; i < len(lines) && !columnForm.MatchString(lines[i]); i++ {
	}
	if i+1 >= len(lines) {
		return &FormatError{path, 0, "no line with the names of units"}
	}
	names := strings.Split(lines[i], ",")
	capacities, err := numbers(lines[i+1], len(names))
	if err != nil {
		return &FormatError{path, i + 2, "capacities: " + err.Error()}
	}
	matrix := false
	for j, name := range names {
		u := Unit{strings.TrimSpace(name), Other, capacities[j]}
		u.Kind = kinds[u.Name]
		matrix = matrix || u.Kind == Matrix
		s.Units = append(s.Units, u)
	}
	if !matrix {
		return &FormatError{path, i + 1, "no unit MXU or MATMUL"}
	}
	for i += 2; i < len(lines) && !strings.Contains(lines[i], "UTILIZATION"); i++ {
	}
	for i++; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		row, err := numbers(lines[i], len(names))
		if err != nil {
			return &FormatError{path, i + 1, err.Error()}
		}
		for j, n := range row {
			if n > s.Units[j].Capacity {
				return &FormatError{path, i + 1, fmt.Sprintf("%d slots of %s in use, of %d", n, s.Units[j].Name, s.Units[j].Capacity)}
			}
		}
		s.slots = append(s.slots, row)
	}
	if len(s.slots) != s.Bundles {
		return &FormatError{path, 0, fmt.Sprintf("slots of %d bundles, but %s has %d", len(s.slots), s.file, s.Bundles)}
	}
	return nil
}

func numbers(line string, want int) ([]int, error) {
	fields := strings.Fields(line)
	if len(fields) != want {
		return nil, fmt.Errorf("%d numbers, not %d", len(fields), want)
	}
	ns := make([]int, want)
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no count", f)
		}
		ns[i] = n
	}
	return ns, nil
}

// Slots is how many of a unit's slots are in use.
type Slots struct {
	Unit
	Busy int
}

// Slots tells how many slots of each unit a span uses.
func (s *Schedule) Slots(in Span) []Slots {
	all := make([]Slots, len(s.Units))
	for j, u := range s.Units {
		all[j].Unit = u
		for i := in.From; i < in.To; i++ {
			all[j].Busy += s.slots[i][j]
		}
	}
	return all
}

// Along is how full a kind of slot is along a span, as parts for a picture: parts
// numbers from 0 to 1, each over an equal share of the span.
func (s *Schedule) Along(k Kind, in Span, parts int) []float64 {
	parts = min(parts, in.Len())
	along := make([]float64, max(0, parts))
	for p := range along {
		share := Span{in.From + p*in.Len()/parts, in.From + (p+1)*in.Len()/parts}
		capacity := 0
		for _, u := range s.Units {
			if u.Kind == k {
				capacity += u.Capacity
			}
		}
		if capacity > 0 {
			along[p] = float64(s.Busy(k, share)) / float64(capacity*share.Len())
		}
	}
	return along
}

// Busy counts the slots of a kind that a span uses.
func (s *Schedule) Busy(k Kind, in Span) int {
	units := each.That(s.Slots(in), func(u Slots) bool { return u.Kind == k })
	return each.Sum(units, func(u Slots) int { return u.Busy })
}
