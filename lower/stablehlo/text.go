package stablehlo

import (
	"fmt"
	"maps"
	"strings"

	"matladder/lower/internal/mlir"
)

// value is a name in the text with its type.
type value struct {
	name string
	tensor
}

// text is StableHLO being written: one function at a time, its values numbered
// in order. Constants are written once in a region.
type text struct {
	b      strings.Builder
	depth  int
	next   int
	consts map[string]value
}

func (t *text) line(format string, args ...any) {
	t.b.WriteString(strings.Repeat("  ", t.depth))
	fmt.Fprintf(&t.b, format, args...)
	t.b.WriteByte('\n')
}

// fresh is a new value of type typ, for the line that defines it.
func (t *text) fresh(typ tensor) value {
	t.next++
	return value{fmt.Sprintf("%%%d", t.next-1), typ}
}

// named is a new value whose name says what it is, for arguments of a region.
func (t *text) named(hint string, typ tensor) value {
	v := t.fresh(typ)
	v.name = "%" + hint + "." + v.name[1:] // no symbol has a dot
	return v
}

// define writes the line that defines a value of type typ, and returns it.
func (t *text) define(typ tensor, format string, args ...any) value {
	v := t.fresh(typ)
	t.line("%s = stablehlo."+format, append([]any{v.name}, args...)...)
	return v
}

// op is an operation whose operands and result are all of one type.
func (t *text) op(name string, args ...value) value {
	return t.define(args[0].tensor, "%s %s : %s", name, names(args), args[0].tensor)
}

// constant is x in every element of typ.
func (t *text) constant(typ tensor, x float64) value {
	key := fmt.Sprint(typ, x)
	if v, ok := t.consts[key]; ok {
		return v
	}
	v := t.define(typ, "constant dense<%s> : %s", number(typ, x), typ)
	t.consts[key] = v
	return v
}

// as converts x to another element type.
func (t *text) as(x value, elem string) value {
	if x.elem == elem {
		return x
	}
	return t.define(x.of(elem), "convert %s : (%s) -> %s", x.name, x.tensor, x.of(elem))
}

// reshape gives x other dimensions of as many elements.
func (t *text) reshape(x value, dims []int) value {
	to := tensor{x.elem, dims}
	if x.tensor.equal(to) {
		return x
	}
	return t.define(to, "reshape %s : (%s) -> %s", x.name, x.tensor, to)
}

// broadcast repeats x, its trailing dimensions aligned with those of dims.
func (t *text) broadcast(x value, dims []int) value {
	to := tensor{x.elem, dims}
	if x.tensor.equal(to) {
		return x
	}
	where := make([]int, len(x.dims))
	for i := range where {
		where[i] = len(dims) - len(x.dims) + i
	}
	return t.define(to, "broadcast_in_dim %s, dims = %s : (%s) -> %s", x.name, list(where), x.tensor, to)
}

// compare is x c y, elementwise; c is EQ, NE, LT, LE, GT or GE.
func (t *text) compare(c string, x, y value) value {
	kind := "SIGNED"
	if x.isFloat() {
		kind = "FLOAT"
	}
	to := x.of("i1")
	return t.define(to, "compare %s, %s, %s, %s : (%s, %s) -> %s", c, x.name, y.name, kind, x.tensor, y.tensor, to)
}

// choose is x where cond holds, else y.
func (t *text) choose(cond, x, y value) value {
	return t.define(x.tensor, "select %s, %s, %s : %s, %s", cond.name, x.name, y.name, cond.tensor, x.tensor)
}

// iota counts along dimension dim.
func (t *text) iota(dim int, dims []int) value {
	typ := tensor{"i32", dims}
	return t.define(typ, "iota dim = %d : %s", dim, typ)
}

// dynamicSlice takes sizes elements of x from at on.
func (t *text) dynamicSlice(x value, at []value, sizes []int) value {
	to := tensor{x.elem, sizes}
	args := append([]value{x}, at...)
	return t.define(to, "dynamic_slice %s, sizes = %s : (%s) -> %s", names(args), list(sizes), types(args), to)
}

// dynamicUpdateSlice is x with the elements from at on replaced by part.
func (t *text) dynamicUpdateSlice(x, part value, at []value) value {
	args := append([]value{x, part}, at...)
	return t.define(x.tensor, "dynamic_update_slice %s : (%s) -> %s", names(args), types(args), x.tensor)
}

// pad appends elements of value fill to x until it has dims.
func (t *text) pad(x value, fill float64, dims []int) value {
	to := tensor{x.elem, dims}
	if x.tensor.equal(to) {
		return x
	}
	none, high := make([]int, len(dims)), make([]int, len(dims))
	for i := range dims {
		high[i] = dims[i] - x.dims[i]
	}
	with := t.constant(tensor{elem: x.elem}, fill)
	return t.define(to, "pad %s, %s, low = %s, high = %s, interior = %s : (%s, %s) -> %s",
		x.name, with.name, list(none), list(high), list(none), x.tensor, with.tensor, to)
}

