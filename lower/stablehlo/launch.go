package stablehlo

import (
	"fmt"

	"matladder/tile"
)

// Array is what a plugin is given, or gives back.
type Array struct {
	Name  string
	Dtype tile.Dtype
	Shape []int
}

func (a Array) stored() tensor { return stored(a.Dtype, a.Shape...) }

// Launch is what one launch computes: a function of arrays, as text. In and Out
// are the order of its arguments and results.
type Launch struct {
	Name    string
	In, Out []Array
	text    string // functions, @launch among them
}

// NewLaunch returns a launch made of functions, written as text: one of them,
// private and named @launch, takes in and returns out.
func NewLaunch(name string, in, out []Array, functions string) *Launch {
	return &Launch{Name: name, In: in, Out: out, text: functions}
}

// Once returns a module whose @main takes In and returns Out.
func (l *Launch) Once() string {
	t := &text{depth: 1}
	args := l.arguments(t, l.In, "")
	t.function("public", "main", args, storedTypes(l.Out), func() []value {
		return t.call("launch", args, storedTypes(l.Out))
	})
	return l.module(t)
}

// Loop returns a module whose @main takes a number n of rounds, an int32 of rank
// 0, and sets times the arrays In, one set after another. A round launches once
// for each set, so n·sets launches run, one after another; @main returns Out of
// the last of them, zeros if n < 1. The slope of its time over n is the time of
// sets launches on the device, the intercept that of starting a program.
//
// With one set, a small operand may come to stay in fast memory from launch to
// launch. Several sets, larger together than that memory, must be read anew.
//
// The chain of barriers runs from a launch's results through the counter to the
// next launch's operands: without it a compiler sees that every round computes
// the same and moves the launch out of the loop. The operands themselves are
// carried unchanged, which costs no copy of them.
func (l *Launch) Loop(sets int) string {
	t := &text{depth: 1}
	n := value{"%n", tensor{elem: "i32"}}
	carried := []value{n, n}
	hints := []string{"n", "round"}
	args := []value{n}
	for s := range sets {
		suffix := ""
		if sets > 1 {
			suffix = fmt.Sprint("_", s)
		}
		for _, v := range l.arguments(t, l.In, suffix) {
			args, carried = append(args, v), append(carried, v)
			hints = append(hints, v.name[1:])
		}
	}
	t.function("public", "main", args, storedTypes(l.Out), func() []value {
		carried[1] = t.scalar(0)
		for _, a := range l.Out {
			carried = append(carried, t.constant(a.stored(), 0))
			hints = append(hints, argumentName(a.Name))
		}
		after := t.while(hints, carried, func(v []value) value {
			return t.compare("LT", v[1], v[0])
		}, func(v []value) []value {
			next := append([]value(nil), v...)
			out := next[len(v)-len(l.Out):]
			round := v[1]
			for s := range sets {
				operands := v[2+s*len(l.In):][:len(l.In)]
				held := t.barrier(append([]value{round}, operands...)...)
				copy(out, t.call("launch", held[1:], storedTypes(l.Out)))
				round = held[0]
				if s == sets-1 {
					round = t.op("add", round, t.scalar(1))
				}
				done := t.barrier(append([]value{round}, out...)...)
				round = done[0]
				copy(out, done[1:])
			}
			next[1] = round
			return next
		})
		return after[len(after)-len(l.Out):]
	})
	return l.module(t)
}

// arguments are the parameters of a function that takes arrays.
func (l *Launch) arguments(t *text, arrays []Array, suffix string) []value {
	vs := make([]value, len(arrays))
	for i, a := range arrays {
		vs[i] = value{"%" + argumentName(a.Name) + suffix, a.stored()}
	}
	return vs
}

func (l *Launch) module(main *text) string {
	return fmt.Sprintf("module @%s {\n%s%s}\n", symbol(l.Name), main.b.String(), l.text)
}

func storedTypes(arrays []Array) []tensor {
	ts := make([]tensor, len(arrays))
	for i, a := range arrays {
		ts[i] = a.stored()
	}
	return ts
}

// symbol turns a name into one that a module or function may have.
func symbol(name string) string {
	s := []byte(name)
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			s[i] = '_'
		}
	}
	if len(s) == 0 {
		return "_"
	}
	return string(s)
}

// argumentName is symbol with an end that no numbered value has.
func argumentName(name string) string { return symbol(name) }
