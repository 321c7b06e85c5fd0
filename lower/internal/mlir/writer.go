// Package mlir writes MLIR text: all that this project prints.
//
// A Writer knows values, types, constants, regions, index expressions and conditions; a
// Dialect how one spells an operation. Exprs writes with them what the statements of kernels
// compute, and asks its Target for what the kernel's language has of its own. StableHLO
// writes programs of whole arrays, among them those around kernels.
package mlir

import (
	"fmt"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// Value is a value of the text. A number that is known while the text is written has no name
// until it is used, since the use decides its type and shape.
type Value struct {
	Name string
	Type
	Level int // of the region that defines it: 0 is the function's body

	number *float64
}

// Number is a known scalar.
func Number(elem string, x float64) Value { return Value{Type: Type{Elem: elem}, number: &x} }

// Boolean is a known i1.
func Boolean(x bool) Value {
	if x {
		return Number("i1", 1)
	}
	return Number("i1", 0)
}

// Known is what a value is known to be.
func (v Value) Known() (x float64, known bool) {
	if v.number == nil {
		return 0, false
	}
	return *v.number, true
}

// Int is the integer that a value is known to be.
func (v Value) Int() (n int, known bool) {
	x, known := v.Known()
	return int(x), known
}

// Is reports whether a value is known to be x.
func (v Value) Is(x float64) bool { return v.number != nil && *v.number == x }

// Names are the names of values.
func Names(vs []Value) string { return List(vs, func(v Value) string { return v.Name }) }

// Sharing says which operations are written once where several ask for the same: constants
// always, indices and what else Pure writes as it says.
type Sharing int

const (
	Apart    Sharing = iota // each is written, and numbers are constants at once
	InRegion                // in a region, and those inside of it
	Hoisted                 // in the outermost region that knows their operands: outside of loops
)

// Dialect is what a Writer has to know of the text.
type Dialect interface {
	// Spell is an operation with a result of a type, of no type without one. The attributes
	// of arith.constant are its value, those of comparisons as arith calls them.
	Spell(to Type, op, attrs string, args []Value) string
}

// Scope is what a Writer has to know of a program for its index expressions.
type Scope interface {
	// ID is the id along an axis.
	ID(a *tile.Axis) Value
	// Element is an element of a table.
	Element(table *tile.Ref, at Value) Value
}

// Writer writes the text of functions: their values are numbered in order.
type Writer struct {
	Dialect Dialect
	Scope   Scope
	Sharing Sharing
	Refused
	Next int // the number of the next value

	regions []*region // that are open, the innermost last
	taken   map[string]bool
}

// region is a region with what is known in it, by what made it.
type region struct {
	strings.Builder
	known map[string]Value
}

// Region is the text of what body writes, one step further in.
func (w *Writer) Region(body func()) string {
	w.regions = append(w.regions, &region{known: map[string]Value{}})
	body()
	last := w.regions[w.Level()]
	w.regions = w.regions[:w.Level()]
	return last.String()
}

// Function is the text of what body writes as the body of a function.
func (w *Writer) Function(body func()) string {
	outer := w.regions
	w.regions = nil
	text := w.Region(body)
	w.regions = outer
	return text
}

// Isolated is a region in which nothing is known of what is around it.
func (w *Writer) Isolated(body func()) string {
	outer := w.regions
	w.regions = each.Of(outer, func(*region) *region { return &region{known: map[string]Value{}} })
	text := w.Region(body)
	w.regions = outer
	return text
}

// Level is that of the innermost region.
func (w *Writer) Level() int { return len(w.regions) - 1 }

// Line writes a line.
func (w *Writer) Line(format string, args ...any) { w.lineAt(w.Level(), format, args...) }

func (w *Writer) lineAt(level int, format string, args ...any) {
	r := w.regions[level]
	r.WriteString(strings.Repeat("  ", level+2))
	fmt.Fprintf(r, format, args...)
	r.WriteByte('\n')
}

// Append writes text that Region returned.
func (w *Writer) Append(text string) { w.regions[w.Level()].WriteString(text) }

// Fresh is a new value, for the line that defines it.
func (w *Writer) Fresh(to Type) Value {
	w.Next++
	return Value{Name: fmt.Sprintf("%%%d", w.Next-1), Type: to, Level: w.Level()}
}

// Unique is a name for a value that no other has.
func (w *Writer) Unique(name string) string {
	if w.taken == nil {
		w.taken = map[string]bool{}
	}
	name = Symbol(name)
	for w.taken[name] {
		name += "_"
	}
	w.taken[name] = true
	return "%" + name
}

// spell spells an operation, whose operands it first writes where they are numbers.
func (w *Writer) spell(to Type, op, attrs string, args []Value) (text string, level int) {
	written := make([]Value, len(args))
	for i, v := range args {
		written[i] = w.Written(v)
		level = max(level, v.Level)
	}
	return w.Dialect.Spell(to, op, attrs, written), level
}

// Written is v as a value with a name.
func (w *Writer) Written(v Value) Value {
	if x, known := v.Known(); known {
		return w.Constant(v.Type, x)
	}
	return v
}

// Op writes an operation with one result.
func (w *Writer) Op(to Type, op, attrs string, args ...Value) Value {
	text, _ := w.spell(to, op, attrs, args)
	return w.define(w.Level(), to, text)
}

func (w *Writer) define(level int, to Type, text string) Value {
	v := w.Fresh(to)
	v.Level = level
	w.lineAt(level, "%s = %s", v.Name, text)
	return v
}

// Do writes an operation without a result.
func (w *Writer) Do(op, attrs string, args ...Value) {
	text, _ := w.spell(Type{}, op, attrs, args)
	w.Line("%s", text)
}

// Once is Op unless a region around here has the same already. What costs little
// where it turns out not to be needed may be Pure.
func (w *Writer) Once(to Type, op, attrs string, args ...Value) Value {
	text, _ := w.spell(to, op, attrs, args)
	for _, r := range w.regions {
		if v, ok := r.known[text]; ok {
			return Value{Name: v.Name, Type: to, Level: v.Level}
		}
	}
	v := w.define(w.Level(), to, text)
	w.regions[w.Level()].known[text] = v
	return v
}

// Pure is Op for the arithmetic of indices, addresses and masks.
func (w *Writer) Pure(to Type, op, attrs string, args ...Value) Value {
	switch w.Sharing {
	case Apart:
		return w.Op(to, op, attrs, args...)
	case InRegion:
		return w.Once(to, op, attrs, args...)
	}
	text, level := w.spell(to, op, attrs, args)
	known := w.regions[level].known
	if v, ok := known[text]; ok {
		return v
	}
	v := w.define(level, to, text)
	known[text] = v
	return v
}

// Constant is x in every element of a type.
func (w *Writer) Constant(to Type, x float64) Value {
	if !spells(to.Elem, x) {
		return w.Pure(to, "arith.truncf", "", w.Constant(to.Of("f32"), x))
	}
	text := literal(to.Elem, x)
	if to.Dims != nil {
		text = "dense<" + text + ">"
	}
	if w.Sharing == Apart {
		return w.Once(to, "arith.constant", text)
	}
	return w.Pure(to, "arith.constant", text)
}

// Int is a known i32.
func (w *Writer) Int(n int) Value {
	if int(int32(n)) != n {
		w.Refuse("index", "", fmt.Sprintf("%d does not fit 32 bits", n))
		n = 0
	}
	return w.known(Number("i32", float64(n)))
}

func (w *Writer) known(v Value) Value {
	if w.Sharing == Apart {
		return w.Written(v)
	}
	return v
}

// Results are the values of an operation with several results, or one, or none, and how its
// line begins.
func (w *Writer) Results(types []Type) (line string, vs []Value) {
	switch len(types) {
	case 0:
		return "", nil
	case 1:
		v := w.Fresh(types[0])
		return v.Name + " = ", []Value{v}
	}
	return w.Parts(types)
}

// Parts is Results for an operation each of whose results has a number.
func (w *Writer) Parts(types []Type) (line string, vs []Value) {
	name := w.Fresh(Type{}).Name
	vs = each.Upto(len(types), func(i int) Value {
		return Value{Name: fmt.Sprintf("%s#%d", name, i), Type: types[i], Level: w.Level()}
	})
	return fmt.Sprintf("%s:%d = ", name, len(vs)), vs
}

// TypesOf are the types of values.
func TypesOf(vs []Value) []Type { return each.Of(vs, func(v Value) Type { return v.Type }) }

// UnsupportedError is the answer of a lowering to what has no text, or none that a compiler takes.
type UnsupportedError struct {
	Maker   string   // the lowering
	Pos     tile.Pos // of the kernel's statement; zero where no kernel is concerned
	Program string
	Op      string // the operation, or "block" of a ref
	Ref     string // "" where no ref is concerned
	Reason  string
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("%s: %s: %s", e.Maker, e.Program, e.Op)
	if e.Pos.File != "" {
		s = fmt.Sprintf("%s: %s", e.Pos, s)
	}
	if e.Ref != "" {
		s += " of " + e.Ref
	}
	return s + ": " + e.Reason
}

// TooBigError is the answer of a lowering to a program that needs more bytes of a memory, What,
// than the limit.
type TooBigError struct {
	Program, What string
	Needed, Limit int64
	Text          string
}

func (e *TooBigError) Error() string { return e.Text }

// Refused is what is being written, and the first thing that has no text.
type Refused struct {
	Maker, Program string
	Pos            tile.Pos // of what is being written
	Err            error    // an *UnsupportedError
}

// Refuse remembers the first thing that has no text; ref is "" where no ref is concerned.
func (r *Refused) Refuse(op, ref, reason string) {
	if r.Err == nil {
		r.Err = &UnsupportedError{r.Maker, r.Pos, r.Program, op, ref, reason}
	}
}