// cut takes the first dims elements of x along each dimension.
func (t *text) cut(x value, dims []int) value {
	to := tensor{x.elem, dims}
	if x.tensor.equal(to) {
		return x
	}
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = fmt.Sprintf("0:%d", d)
	}
	return t.define(to, "slice %s [%s] : (%s) -> %s", x.name, strings.Join(parts, ", "), x.tensor, to)
}

// region writes body one step further in, as a region that may use the values
// around it.
func (t *text) region(body func()) {
	outer := t.consts
	t.consts = maps.Clone(outer)
	t.depth++
	body()
	t.depth--
	t.consts = outer
}

// while repeats body while cond holds. Neither may use values from around it:
// what they need is carried. Body returns what is carried to the next round.
func (t *text) while(hints []string, carried []value, cond func([]value) value, body func([]value) []value) []value {
	outer := t.consts
	args := make([]value, len(carried))
	inits := make([]string, len(carried))
	for i, v := range carried {
		args[i] = t.named(hints[i], v.tensor)
		inits[i] = args[i].name + " = " + v.name
	}
	result := t.fresh(tensor{})
	t.line("%s:%d = stablehlo.while(%s) : %s", result.name, len(carried), strings.Join(inits, ", "), types(carried))
	t.consts = map[string]value{}
	t.line(" cond {")
	t.region(func() {
		c := cond(args)
		t.line("stablehlo.return %s : %s", c.name, c.tensor)
	})
	t.line("} do {")
	t.region(func() {
		next := body(args)
		t.line("stablehlo.return %s : %s", names(next), types(next))
	})
	t.line("}")
	t.consts = outer
	return results(result.name, carried)
}

// branch returns what then returns if cond holds, else otherwise.
func (t *text) branch(cond value, then func() []value, otherwise []value) []value {
	result := t.fresh(tensor{})
	t.line(`%s:%d = "stablehlo.if"(%s) ({`, result.name, len(otherwise), cond.name)
	t.region(func() {
		vs := then()
		t.line("stablehlo.return %s : %s", names(vs), types(vs))
	})
	t.line("}, {")
	t.region(func() { t.line("stablehlo.return %s : %s", names(otherwise), types(otherwise)) })
	t.line("}) : (%s) -> (%s)", cond.tensor, types(otherwise))
	return results(result.name, otherwise)
}

// barrier returns args in such a way that a compiler may move nothing that needs
// one of the results before anything that makes one of args.
func (t *text) barrier(args ...value) []value {
	result := t.fresh(tensor{})
	t.line("%s:%d = stablehlo.optimization_barrier %s : %s", result.name, len(args), names(args), types(args))
	return results(result.name, args)
}

// call calls function name.
func (t *text) call(name string, args []value, out []tensor) []value {
	result := t.fresh(tensor{})
	vs := make([]value, len(out))
	for i, typ := range out {
		vs[i] = value{tensor: typ}
	}
	t.line("%s:%d = func.call @%s(%s) : (%s) -> (%s)", result.name, len(out), name, names(args), types(args), types(vs))
	return results(result.name, vs)
}

// function writes a whole function; body returns its results, of types out.
func (t *text) function(visibility, name string, args []value, out []tensor, body func() []value) {
	params := make([]string, len(args))
	for i, v := range args {
		params[i] = fmt.Sprintf("%s: %s", v.name, v.tensor)
	}
	vs := make([]value, len(out))
	for i, typ := range out {
		vs[i] = value{tensor: typ}
	}
	t.consts = map[string]value{}
	t.line("func.func %s @%s(%s) -> (%s) {", visibility, name, strings.Join(params, ", "), types(vs))
	t.depth++
	got := body()
	t.line("return %s : %s", names(got), types(got))
	t.depth--
	t.line("}")
}

// results names the parts of an operation with several results.
func results(name string, like []value) []value {
	vs := make([]value, len(like))
	for i, v := range like {
		vs[i] = value{fmt.Sprintf("%s#%d", name, i), v.tensor}
	}
	return vs
}

func names(vs []value) string { return mlir.List(vs, func(v value) string { return v.name }) }

func types(vs []value) string {
	return mlir.List(vs, func(v value) string { return v.tensor.String() })
}

// list is [1, 2].
func list(xs []int) string {
	return "[" + strings.ReplaceAll(strings.Trim(fmt.Sprint(xs), "[]"), " ", ", ") + "]"
}
