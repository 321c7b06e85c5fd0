package stablehlo

import (
	"fmt"
	"slices"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/problem"
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
	args := l.arguments(l.In, "")
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
func ArraysOf(refs []*tile.Ref) []problem.Operand {
	return each.Of(refs, func(r *tile.Ref) problem.Operand {
		return problem.Operand{Name: r.Name, Dtype: r.Dtype, Shape: r.Array, Out: r.Kind == tile.Out}
	})
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

// grid writes one program: a loop over the steps of its grid, in row-major
// order, that carries whole arrays, padded to whole blocks, and scratch.
type grid struct {
	*text
	program *tile.Program
	partial *tile.PartialTiles
	env
	memo map[*tile.Expr]value // the values of that statement
}

// fits refuses what i32 cannot count.
func (g *grid) fits() error {
	p := g.program
	if n := p.Steps(); n < 0 || n > 1<<31-1 {
		return unsupported(tile.Pos{}, p.Name, "grid", "", fmt.Sprintf("%d steps do not fit 32 bits", n))
	}
	for _, r := range p.Refs {
		for d := range r.Array {
			if !countable(r.Array[d] + r.BlockSize(d)) {
				return unsupported(r.Pos, p.Name, "array", r.Name, "a dimension does not fit 32 bits")
			}
		}
	}
	return nil
}

// run writes the program and returns its outputs; args are its inputs.
func (g *grid) run(args []value) []value {
	refs := g.program.Refs
	arrays := make([]value, len(refs))
	for i, r := range refs {
		var arg value
		if r.Kind == tile.In || r.Kind == tile.Table {
			arg, args = args[0], args[1:]
		}
		switch r.Kind {
		case tile.Table:
			arrays[i] = arg
		case tile.In:
			arrays[i] = g.Pad(arg, r.Dtype.Unknown(), paddedShape(r))
		case tile.Out:
			arrays[i] = g.Constant(working(r.Dtype, paddedShape(r)...), r.Dtype.Unknown())
		case tile.Scratch:
			arrays[i] = g.Constant(working(r.Dtype, r.Array...), r.Dtype.Unknown())
		}
	}
	if steps := int(g.program.Steps()); steps == 1 {
		arrays = g.step(g.Int(0), arrays)
	} else {
		hints := append([]string{"step"}, each.Of(refs, func(r *tile.Ref) string { return mlir.Symbol(r.Name) })...)
		arrays = g.while(hints, append([]value{g.Int(0)}, arrays...), func(v []value) value {
			return g.compare("LT", v[0], g.Int(steps))
		}, func(v []value) []value {
			after := g.step(v[0], v[1:])
			return append([]value{g.Apply("add", v[0], g.Int(1))}, after...)
		})[1:]
	}
	var out []value
	for i, r := range refs {
		if r.Kind == tile.Out {
			out = append(out, g.Slice(arrays[i], make([]int, len(r.Array)), r.Array))
		}
	}
	return out
}

// paddedShape is the shape of r's array with room for every block.
func paddedShape(r *tile.Ref) []int {
	dims := r.Blocks()
	for d := range dims {
		dims[d] = (dims[d]-1)*r.Step(d) + r.BlockSize(d)
	}
	return dims
}

// step writes one program of the grid: it slices the blocks out of the arrays,
// runs the body on them, and returns the arrays with what was written.
func (g *grid) step(step value, arrays []value) []value {
	p := g.program
	g.env = env{axes: p.Grid, ids: g.programIDs(step), refs: p.Refs, blocks: slices.Clone(arrays), starts: make([][]value, len(arrays))}
	for i, r := range p.Refs {
		if r.Kind != tile.In && r.Kind != tile.Out {
			continue
		}
		g.Pos = r.Pos
		for d, x := range r.Index {
			g.starts[i] = append(g.starts[i], g.Times(g.Index(x), r.Step(d)))
		}
		g.blocks[i] = g.Reshape(g.dynamicSlice(arrays[i], g.starts[i], r.BlockSizes()), r.Shape())
	}
	g.body(p.Body)
	after := slices.Clone(arrays)
	for i, r := range p.Refs {
		switch {
		case !tile.Writes(p.Body, r):
		case r.Kind == tile.Scratch:
			after[i] = g.blocks[i]
		default:
			after[i] = g.dynamicUpdateSlice(arrays[i], g.Reshape(g.blocks[i], r.BlockSizes()), g.starts[i])
		}
	}
	return after
}

// programIDs takes the number of a step apart, the last axis being the fastest.
func (g *grid) programIDs(step value) []value {
	axes := g.program.Grid
	ids := make([]value, len(axes))
	stride := 1 // steps before the id changes
	for d := len(axes) - 1; d >= 0; d-- {
		id := step
		if stride > 1 {
			id = g.Apply("divide", id, g.Int(stride))
		}
		if d > 0 {
			id = g.Apply("remainder", id, g.Int(axes[d].Size))
		}
		ids[d] = id
		stride *= axes[d].Size
	}
	return ids
}

// env is what the body of a program sees at one point of the grid: program ids
// and loop variables, and of each ref the block, in its working type, and the
// element at which that block starts along each dimension of the array. Of a
// table and of scratch the block is the whole, and starts are nil.
type env struct {
	axes   []*tile.Axis
	ids    []value
	refs   []*tile.Ref
	blocks []value
	starts [][]value
}

// ID is the id along an axis.
func (e env) ID(a *tile.Axis) value { return e.ids[slices.Index(e.axes, a)] }

func (e env) block(r *tile.Ref) value   { return e.blocks[slices.Index(e.refs, r)] }
func (e env) start(r *tile.Ref) []value { return e.starts[slices.Index(e.refs, r)] }
func (e env) set(r *tile.Ref, v value)  { e.blocks[slices.Index(e.refs, r)] = v }
func (e env) of(rs []*tile.Ref) []value { return each.Of(rs, e.block) }

// all lists every value, each with a name that says what it is.
func (e env) all() (hs []string, vs []value) {
	for i, a := range e.axes {
		hs, vs = append(hs, mlir.Symbol(a.Name)), append(vs, e.ids[i])
	}
	for i, r := range e.refs {
		hs, vs = append(hs, mlir.Symbol(r.Name)), append(vs, e.blocks[i])
		for _, s := range e.starts[i] {
			hs, vs = append(hs, mlir.Symbol(r.Name)+"_at"), append(vs, s)
		}
	}
	return hs, vs
}

// with returns e with the values that all lists replaced by vs.
func (e env) with(vs []value) env {
	take := func(n int) []value {
		head := slices.Clone(vs[:n])
		vs = vs[n:]
		return head
	}
	e.ids = take(len(e.ids))
	e.blocks, e.starts = slices.Clone(e.blocks), slices.Clone(e.starts)
	for i := range e.refs {
		e.blocks[i] = take(1)[0]
		e.starts[i] = take(len(e.starts[i]))
	}
	return e
}

// along returns e with a loop variable.
func (e env) along(a *tile.Axis, id value) env {
	e.axes, e.ids = append(slices.Clone(e.axes), a), append(slices.Clone(e.ids), id)
	return e
}
