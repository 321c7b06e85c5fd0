package stablehlo

import (
	"fmt"
	"math"
	"slices"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/problem"
)

// stored is the type of an array that a plugin is given, or gives back.
func stored(o problem.Operand) tensor { return mlir.Array(o.Dtype, o.Shape...) }

// Launch is what one launch computes: a function of arrays, as text. In and Out
// are the order of its arguments and results.
type Launch struct {
	Name    string
	In, Out []problem.Operand
	text    string // functions, @launch among them
	head    string // of a Foreign program: what stands ahead of its functions
	whole   string // of one that runs as it is
}

// NewLaunch returns a launch made of functions, written as text: one of them,
// private and named @launch, takes in and returns out.
func NewLaunch(name string, in, out []problem.Operand, functions string) *Launch {
	return &Launch{Name: name, In: in, Out: out, text: functions}
}

// Once returns a module whose @main takes In and returns Out.
func (l *Launch) Once() string {
	if l.whole != "" {
		return l.whole
	}
	t := newText()
	args := l.arguments(l.In, "")
	main := t.Function("public", "main", args, storedTypes(l.Out), func() []value {
		return t.call("launch", args, storedTypes(l.Out))
	})
	return l.module(main)
}

// Chain returns a module that launches once, for launches that are started one
// after another without waiting: its @main takes an int32 of rank 0 before In and
// returns it before Out. Given what the launch before returned, a launch starts
// only when that has ended, whatever the device would run at the same time.
func (l *Launch) Chain() string {
	t := newText()
	link := value{Name: "%link", Type: tensor{Elem: "i32"}}
	args := append([]value{link}, l.arguments(l.In, "")...)
	out := append([]tensor{link.Type}, storedTypes(l.Out)...)
	main := t.Function("public", "main", args, out, func() []value {
		return t.held(args, storedTypes(l.Out))
	})
	return l.module(main)
}

// held launches between two barriers, through which a link goes beside the operands and then the
// results: nothing that needs the link behind them is done ahead of the launch.
func (t *text) held(linked []value, out []tensor) []value {
	before := t.barrier(linked...)
	made := t.call("launch", before[1:], out)
	return t.barrier(append([]value{before[0]}, made...)...)
}

// Loop returns a module whose @main takes a number n of launches, an int32 of rank 0, and the arrays
// In; it returns Out, zeros if n < 1. The launches run one after another. The slope of its time over
// n is the time of a launch on the device, the intercept that of starting a program.
//
// A small operand may come to stay in fast memory from launch to launch. The compiled program
// tells which (layouts with S(1) on a TPU, whose compiler leaves all of them in HBM if told so:
// see package backend/xla/pjrt).
//
// The chain of barriers runs from a launch's results through the counter to the next launch's
// operands: without it a compiler sees that every round computes the same and moves the launch
// out of the loop. Every result is an output, since a launch whose result is overwritten unseen
// would be removed. The operands themselves are carried unchanged, which costs no copy of them.
func (l *Launch) Loop() string {
	t := newText()
	n := value{Name: "%n", Type: tensor{Elem: "i32"}}
	in, out := l.arguments(l.In, ""), storedTypes(l.Out)
	main := t.Function("public", "main", append([]value{n}, in...), out, func() []value {
		hints := append([]string{"n", "round"}, each.Of(in, func(v value) string { return v.Name[1:] })...)
		carried := append([]value{n, t.Int(0)}, in...)
		for _, a := range l.Out {
			hints = append(hints, mlir.Symbol(a.Name))
			carried = append(carried, t.Constant(stored(a), 0))
		}
		after := t.while(hints, carried, func(v []value) value {
			return t.compare("LT", v[1], v[0])
		}, func(v []value) []value {
			done := t.held(append([]value{v[1]}, v[2:2+len(in)]...), out)
			next := append([]value{v[0], t.Apply("add", done[0], t.Int(1))}, v[2:2+len(in)]...)
			return append(next, done[1:]...)
		})
		return after[2+len(in):]
	})
	return l.module(main)
}

