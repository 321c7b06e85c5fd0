package cpu

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"matladder/backend"
	"matladder/tile"
)

// String prints the plan: the machine, then of each program what each pass decided,
// the loops around the register tile that come of it, and the memory.
func (p *Plan) String() string {
	var t text
	t.machine(&p.Machine)
	for i := range p.Programs {
		x := &p.Programs[i]
		if len(p.Programs) > 1 {
			t.part("program", fmt.Sprintf("%d of %d: %s", i+1, len(p.Programs), x.Name))
		}
		for _, pass := range p.Passes {
			t.part(pass, sections[pass](x)...)
		}
		t.loops(x)
	}
	m := &p.Memory
	total := m.Arrays + m.Shared + m.Worker*int64(m.Workers) + m.Gaps
	line := fmt.Sprintf("%s: arrays %s, shared %s, %d × %s of a worker, %s between them", backend.FormatBytes(total), backend.FormatBytes(m.Arrays), backend.FormatBytes(m.Shared), m.Workers, backend.FormatBytes(m.Worker), backend.FormatBytes(m.Gaps))
	if m.HugePages {
		line += "; huge pages asked for"
	}
	t.part("memory", line)
	return t.String()
}

// sections print what each pass decided.
var sections = map[string]func(*PlanProgram) []string{
	"verify":   (*PlanProgram).verified,
	"see":      (*PlanProgram).seen,
	"match":    (*PlanProgram).matched,
	"fuse":     (*PlanProgram).fused,
	"layout":   (*PlanProgram).laidOut,
	"thin":     (*PlanProgram).thinned,
	"rows":     (*PlanProgram).rowsRead,
	"stream":   (*PlanProgram).streamed,
	"epilogue": (*PlanProgram).valued,
	"share":    (*PlanProgram).shared,
	"schedule": (*PlanProgram).scheduled,
	"buffers":  (*PlanProgram).buffered,
}

// text is lines, those of a part behind its name.
type text struct{ strings.Builder }

func (t *text) part(name string, lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf("%-9s %s", name, line), " "))
		name = ""
	}
}

func (t *text) machine(m *PlanMachine) {
	first := m.Name + ": " + m.Note
	for _, c := range []struct {
		name  string
		bytes int
	}{{"L1", m.L1D}, {"L2", m.L2}, {"L3", m.L3}} {
		if c.bytes > 0 {
			first += fmt.Sprintf("; %s %s", c.name, backend.FormatBytes(int64(c.bytes)))
		}
	}
	why := fmt.Sprintf("%s is %s", m.ISA, m.Why)
	for _, b := range m.Better {
		if len(b.Missing) == 0 {
			why += fmt.Sprintf("; %s would run too", b.Name)
		} else {
			why += fmt.Sprintf("; %s lacks %s", b.Name, strings.Join(b.Missing, ", "))
		}
	}
	lines := []string{first, why}
	if m.Asked != "" {
		lines = append(lines, "asked for, in place of rules: "+m.Asked)
	}
	t.part("machine", lines...)
}

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

func (x *PlanProgram) verified() []string {
	if len(x.Grid) == 0 {
		return []string{"grid (): 1 program"}
	}
	var names, sizes, semantics []string
	for _, a := range x.Grid {
		names, sizes, semantics = append(names, a.Name), append(sizes, fmt.Sprint(a.Size)), append(semantics, a.Semantics.String())
	}
	return []string{fmt.Sprintf("grid (%s) = (%s), %s: %s", strings.Join(names, ", "), strings.Join(sizes, ", "),
		strings.Join(semantics, ", "), plural(x.Schedule.Programs, "program"))}
}

func (x *PlanProgram) seen() []string {
	var lines []string
	for _, r := range x.Refs {
		line := fmt.Sprintf("%s %s\t%s[%s]", r.Kind, r.Name, r.Dtype, by(r.Array, ", "))
		switch r.Kind {
		case tile.Table:
			line += "\t\t"
		case tile.Scratch:
			line += fmt.Sprintf("\tone a worker\trows %d bytes apart", r.Stride)
		default:
			line += fmt.Sprintf("\t%s of %s, %s\trows %d bytes apart", plural(r.Blocks, "block"), by(r.Shape(), "×"), backend.FormatBytes(r.BlockBytes()), r.Stride)
		}
		var uses []string
		for _, u := range r.Uses {
			uses = append(uses, string(u))
		}
		lines = append(lines, line+"\t"+strings.Join(uses, ", "))
	}
	return aligned(lines)
}

func by(shape []int, with string) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, with)
}

func (x *PlanProgram) matched() []string {
	var lines []string
	for _, s := range x.Body {
		lines = append(lines, strings.Split(s.String(), "\n")...)
	}
	return lines
}

func (x *PlanProgram) fused() []string {
	var lines []string
	for _, s := range x.Steps {
		if s.Way == WayFill {
			lines = append(lines, fmt.Sprintf("fill of %s: stays a pass of its own", s.Dst))
			continue
		}
		if s.Through != "" {
			lines = append(lines, fmt.Sprintf("the product for %s goes into the value of %s, which alone reads it", s.Through, s.Dst))
		}
		if s.Beside != "" {
			lines = append(lines, fmt.Sprintf("%s goes along rows together with %s", s.Dst, s.Beside))
		}
		if s.Zeroed == nil {
			continue
		}
		line := "the zeroing goes into the accumulation: "
		if s.Times > 1 {
			line = "the zeroing goes into the first accumulation of the loop: "
		}
		if where := s.Zeroed.String(); where == tile.All().String() {
			line += "it stores " + s.Dst
		} else {
			line += fmt.Sprintf("where %s it stores %s, elsewhere it adds", where, s.Dst)
		}
		lines = append(lines, line)
	}
	if lines == nil {
		return []string{"nothing to fuse"}
	}
	return lines
}

// valued says how each value comes to its destination.
func (x *PlanProgram) valued() []string {
	var lines []string
	for _, s := range x.Steps {
		var ops []string
		if len(s.Products) > 0 {
			ops = []string{"product"}
		}
		for _, op := range s.Ops {
			ops = append(ops, op.String())
		}
		if s.Rounds != tile.InvalidDtype {
			ops = append(ops, "rounded to "+s.Rounds.String())
		}
		if ops == nil {
			ops = []string{"copy"}
		}
		sign := " = "
		if s.Adds {
			sign = " += "
		}
		value := s.Dst + sign + strings.Join(ops, ", ")
		if s.Times > 1 {
			value = fmt.Sprintf("%d × %s", s.Times, value)
		}
		if s.When != nil {
			value += fmt.Sprintf(", where %s", s.When)
		}
		switch s.Way {
		case WayDirect:
			lines = append(lines, value+": by the micro-kernel, nothing else to do")
		case WayPieces:
			lines = append(lines, value+": fused, along rows of each piece of the product while it is in the cache")
		case WayVectors:
			if s.Beside != "" {
				lines = append(lines, fmt.Sprintf("%s: in the pass of %s, some rows at a time", value, s.Beside))
			} else {
				lines = append(lines, value+": a pass of its own over the block, along rows")
			}
		}
	}
	return lines
}
