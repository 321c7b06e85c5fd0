package mosaic

import (
	"fmt"
	"maps"
	"strings"

	"matladder/lower/internal/mlir"
)

// prefix marks an operation of the serialized, versioned dialects.
const prefix = "stable_mosaic."

// version is that of the dialects: below 13, where matmul takes a hint that
// older compilers do not know, and above 6, where iota got its present form.
const version = 11

// value is a name in the text with its type. A constant has a number and no
// name until it is used, since the use decides its type and shape.
type value struct {
	name string
	shaped
	number *float64
}

// text is Mosaic being written: one function, its values numbered in order.
// What is known from before in a region need not be written again in it.
type text struct {
	b     strings.Builder
	depth int
	next  int
	known map[string]value // constants and conversions, by what made them
}

func (t *text) line(format string, args ...any) {
	t.b.WriteString(strings.Repeat("  ", t.depth))
	fmt.Fprintf(&t.b, format, args...)
	t.b.WriteByte('\n')
}

// op writes an operation with one result.
func (t *text) op(to shaped, name, attrs string, args ...value) value {
	v := value{name: fmt.Sprintf("%%%d", t.next), shaped: to}
	t.next++
	t.line("%s = %s", v.name, operation(name, attrs, types(args), to.String(), args...))
	return v
}

// do writes an operation without a result; types are those of its operands.
func (t *text) do(name, attrs, types string, args ...value) {
	t.line("%s", operation(name, attrs, types, "()", args...))
}

func operation(name, attrs, from, to string, args ...value) string {
	if attrs != "" {
		attrs = " {" + attrs + "}"
	}
	return fmt.Sprintf("%q(%s)%s : (%s) -> %s", prefix+name, names(args), attrs, from, to)
}

// once writes what make writes unless the same is known here already.
func (t *text) once(key string, make func() value) value {
	if v, ok := t.known[key]; ok {
		return v
	}
	v := make()
	t.known[key] = v
	return v
}

// constant is x in every element of a type.
func (t *text) constant(to shaped, x float64) value {
	text := mlir.Number(to.elem, x)
	if to.dims != nil {
		text = "dense<" + text + ">"
	}
	attr := fmt.Sprintf("value = %s : %s", text, to)
	if to.String() == "i1" { // whose spellings have no type
		attr = "value = " + text
	}
	return t.once("constant "+text+to.String(), func() value {
		return t.op(to, "arith.constant", attr)
	})
}

// i32 is a scalar constant.
func (t *text) i32(n int) value { return t.constant(shaped{elem: "i32"}, float64(n)) }

// region writes a region that may use all that is known around it.
func (t *text) region(body func()) {
	outer := t.known
	t.known = maps.Clone(outer)
	t.depth++
	body()
	t.do("scf.yield", "", "")
	t.depth--
	t.known = outer
}

// branch writes then where cond holds, otherwise where not; either may be nil.
func (t *text) branch(cond value, then, otherwise func()) {
	t.line("%q(%s) ({", prefix+"scf.if", cond.name)
	for i, body := range []func(){then, otherwise} {
		if i > 0 {
			t.line("}, {")
		}
		t.region(func() {
			if body != nil {
				body()
			}
		})
	}
	t.line("}) : (i1) -> ()")
}

// repeat writes a loop over 0 … n-1.
func (t *text) repeat(variable string, n int, body func(i value)) {
	lo, hi, step := t.i32(0), t.i32(n), t.i32(1)
	i := value{name: variable, shaped: shaped{elem: "i32"}}
	t.line("%q(%s) ({", prefix+"scf.for", names([]value{lo, hi, step}))
	t.line("^bb0(%s: i32):", i.name)
	t.region(func() { body(i) })
	t.line("}) : (i32, i32, i32) -> ()")
}

func names(vs []value) string { return mlir.List(vs, func(v value) string { return v.name }) }

func types(vs []value) string {
	return mlir.List(vs, func(v value) string { return v.shaped.String() })
}
