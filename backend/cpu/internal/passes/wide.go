package passes

import (
	"slices"

	"matladder/backend/cpu/internal/epilogue"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

func values(p *plan.Plan) error {
	if err := epilogue.Compile(p); err != nil {
		return err
	}
	widenOnce(p)
	return nil
}

// asksAhead reports whether memory is asked for the next rows of ref r while steps g, which go
// along rows together, compute with those of a strip: whole rows of an input. Worker.rowLoop
// begins that, and Frame.Ask asks for a part at each piece of a row.
func asksAhead(p *plan.Plan, g *plan.Step, r int) bool {
	x := &p.Refs[r]
	return x.Kind == tile.In && !x.Main && !p.IsAlone(r) && x.Cols == x.LD &&
		slices.ContainsFunc(g.Body, func(s *plan.Step) bool { return tile.Loads(s.Stmt.Value, x.Ref) })
}

// widenOnce has rows of bfloat16 widened once where several steps that go along rows together
// compute with them, or with the only row of a block again and again. It also notes which
// inputs memory is asked for ahead.
func widenOnce(p *plan.Plan) {
	plan.AllSteps(p.Steps, func(g *plan.Step) {
		if g.Kind != plan.StepRowLoop {
			return
		}
		for r := range p.Refs {
			x := &p.Refs[r]
			if asksAhead(p, g, r) {
				g.Asks = append(g.Asks, r)
			}
			reads, kept := 0, false
			for _, s := range g.Body {
				kept = kept || s.Keeps && s.Dst == r
				if slices.Contains(s.Loads, r) {
					reads++
				}
			}
			if kept || x.Dtype != tile.BFloat16 || x.LD*4*g.Strip > plan.WideRow || reads == 0 || reads == 1 && !p.IsAlone(r) {
				continue
			}
			isWide := false
			for _, s := range g.Body {
				if slices.Contains(s.Loads, r) && !isWide {
					s.Widens, isWide = append(s.Widens, r), true
				}
				isWide = isWide && s.Dst != r
			}
			if !slices.ContainsFunc(p.Wides, func(w *plan.Wide) bool { return w.Ref == r }) {
				p.Wides = append(p.Wides, &plan.Wide{Ref: r})
			}
		}
	})
}
