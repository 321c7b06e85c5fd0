package plan

import (
	"fmt"
	"strings"

	"matladder/tile"
)

func (p *Plan) tellRefs() []string {
	var lines []string
	for i := range p.Refs {
		r := &p.Refs[i]
		line := fmt.Sprintf("%s %s\t%s[%s]", r.Kind, r.Name, r.Dtype, by(r.Array, ", "))
		stride := r.Dtype.Bytes(int64(r.LD))
		switch r.Kind {
		case tile.Table:
			line += "\t\t"
		case tile.Scratch:
			line += fmt.Sprintf("\tone a worker\trows %d bytes apart", stride)
		default:
			line += fmt.Sprintf("\t%s of %s, %s\trows %d bytes apart", Plural(r.BlockCount(), "block"), by(r.Shape(), "×"), KiB(r.BlockBytes()), stride)
		}
		lines = append(lines, line+"\t"+strings.Join(p.uses(i), ", "))
	}
	return aligned(lines)
}

// uses says in which ways ref i is met.
func (p *Plan) uses(i int) []string {
	var uses []string
	use := func(s string) { uses = appendNew(uses, s) }
	r := &p.Refs[i]
	if r.Kind == tile.Table {
		use("places blocks")
	}
	if r.Merged {
		use("not stored")
	}
	for at, o := range p.Operands {
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

func (p *Plan) tellGrid() []string {
	if len(p.Program.Grid) == 0 {
		return []string{"grid (): 1 program"}
	}
	var names, sizes, semantics []string
	for _, a := range p.Program.Grid {
		names, sizes, semantics = append(names, a.Name), append(sizes, fmt.Sprint(a.Size)), append(semantics, a.Semantics.String())
	}
	return []string{fmt.Sprintf("grid (%s) = (%s), %s: %s", strings.Join(names, ", "), strings.Join(sizes, ", "),
		strings.Join(semantics, ", "), Plural(p.Programs(), "program"))}
}
