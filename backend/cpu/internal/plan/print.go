package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/tile"
)

// sections say in words what each pass decided, under its name, or that there was nothing to
// decide.
var sections = []struct {
	pass    string
	tell    func(*Plan, say)
	nothing string
}{
	{"verify", (*Plan).tellGrid, ""},
	{"matrices", (*Plan).tellRefs, ""},
	{"match", (*Plan).tellBody, ""},
	{"fuse", (*Plan).tellFused, "nothing to fuse"},
	{"layout", (*Plan).tellLayout, "no product"},
	{"skinny", (*Plan).tellSkinny, "no product"},
	{"rows", (*Plan).tellRows, "no product"},
	{"writes", (*Plan).tellWrites, "no output is written by non-temporal stores"},
	{"epilogue", (*Plan).tellValues, ""},
	{"placement", (*Plan).tellKept, "nothing is packed"},
	{"schedule", (*Plan).tellSchedule, ""},
	{"buffers", (*Plan).tellBuffers, "none"},
}

// A say adds a line to a section.
type say func(format string, args ...any)

// Text is lines, those of a part behind its name.
type Text struct{ strings.Builder }

// Part adds lines, the first behind name. Tabs set what lies between them in columns.
func (t *Text) Part(name string, lines ...string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	w.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf("%-9s %s", name, line), " \n"))
		name = ""
	}
}