// LoopTogether is Loop for a device that waits for its host after each round of a loop whose end
// only the device knows, as a GPU does: @main makes n launches, which take the sets in turn. A
// round is a loop of a known number of times through all sets, together launches about; what is
// left of n has rounds of one launch for each set, and then of half as many, each set in one of
// them: sets is a power of two. A set that no launch took gives zeros.
//
// A loop's own counter goes past the barriers, so that a compiler sees how often the
// inner one runs; a link, which goes through them, keeps the launches in it. XLA for
// GPUs takes barriers away early: of several launches of one set in one body, which would
// save counting, it leaves one. Launches of different sets stay.
func (l *Launch) LoopTogether(together, sets int) string {
	t := newText()
	n := value{Name: "%n", Type: tensor{Elem: "i32"}}
	hints := []string{"limit", "round", "link"}
	var in []value
	for s := range sets {
		in = append(in, l.arguments(l.In, suffix(s, sets))...)
	}
	args := append([]value{n}, in...)
	hints = append(hints, each.Of(in, func(v value) string { return v.Name[1:] })...)
	for s := range sets {
		for _, a := range l.Out {
			hints = append(hints, mlir.Symbol(a.Name)+suffix(s, sets))
		}
	}
	out := slices.Repeat(storedTypes(l.Out), sets)
	type inside func(link value, out []value) (value, []value)
	// loop makes rounds of what is inside.
	loop := func(limit, link value, out []value, inside inside) (value, []value) {
		carried := append(append([]value{limit, t.Int(0), link}, in...), out...)
		after := t.while(hints, carried, func(v []value) value {
			return t.compare("LT", v[1], v[0])
		}, func(v []value) []value {
			link, made := v[2], v[3+len(in):]
			in = v[3 : 3+len(in)]
			link, made = inside(link, made)
			return append(append([]value{v[0], t.Apply("add", v[1], t.Int(1)), link}, v[3:3+len(in)]...), made...)
		})
		in = after[3 : 3+len(in)]
		return after[2], after[3+len(in):]
	}
	// once launches once for each of some sets.
	once := func(first, count int) inside {
		return func(link value, out []value) (value, []value) {
			out = slices.Clone(out)
			for s := first; s < first+count; s++ {
				done := t.held(append([]value{link}, in[s*len(l.In):][:len(l.In)]...), storedTypes(l.Out))
				link = done[0]
				copy(out[s*len(l.Out):], done[1:])
			}
			return link, out
		}
	}
	main := t.Function("public", "main", args, out, func() []value {
		made := each.Of(out, func(typ tensor) value { return t.Constant(typ, 0) })
		times := max(1, together/sets)
		link, left := t.Int(0), t.Apply("remainder", n, t.Int(times*sets))
		link, made = loop(t.Apply("divide", n, t.Int(times*sets)), link, made, func(link value, out []value) (value, []value) {
			return loop(t.Int(times), link, out, once(0, sets))
		})
		link, made = loop(t.Apply("divide", left, t.Int(sets)), link, made, once(0, sets))
		for count := sets / 2; count > 0; count /= 2 {
			link, made = loop(t.Apply("remainder", t.Apply("divide", left, t.Int(count)), t.Int(2)), link, made, once(sets-2*count, count))
		}
		return made
	})
	return l.module(main)
}

// Poison returns a module whose @main takes nothing and returns sets times what is as Out,
// of NaN, or of integers with all bits set: no product is that.
func (l *Launch) Poison(sets int) string {
	t := newText()
	out := slices.Repeat(storedTypes(l.Out), sets)
	main := t.Function("public", "main", nil, out, func() (made []value) {
		for _, o := range out {
			wide, x := o, -1.0
			if o.IsFloat() {
				wide, x = tensor{Elem: "f32", Dims: o.Dims}, math.NaN()
			} else if o.Elem[0] == 'u' {
				x = 255
			}
			made = append(made, t.As(t.Constant(wide, x), o.Elem))
		}
		return made
	})
	return (&Launch{Name: "poison"}).module(main)
}

// Took reports whether the last of n launches of LoopTogether left a set what a launch gives.
func Took(set, n, sets int) bool {
	if n >= sets {
		return true
	}
	count := sets / 2
	for count > 0 && set >= sets-count { // the sets of a smaller round
		count /= 2
	}
	return count > 0 && n&count != 0
}

// suffix tells the arrays of several sets apart.
func suffix(s, sets int) string {
	if sets == 1 {
		return ""
	}
	return fmt.Sprintf(".set%d", s)
}

// arguments are the parameters of a function that takes arrays.
func (l *Launch) arguments(arrays []problem.Operand, suffix string) []value {
	vs := make([]value, len(arrays))
	taken := map[string]bool{}
	for i, a := range arrays {
		name := mlir.Symbol(a.Name)
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		vs[i] = value{Name: "%" + name + suffix, Type: stored(a)}
	}
	return vs
}

func (l *Launch) module(main string) string {
	if l.head != "" {
		return l.head + main + l.text
	}
	return mlir.Module(l.Name, main+l.text)
}

func storedTypes(arrays []problem.Operand) []tensor { return each.Of(arrays, stored) }
