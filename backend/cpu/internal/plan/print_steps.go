package plan

import (
	"fmt"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// A ShownStep is a step as it is printed, conditions taken apart.
type ShownStep struct {
	*Step
	name   string    // of the ref that it writes
	when   tile.Cond // it runs where this holds; nil for always
	times  int       // copies of one statement of a loop, of which it is the first
	beside string    // name of the first step that goes along rows together with it; "" for none
}

// shown lists the steps to print.
func (p *Plan) shown() []ShownStep { return p.shownOf(nil, p.Steps, nil) }

func (p *Plan) shownOf(list []ShownStep, steps []*Step, when tile.Cond) []ShownStep {
	var last *Step
	for _, s := range steps {
		switch {
		case s.Kind == StepWhen:
			inside := s.Cond
			if when != nil {
				inside = tile.All(when, s.Cond)
			}
			list, last = p.shownOf(list, s.Body, inside), nil
		case s.Kind == StepStrips:
			list, last = p.shownOf(list, s.Body, when), nil
		case s.Kind == StepRowLoop:
			first := len(list)
			list, last = p.shownOf(list, s.Body, when), nil
			for i := first + 1; i < len(list); i++ {
				list[i].beside = list[first].name
			}
		case last != nil && alike(last, s):
			list[len(list)-1].times++
		default:
			list, last = append(list, ShownStep{Step: s, name: s.Stmt.Ref.Name, when: when, times: 1}), s
		}
	}
	return list
}

// alike reports whether two steps are of one statement.
func alike(s, t *Step) bool {
	return s.Stmt.Kind == t.Stmt.Kind && s.Stmt.Ref == t.Stmt.Ref && s.Stmt.Pos == t.Stmt.Pos &&
		s.Direct == t.Direct && len(s.Dots) == len(t.Dots) && s.Rows == t.Rows && s.Cols == t.Cols
}

// EachDot calls f on every product that is printed.
func (p *Plan) EachDot(f func(s ShownStep, d *Dot)) {
	for _, s := range p.shown() {
		for _, d := range s.Dots {
			f(s, d)
		}
	}
}

// tellValues says how each value comes to its destination.
func (p *Plan) tellValues(say say) {
	for _, s := range p.shown() {
		value, several := s.tellValue(), ""
		if s.AtOnce > 0 && len(s.Dots) == 0 {
			count := min(s.AtOnce, p.Refs[s.Dst].Rows)
			if s.Strip > 0 {
				count = min(count, s.Strip)
			}
			several = fmt.Sprintf(", %d rows in one call", count)
		}
		switch {
		case s.Kind == StepFill:
		case s.Direct:
			say("%s: by the micro-kernel, nothing else to do", value)
		case len(s.Dots) > 0:
			say("%s: fused, along rows of each piece of the product while it is in the cache", value)
		case s.beside != "":
			say("%s: in the pass of %s, some rows at a time%s", value, s.beside, several)
		default:
			say("%s: a pass of its own over the block, along rows%s", value, several)
		}
	}
}

// tellValue is a step's destination and the operations of its value that compute something.
func (s ShownStep) tellValue() string {
	var ops []string
	if len(s.Dots) > 0 {
		ops = []string{"product"}
	}
	Outside(s.Stmt.Value, func(e *tile.Expr) {
		switch e.Op {
		case tile.OpDot, tile.OpLoad, tile.OpConst, tile.OpBroadcast, tile.OpIndex, tile.OpSlice, tile.OpIota, tile.OpInBounds:
		default:
			ops = each.With(ops, e.Op.String())
		}
	})
	sign := " = "
	if s.Stmt.Kind == tile.Accumulate {
		sign = " += "
		if s.Stmt.Value.Dtype != s.Stmt.Ref.Dtype {
			ops = append(ops, "rounded to "+s.Stmt.Ref.Dtype.String())
		}
	}
	if ops == nil {
		ops = []string{"copy"}
	}
	value := s.name + sign + strings.Join(ops, ", ")
	if s.times > 1 {
		value = fmt.Sprintf("%d × %s", s.times, value)
	}
	if s.when != nil {
		value += fmt.Sprintf(", where %s", s.when)
	}
	return value
}

func (p *Plan) tellFused(say say) {
	for _, s := range p.shown() {
		if s.Kind == StepFill {
			say("fill of %s: stays a pass of its own", s.name)
			continue
		}
		if s.Through != nil {
			say("the product for %s goes into the value of %s, which alone reads it", s.Through.Name, s.name)
		}
		if s.beside != "" {
			say("%s goes along rows together with %s", s.name, s.beside)
		}
		for _, d := range s.Dots {
			if d.Groups != nil {
				say("the loop for %s is one product, of groups of %d of k that have scales", s.name, d.Groups.Size)
			}
		}
		if s.Zeroed == nil {
			continue
		}
		into, does := "the accumulation", "it stores "+s.name
		if s.times > 1 {
			into = "the first accumulation of the loop"
		}
		if where := s.Zeroed.String(); where != tile.All().String() {
			does = fmt.Sprintf("where %s it stores %s, elsewhere it adds", where, s.name)
		}
		say("the zeroing goes into %s: %s", into, does)
	}
}

func (p *Plan) tellBody(say say) {
	for _, s := range p.Program.Body {
		say("%s", s)
	}
}

func (p *Plan) tellStrips(say say) {
	AllSteps(p.Steps, func(g *Step) {
		for _, r := range g.Widens {
			how := "rows of %s are widened ahead of %s, once for all that goes along them"
			if p.IsAlone(r) {
				how = "the row of %s is widened ahead of %s, once for all rows"
			}
			say(how, p.Refs[r].Name, g.Stmt.Ref.Name)
		}
		if g.Kind != StepStrips {
			return
		}
		names := each.Of(g.Body, func(s *Step) string { return s.Stmt.Ref.Name })
		say("%s go through rows together, %d at a time: what one multiplies another has made", strings.Join(names, ", "), min(g.Strip, p.Refs[g.Body[0].Dst].Rows))
		if g.Band != nil {
			names = nil
			for i, of := range g.Band.Of {
				if of {
					names = append(names, p.Refs[i].Name)
				}
			}
			say("of %s they see the columns, by %d, in which their rows have more than one number", strings.Join(names, ", "), g.Band.Unit)
		}
	})
}
