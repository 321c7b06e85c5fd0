package stablehlo

import (
	"fmt"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// Interpret returns what programs, run in order, mean: In and Out are those of
// tile.Bind. Programs must be verified. What has no StableHLO is an
// *UnsupportedError.
func Interpret(programs []*tile.Program) (*Launch, error) {
	bound, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	l := &Launch{Name: "interpret", In: ArraysOf(bound.In), Out: ArraysOf(bound.Out)}
	functions := ""
	for i, p := range programs {
		if p.CopiesItself() {
			return nil, unsupported(p.Body[0].Pos, p.Name, "copy", "", "copies that a program starts itself, and devices that wait for each other, have no StableHLO")
		}
		text, err := interpretProgram(p, functionName(i, p))
		if err != nil {
			return nil, err
		}
		functions += text
	}
	t := newText()
	args := l.arguments(t, l.In, "")
	l.text = t.Function("private", "launch", args, storedTypes(l.Out), func() []value {
		arrays := map[string]value{}
		for i, r := range bound.In {
			arrays[r.Name] = t.As(t.numbers(args[i], r.Dtype), working(r.Dtype).Elem)
		}
		for i, p := range programs {
			in := each.Of(inputs(p), func(r *tile.Ref) value { return arrays[r.Name] })
			out := p.RefsOf(tile.Out)
			for j, v := range t.call(functionName(i, p), in, workingTypes(out)) {
				arrays[out[j].Name] = v
			}
		}
		return each.Of(bound.Out, func(r *tile.Ref) value {
			return t.bits(t.As(arrays[r.Name], storage(r.Dtype)), mlir.Array(r.Dtype).Elem)
		})
	})
	l.text += functions
	return l, nil
}

func functionName(i int, p *tile.Program) string {
	return fmt.Sprintf("program%d_%s", i, mlir.Symbol(p.Name))
}

// ArraysOf are the arrays of refs.
func ArraysOf(refs []*tile.Ref) []Array {
	return each.Of(refs, func(r *tile.Ref) Array { return Array{r.Name, r.Dtype, r.Array} })
}

// inputs are the refs whose arrays a program takes, tables included.
func inputs(p *tile.Program) []*tile.Ref {
	return each.That(p.Refs, func(r *tile.Ref) bool { return r.Kind == tile.In || r.Kind == tile.Table })
}

func workingTypes(refs []*tile.Ref) []tensor {
	return each.Of(refs, func(r *tile.Ref) tensor { return working(r.Dtype, r.Array...) })
}

// interpretProgram writes the function of one program, on working arrays.
func interpretProgram(p *tile.Program, name string) (string, error) {
	// A loop runs over all of the grid, and what a bound leaves out does nothing.
	g := &grid{text: newText(), program: p.Predicated(), partial: p.PartialTiles()}
	g.Scope, g.Refused = g, mlir.Refused{Maker: maker, Program: p.Name}
	if err := g.fits(); err != nil {
		return "", err
	}
	args := each.Of(inputs(p), func(r *tile.Ref) value { return g.named(mlir.Symbol(r.Name), working(r.Dtype, r.Array...)) })
	text := g.Function("private", name, args, workingTypes(p.RefsOf(tile.Out)), func() []value { return g.run(args) })
	return fmt.Sprintf("  // %s: %s\n%s", p.Name, describeGrid(p), text), g.Err
}

func describeGrid(p *tile.Program) string {
	if len(p.Grid) == 0 {
		return "one program"
	}
	s := "programs "
	for i, a := range p.Grid {
		if i > 0 {
			s += " x "
		}
		s += fmt.Sprintf("%s = 0..%d", a.Name, a.Size-1)
	}
	return s
}
