package stablehlo

import (
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

const maker = "stablehlo"

// UnsupportedError is the answer to a program or problem that has no StableHLO.
type UnsupportedError = mlir.UnsupportedError

func unsupported(pos tile.Pos, program, op, ref, reason string) error {
	return &UnsupportedError{Maker: maker, Pos: pos, Program: program, Op: op, Ref: ref, Reason: reason}
}

// refused is that of a problem.
func refused(p fmt.Stringer, op, reason string) error {
	return unsupported(tile.Pos{}, "xla "+p.String(), op, "", reason)
}

// value is a name in the text, tensor its type.
type (
	value  = mlir.Value
	tensor = mlir.Type
)

// text is StableHLO being written: one function at a time, its values numbered
// in order. Constants are written once in a region.
type text struct{ *mlir.StableHLO }

func newText() *text { return &text{mlir.NewStableHLO()} }

// storage is how elements of d are spelled.
func storage(d tile.Dtype) string {
	if d == tile.Uint8 {
		return mlir.Array(d).Elem
	}
	return mlir.Stored[d]
}

// numbers is x, of d, as numbers where an array has their codes.
func (t *text) numbers(x value, d tile.Dtype) value { return t.bits(x, storage(d)) }

func (t *text) bits(x value, elem string) value {
	if x.Elem == elem {
		return x
	}
	return t.Op(x.Of(elem), "bitcast_convert", "", x)
}

// working is the type in which Interpret computes on d: f32 for all floats and i32 for all
// integers, whose values are those of d after rounded has been at them. No plugin has to know
// arithmetic in a narrower type, and none can keep more precision than the program asks for.
func working(d tile.Dtype, dims ...int) tensor { return tensor{Elem: mlir.Working(d), Dims: dims} }

// countable reports whether x is a value of i32, the type of all indices.
func countable(x int) bool { return int(int32(x)) == x }

// named is a new value whose name says what it is, for arguments of a region.
func (t *text) named(hint string, typ tensor) value {
	v := t.Fresh(typ)
	v.Name = "%" + hint + "." + v.Name[1:] // no symbol has a dot
	return v
}

// broadcast repeats x, its trailing dimensions aligned with those of dims.
func (t *text) broadcast(x value, dims []int) value {
	to := tensor{Elem: x.Elem, Dims: dims}
	if x.Equal(to) {
		return x
	}
	where := each.Upto(len(x.Dims), func(i int) int { return len(dims) - len(x.Dims) + i })
	return t.Op(to, "broadcast_in_dim", "dims = "+list(where), x)
}

// compare is x c y, elementwise; c is EQ, NE, LT, LE, GT or GE.
func (t *text) compare(c string, x, y value) value { return t.Op(x.Of("i1"), "compare", c, x, y) }

// choose is x where cond holds, else y.
func (t *text) choose(cond, x, y value) value { return t.Op(x.Type, "select", "", cond, x, y) }

// iota counts along dimension dim.
func (t *text) iota(dim int, dims []int) value {
	return t.Op(tensor{Elem: "i32", Dims: dims}, "iota", fmt.Sprintf("dim = %d", dim))
}

// transpose puts the dimensions of x in another order.
func (t *text) transpose(x value, order ...int) value {
	to := tensor{Elem: x.Elem, Dims: each.Of(order, func(d int) int { return x.Dims[d] })}
	return t.Op(to, "transpose", "dims = "+list(order), x)
}

// join puts values one behind the other along dim.
func (t *text) join(dim int, vs ...value) value {
	to := tensor{Elem: vs[0].Elem, Dims: append([]int(nil), vs[0].Dims...)}
	for _, v := range vs[1:] {
		to.Dims[dim] += v.Dims[dim]
	}
	return t.Op(to, "concatenate", fmt.Sprintf("dim = %d", dim), vs...)
}

// clamp is x between two numbers.
func (t *text) clamp(lo float64, x value, hi float64) value {
	return t.Op(x.Type, "clamp", "", t.Constant(x.Type, lo), x, t.Constant(x.Type, hi))
}

// reduce folds dimensions of x; the result has the others, or dims if given.
func (t *text) reduce(op string, x value, first float64, across, dims []int) value {
	to := tensor{Elem: x.Elem}
	for d, n := range x.Dims {
		if !slices.Contains(across, d) {
			to.Dims = append(to.Dims, n)
		}
	}
	v := t.Op(to, "reduce", fmt.Sprintf("stablehlo.%s across dimensions = %s", op, list(across)), x, t.Constant(tensor{Elem: x.Elem}, first))
	if dims == nil {
		return v
	}
	return t.Reshape(v, dims)
}

// dynamicSlice takes sizes elements of x from at on.
func (t *text) dynamicSlice(x value, at []value, sizes []int) value {
	return t.Op(tensor{Elem: x.Elem, Dims: sizes}, "dynamic_slice", "sizes = "+list(sizes), append([]value{x}, at...)...)
}

// dynamicUpdateSlice is x with the elements from at on replaced by part.
func (t *text) dynamicUpdateSlice(x, part value, at []value) value {
	return t.Op(x.Type, "dynamic_update_slice", "", append([]value{x, part}, at...)...)
}

func (t *text) returns(vs ...value) { t.Line("stablehlo.return %s : %s", mlir.Names(vs), types(vs)) }

// while repeats body while cond holds. Neither may use values from around it:
// what they need is carried. Body returns what is carried to the next round.
func (t *text) while(hints []string, carried []value, cond func([]value) value, body func([]value) []value) []value {
	args := make([]value, len(carried))
	inits := make([]string, len(carried))
	for i, v := range carried {
		args[i] = t.named(hints[i], v.Type)
		inits[i] = args[i].Name + " = " + v.Name
	}
	line, results := t.Parts(mlir.TypesOf(carried))
	t.Line("%sstablehlo.while(%s) : %s", line, strings.Join(inits, ", "), types(carried))
	t.Line(" cond {")
	t.Append(t.Isolated(func() { t.returns(cond(args)) }))
	t.Line("} do {")
	t.Append(t.Isolated(func() { t.returns(body(args)...) }))
	t.Line("}")
	return results
}

// branch returns what then returns if cond holds, else otherwise.
func (t *text) branch(cond value, then func() []value, otherwise []value) []value {
	line, results := t.Parts(mlir.TypesOf(otherwise))
	t.Line(`%s"stablehlo.if"(%s) ({`, line, cond.Name)
	t.Append(t.Region(func() { t.returns(then()...) }))
	t.Line("}, {")
	t.Append(t.Region(func() { t.returns(otherwise...) }))
	t.Line("}) : (%s) -> (%s)", mlir.Tensor(cond.Type), types(otherwise))
	return results
}

// barrier returns args in such a way that a compiler may move nothing that needs
// one of the results before anything that makes one of args.
func (t *text) barrier(args ...value) []value {
	line, results := t.Parts(mlir.TypesOf(args))
	t.Line("%sstablehlo.optimization_barrier %s : %s", line, mlir.Names(args), types(args))
	return results
}

// call calls function name.
func (t *text) call(name string, args []value, out []tensor) []value {
	line, results := t.Parts(out)
	t.Line("%sfunc.call @%s(%s) : (%s) -> (%s)", line, name, mlir.Names(args), types(args), types(results))
	return results
}

func types(vs []value) string { return mlir.Tensors(mlir.TypesOf(vs)) }

// list is [1, 2].
func list(xs []int) string { return "[" + mlir.Commas(xs...) + "]" }
