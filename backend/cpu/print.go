package cpu

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// WritePlan compiles programs as Compile does and writes the plans instead of running
// them: the machine, then of each program what each pass decided, the loops around the
// micro-kernel that come of it, and the memory. It allocates nothing, so programs that do
// not fit memory have a plan too. Errors are those of Compile.
func (b *Backend) WritePlan(ctx context.Context, w io.Writer, programs []*tile.Program, params backend.Params) error {
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return err
	}
	why := b.why
	if params.ISA != "" && params.ISA != b.options.ISA {
		why = whyAsked
	}
	_, err = io.WriteString(w, e.print(e.plans[0].machine.describe(why, backend.Params{Extra: params.Extra}.String()), asksForHugePages))
	return err
}

// print writes the plans below a few lines about the machine.
func (e *executable) print(machine []string, hugePages bool) string {
	var t text
	t.part("machine", machine...)
	for i, p := range e.plans {
		if len(e.plans) > 1 {
			t.part("program", fmt.Sprintf("%d of %d: %s", i+1, len(e.plans), p.program.Name))
		}
		t.plan(p)
	}
	var arrays int64
	for _, r := range e.everything() {
		arrays += r.ArrayBytes()
	}
	shared, local, workers := e.buffers()
	line := fmt.Sprintf("%s: arrays %s, shared %s, %d × %s of a worker, %s between them", kib(e.size()), kib(arrays), kib(int64(shared)), workers, kib(int64(local)), kib(gaps(workers)))
	if hugePages {
		line += "; huge pages asked for"
	}
	t.part("memory", line)
	return t.String()
}

// describe says what programs were compiled for; asked are choices as k=v pairs.
func (m *machine) describe(why, asked string) []string {
	host, isa := probe.Host(), m.kernels.ISA
	first := host.Name + ": " + note(isa.String(), m.workers)
	for _, c := range []struct {
		name  string
		bytes int
	}{{"L1", host.L1D}, {"L2", host.L2}, {"L3", host.L3}} {
		if c.bytes > 0 {
			first += fmt.Sprintf("; %s %s", c.name, kib(int64(c.bytes)))
		}
	}
	line := fmt.Sprintf("%s is %s", isa, why)
	for better := isa + 1; better <= gemm.AMX; better++ {
		if missing := better.Missing(); len(missing) > 0 {
			line += fmt.Sprintf("; %s lacks %s", better, strings.Join(missing, ", "))
		} else {
			line += fmt.Sprintf("; %s would run too", better)
		}
	}
	lines := []string{first, line}
	if asked != "" {
		lines = append(lines, "asked for, in place of rules: "+asked)
	}
	return lines
}

// text is lines, those of a part behind its name.
type text struct{ strings.Builder }

func (t *text) part(name string, lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf("%-9s %s", name, line), " "))
		name = ""
	}
}

// sections say in words what each pass decided, under its name.
var sections = []struct {
	pass string
	tell func(*plan) []string
}{
	{"verify", (*plan).tellGrid},
	{"matrices", (*plan).tellRefs},
	{"match", (*plan).tellBody},
	{"fuse", (*plan).tellFused},
	{"layout", (*plan).tellLayout},
	{"skinny", (*plan).tellThin},
	{"rows", (*plan).tellRows},
	{"writes", (*plan).tellWrites},
	{"epilogue", (*plan).tellValues},
	{"placement", (*plan).tellKept},
	{"schedule", (*plan).tellSchedule},
	{"buffers", (*plan).tellBuffers},
}

// plan prints p: what each pass decided, and the loops that come of it.
func (t *text) plan(p *plan) {
	for _, s := range sections {
		t.part(s.pass, s.tell(p)...)
	}
	t.loops(p)
}

func kib(bytes int64) string { return backend.FormatBytes(bytes) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// aligned sets cells, joined by tabs, in columns.
func aligned(lines []string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	w.Flush()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// or is lines, or what to say where there are none.
func or(lines []string, nothing string) []string {
	if lines == nil {
		return []string{nothing}
	}
	return lines
}

func by(shape []int, with string) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, with)
}

// A shownStep is a step as it is printed, conditions taken apart.
type shownStep struct {
	*step
	name   string    // of the ref that it writes
	when   tile.Cond // it runs where this holds; nil for always
	times  int       // copies of one statement of a loop, of which it is the first
	beside string    // name of the first step that goes along rows together with it; "" for none
}

// shown lists the steps to print.
func (p *plan) shown() []shownStep { return p.shownOf(nil, p.steps, nil) }

func (p *plan) shownOf(list []shownStep, steps []*step, when tile.Cond) []shownStep {
	var last *step
	for _, s := range steps {
		switch {
		case s.kind == stepWhen:
			inside := s.cond
			if when != nil {
				inside = tile.All(when, s.cond)
			}
			list, last = p.shownOf(list, s.body, inside), nil
		case s.kind == stepStrips:
			list, last = p.shownOf(list, s.body, when), nil
		case s.kind == stepAbreast:
			first := len(list)
			list, last = p.shownOf(list, s.body, when), nil
			for i := first + 1; i < len(list); i++ {
				list[i].beside = list[first].name
			}
		case last != nil && alike(last, s):
			list[len(list)-1].times++
		default:
			list, last = append(list, shownStep{step: s, name: s.stmt.Ref.Name, when: when, times: 1}), s
		}
	}
	return list
}

// alike reports whether two steps are of one statement.
func alike(s, t *step) bool {
	return s.stmt.Kind == t.stmt.Kind && s.stmt.Ref == t.stmt.Ref && s.stmt.Pos == t.stmt.Pos &&
		s.direct == t.direct && len(s.dots) == len(t.dots) && s.rows == t.rows && s.cols == t.cols
}

// eachDot calls f on every product that is printed.
func (p *plan) eachDot(f func(s shownStep, d *dot)) {
	for _, s := range p.shown() {
		for _, d := range s.dots {
			f(s, d)
		}
	}
}

// outside calls f on the parts of a value that are not operands of products:
// with those packing does what is to be done.
func outside(e *tile.Expr, f func(*tile.Expr)) {
	seen := map[*tile.Expr]bool{}
	var walk func(*tile.Expr)
	walk = func(e *tile.Expr) {
		if seen[e] {
			return
		}
		if seen[e] = true; e.Op != tile.OpDot {
			for _, arg := range e.Args {
				walk(arg)
			}
		}
		f(e)
	}
	walk(e)
}

// appendNew is append for what the list does not have.
func appendNew[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
