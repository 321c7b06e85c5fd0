package schedule

import (
	"cmp"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// programEnd is the ending of the program around the kernels, as HLO.
const programEnd = "-TLP-hlo.txt"

// Repeats says how often a launch runs kernels that the compiler put into loops of its
// own, as it does with the rows of an attention; the others, which run once, are left out.
// A dump without the program around its kernels has no such loops. The error is for a loop
// that does not count from 0 to a number; the map is right beside it, with 0 for what such a
// loop runs. Where assume has the name of such a loop, the trips are the number there.
func Repeats(dump fs.FS, assume map[string][]int) (map[string]int, error) {
	entries, err := fs.ReadDir(dump, ".")
	if err != nil {
		return nil, fmt.Errorf("schedule dump: %w", err)
	}
	times, unknown := map[string]int{}, error(nil)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), programEnd) {
			continue
		}
		text, err := fs.ReadFile(dump, e.Name())
		if err != nil {
			return nil, fmt.Errorf("schedule dump: %w", err)
		}
		p := readProgram(string(text))
		p.assume = assume
		if counted := p.count(p.entry, 1, times); counted != nil {
			unknown = &FormatError{File: e.Name(), Want: counted.Error()}
		}
	}
	return times, unknown
}

// program is the HLO around kernels: for each computation the instructions that it names
// and the loops that it has.
type program struct {
	entry string
	names map[string][]string    // by computation
	loops map[string][][4]string // likewise: condition, body, what is carried in, and name
	calls map[string][]string    // likewise: branches of conditions, and what is called
	trips map[string]int         // of computations that are such a condition
	tests map[string]string      // of these: the number of what they compare, among what is carried
	means map[string]meaning     // of instructions, by computation and name

	assume map[string][]int // trips of loops by their names
}

// meaning is an instruction that a loop's counter may go through.
type meaning struct{ opcode, operands, index string }

var (
	computationForm = regexp.MustCompile(`^(ENTRY )?%(\S+) \(.*\{$`)
	instructionForm = regexp.MustCompile(`^\s+(?:ROOT )?%(\S+) = `)
	meaningForm     = regexp.MustCompile(`^\s+(ROOT )?%(\S+) = .*? (copy|tuple|add|get-tuple-element|constant|fusion|parameter)\((.*?)\)(?:, index=(\d+))?`)
	calledForm      = regexp.MustCompile(` (?:conditional|call)\(.*?(?:branch_computations=\{([^}]*)\}|true_computation=(%[^,\s]+), false_computation=(%[^,\s]+)|to_apply=(%[^,\s]+))`)
	whileForm       = regexp.MustCompile(`%(\S+) = .* while\(%([^)]*)\).*condition=%([^,\s]+), body=%([^,\s]+)`)
	constantForm    = regexp.MustCompile(`^\s+%(\S+) = s32\[\](?:\{\S*\})? constant\((\d+)\)`)
	compareForm     = regexp.MustCompile(`^\s+ROOT .* compare\(%(\S+), %([^)]+)\), direction=LT`)
)

func readProgram(text string) *program {
	p := &program{names: map[string][]string{}, loops: map[string][][4]string{}, calls: map[string][]string{}, trips: map[string]int{},
		tests: map[string]string{}, means: map[string]meaning{}}
	current, constants := "", map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := computationForm.FindStringSubmatch(line); m != nil {
			current, constants = m[2], map[string]int{}
			if m[1] != "" {
				p.entry = current
			}
			continue
		}
		if m := instructionForm.FindStringSubmatch(line); m != nil {
			p.names[current] = append(p.names[current], m[1])
		}
		if m := meaningForm.FindStringSubmatch(line); m != nil {
			p.means[current+" "+m[2]] = meaning{m[3], m[4], m[5]}
			if m[1] != "" {
				p.means[current] = p.means[current+" "+m[2]]
			}
		}
		if m := whileForm.FindStringSubmatch(line); m != nil {
			p.loops[current] = append(p.loops[current], [4]string{m[3], m[4], m[2], m[1]})
		}
		if m := calledForm.FindStringSubmatch(line); m != nil {
			for _, name := range strings.FieldsFunc(strings.Join(m[1:], ","), func(c rune) bool { return c == ',' || c == ' ' }) {
				p.calls[current] = append(p.calls[current], strings.TrimPrefix(name, "%"))
			}
		}
		if m := constantForm.FindStringSubmatch(line); m != nil {
			constants[m[1]], _ = strconv.Atoi(m[2]) // of digits alone
		}
		if m := compareForm.FindStringSubmatch(line); m != nil {
			if n, ok := constants[m[2]]; ok {
				p.trips[current], p.tests[current] = n, p.means[current+" "+m[1]].index
			}
		}
	}
	return p
}

// count adds the kernels of a computation that runs so often.
func (p *program) count(computation string, runs int, times map[string]int) error {
	const most = 1 << 20
	if runs != 1 {
		for _, name := range p.names[computation] {
			times[name] = runs
		}
	}
	var unknown error
	for _, loop := range p.loops[computation] {
		trips := p.trips[loop[0]]
		if loop[1] == computation {
			return fmt.Errorf("loop %s runs itself", loop[1])
		}
		if trips < 1 || runs*trips > most || !p.counts(computation, loop) {
			trips = 0
			if assumed := p.assume[loop[3]]; len(assumed) == 1 {
				trips = assumed[0]
			} else {
				unknown = fmt.Errorf("loop %s does not count from 0 to a number: --assume %s=TRIPS says how often it runs", loop[3], loop[3])
			}
		}
		unknown = cmp.Or(p.count(loop[1], runs*trips, times), unknown)
	}
	for _, called := range p.calls[computation] {
		if called == computation {
			return fmt.Errorf("computation %s calls itself", called)
		}
		unknown = cmp.Or(p.count(called, runs, times), unknown)
	}
	return unknown
}

// counts reports whether a loop's counter begins at 0 and grows by 1, as far as it can be followed: a
// shortened text is believed, a counter that is something else is not.
func (p *program) counts(around string, loop [4]string) bool {
	// carried is what a tuple of a computation holds where the condition looks, behind copies.
	carried := func(in, tuple string) meaning {
		m := p.means[strings.TrimSpace(in+" "+tuple)]
		n, err := strconv.Atoi(p.tests[loop[0]])
		of := strings.Split(m.operands, ", ")
		if err != nil || m.opcode != "tuple" || n >= len(of) {
			return meaning{}
		}
		for m = p.means[in+" "+strings.TrimPrefix(of[n], "%")]; m.opcode == "copy"; {
			m = p.means[in+" "+strings.TrimPrefix(m.operands, "%")]
		}
		return m
	}
	begin, next := carried(around, loop[2]), carried(loop[1], "")
	if begin.opcode != "" && (begin.opcode != "constant" || begin.operands != "0") {
		return false
	}
	if next.opcode == "add" {
		for _, o := range strings.Split(next.operands, ", ") {
			if c := p.means[loop[1]+" "+strings.TrimPrefix(o, "%")]; c.opcode == "constant" {
				return c.operands == "1"
			}
		}
		return false
	}
	return next.opcode == ""
}
