package plan

import (
	"fmt"
	"strings"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/tile"
)

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