// Print adds what each pass decided, and the loops that come of it.
func (p *Plan) Print(t *Text) {
	for _, s := range sections {
		var lines []string
		s.tell(p, func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
		if lines == nil && s.nothing != "" {
			lines = []string{s.nothing}
		}
		t.Part(s.pass, lines...)
	}
	t.loops(p)
}

// KiB prints a number of bytes: "96 KiB".
func KiB(bytes int64) string { return backend.FormatBytes(bytes) }

func by(shape []int, with string) string { return strings.Join(each.Of(shape, strconv.Itoa), with) }

func (p *Plan) tellRefs(say say) {
	for i := range p.Refs {
		r := &p.Refs[i]
		blocks, apart := "", ""
		switch r.Kind {
		case tile.Table:
		case tile.Scratch:
			blocks = "one a worker"
		default:
			blocks = fmt.Sprintf("%s of %s, %s", words.Count(r.BlockCount(), "block"), by(r.Shape(), "×"), KiB(r.BlockBytes()))
		}
		if r.Kind != tile.Table {
			apart = fmt.Sprintf("rows %d bytes apart", r.Dtype.Bytes(int64(r.LD)))
		}
		say("%s %s\t%s[%s]\t%s\t%s\t%s", r.Kind, r.Name, r.Dtype, by(r.Array, ", "), blocks, apart, strings.Join(p.uses(i), ", "))
	}
}

// uses says in which ways ref i is met.
func (p *Plan) uses(i int) []string {
	var uses []string
	use := func(s string) { uses = each.With(uses, s) }
	r := &p.Refs[i]
	if r.Kind == tile.Table {
		use("places blocks")
	}
	if r.Merged {
		use("not stored")
	}
	for at, o := range p.Operands {
		if o.Scales.At != nil && o.Scales.Ref == i {
			use("multiplied into " + p.Refs[o.Ref].Name)
		}
		switch {
		case o.Ref != i:
		case o.Keep == KeepUnpacked && o.Widened():
			use("widened in pieces")
		case o.Keep == KeepUnpacked && !o.IsB:
			use("loaded in place")
		case o.Keep == KeepUnpacked:
			for _, read := range p.readsOf(at) {
				use(strategyOf(read).what)
			}
		default:
			use("packed")
		}
	}
	AllSteps(p.Steps, func(s *Step) {
		if s.Kind == StepWhen || s.Kind == StepRowLoop || s.Kind == StepStrips {
			return
		}
		Outside(s.Stmt.Value, func(e *tile.Expr) {
			switch {
			case e.Ref != r.Ref:
			case e.Op == tile.OpLoad:
				use("read along rows")
			case e.Op == tile.OpInBounds:
				use("asked for its extent")
			}
		})
		switch {
		case s.Dst != i:
		case s.Kind == StepFill:
			use("filled")
		case s.Direct:
			use("written by the micro-kernel")
		default:
			use("written along rows")
		}
	})
	return uses
}

func (p *Plan) tellGrid(say say) {
	if len(p.Program.Grid) == 0 {
		say("grid (): 1 program")
		return
	}
	var names, sizes, semantics []string
	for _, a := range p.Program.Grid {
		names, sizes, semantics = append(names, a.Name), append(sizes, fmt.Sprint(a.Size)), append(semantics, a.Semantics.String())
	}
	say("grid (%s) = (%s), %s: %s", strings.Join(names, ", "), strings.Join(sizes, ", "), strings.Join(semantics, ", "), words.Count(p.Programs(), "program"))
}

func (p *Plan) tellKept(say say) {
	for i, o := range p.Operands {
		how, why, blocks := "not kept: every use packs it, a piece at a time", o.Why, words.Count(o.Slots, "block")
		switch {
		case o.Keep == KeepUnpacked && !slices.Contains(p.readsOf(i), gemm.ReadPieces):
			how = "not packed"
		case o.Keep == KeepOwn && o.Why == WhyAlone:
			how = blocks + " packed by each worker that needs them, once a launch"
		case o.Keep == KeepOwn:
			how = blocks + " kept by each worker, packed anew when it needs another"
		case o.Keep == KeepAll:
			how = blocks + " kept for all workers, packed by all of them once a launch"
		case o.Keep == KeepGroup:
			how = blocks + " kept for all workers, packed by all of them; the next phase packs others"
		}
		if o.Room > 0 {
			why += " (limit " + KiB(o.Room) + ")"
		}
		say("%s\t%s\t%s", p.NameOf(o), how, why)
	}
}

func (p *Plan) tellSchedule(say say) {
	t, all := &p.Tasks, p.Tasks.Outers*p.Tasks.Inners
	axes := func(list ...int) string {
		return strings.Join(each.Of(list, func(i int) string { return p.Program.Grid[i].Name }), ", ")
	}
	first := words.Count(all, "task")
	if p.ByColumns {
		first += " by columns"
	}
	if list := slices.Concat(t.Outer, t.Inner); len(list) > 0 {
		first += fmt.Sprintf(", one for each (%s), the last fastest", axes(list...))
	}
	if n := t.Phases(); n > 1 {
		first += fmt.Sprintf(", in %d phases", n)
	}
	switch {
	case p.Machine.ProgramOrder:
		first += ": one worker runs all in order, asked for"
	case p.Ordered:
		first += ": one worker runs all in order, scratch may carry values from one point of a parallel axis to the next"
	}
	first += "; a task is " + words.Count(t.Steps, "program")
	if len(t.Serial) > 0 {
		first += fmt.Sprintf(" along (%s), in order", axes(t.Serial...))
	}
	least, most := t.Spread()
	deal := fmt.Sprint(least)
	if most != least {
		deal = fmt.Sprintf("%d or %d", least, most)
	}
	second := words.Count(t.Workers, "worker")
	if idle := p.Machine.Workers - t.Workers; idle > 0 {
		second += fmt.Sprintf(", %d idle", idle)
	}
	if t.Workers > 1 {
		second += fmt.Sprintf(", each with %s of them to begin with; who is done takes from the others", deal)
	}
	say("%s", first)
	say("%s", second)
	say("threads are busy %.0f %% of the time, if tasks take equally long", 100*float64(all)/float64(p.Machine.Workers*most))
	p.tellStrips(say)
}

func (p *Plan) tellBuffers(say say) {
	for _, s := range p.shown() {
		if len(s.Dots) > 0 {
			say("%s in pieces of %d×%d", s.name, min(s.Rows, p.Refs[s.Dst].Rows), min(s.Cols, p.Refs[s.Dst].Cols))
		}
	}
	for _, shared := range []bool{true, false} {
		whose := map[bool]string{true: "shared", false: "a worker"}[shared]
		if list := each.That(p.Buffers, func(b Buffer) bool { return b.Shared == shared }); list != nil {
			say("%s: %s", whose, strings.Join(each.Of(list, Buffer.String), ", "))
		}
	}
}

func (b Buffer) String() string {
	s := b.What + " " + KiB(int64(b.Bytes))
	switch {
	case b.Used == 0:
		s += " (not used)"
	case b.Used < b.Bytes:
		s += fmt.Sprintf(" (%s of it used)", KiB(int64(b.Used)))
	}
	return s
}
