package mlir

import (
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// StableHLO writes functions of arrays.
type StableHLO struct{ Writer }

// NewStableHLO returns a writer of one function or several.
func NewStableHLO() *StableHLO { return &StableHLO{Writer{Dialect: stableHLO{}}} }

// Module is a program of functions, of which @main runs.
func Module(name, functions string) string {
	return fmt.Sprintf("module @%s {\n%s}\n", Symbol(name), functions)
}

// Array is the type of an array of d as a plugin is given it: floats of which kernels know the
// codes alone are integers, since a TPU takes longer to make those of them than to multiply.
func Array(d tile.Dtype, dims ...int) Type {
	switch d {
	case tile.Uint8, tile.Float8E8M0FNU:
		return Type{Elem: "ui8", Dims: dims}
	case tile.Float4E2M1FN:
		return Type{Elem: "i4", Dims: dims}
	}
	return Type{Elem: Stored[d], Dims: dims}
}

// Tensor spells a type.
func Tensor(t Type) string { return "tensor<" + Cross(t.Dims) + t.Elem + ">" }

// Tensors spells several.
func Tensors(types []Type) string { return List(types, Tensor) }

type stableHLO struct{}

// arith are the operations of index expressions by their names here.
var arith = map[string]string{
	"arith.constant": "constant", "arith.cmpi": "compare", "arith.addi": "add", "arith.subi": "subtract", "arith.muli": "multiply",
	"arith.divsi": "divide", "arith.remsi": "remainder", "arith.minsi": "minimum", "arith.maxsi": "maximum", "arith.andi": "and", "arith.ori": "or",
}

// signed are the operations whose types are spelled as those of a function.
var signed = []string{
	"bitcast_convert", "broadcast_in_dim", "compare", "concatenate", "convert", "dot_general", "dynamic_slice",
	"dynamic_update_slice", "pad", "reduce", "reshape", "slice", "transpose",
}

func (stableHLO) Spell(to Type, op, attrs string, args []Value) string {
	if name, ok := arith[op]; ok {
		op = name
	}
	parts := []string{Names(args), attrs}
	types := Tensor(to)
	switch op {
	case "constant":
		if !strings.HasPrefix(attrs, "dense<") {
			parts[1] = "dense<" + attrs + ">"
		}
	case "compare":
		kind := "SIGNED"
		if args[0].IsFloat() {
			kind = "FLOAT"
		}
		parts = []string{strings.ToUpper(attrs[len(attrs)-2:]), parts[0], kind}
	case "slice":
		parts = []string{parts[0] + " " + attrs}
	case "select":
		types = Tensor(args[0].Type) + ", " + types
	case "reduce":
		op, parts = fmt.Sprintf("reduce(%s init: %s)", args[0].Name, args[1].Name), []string{"applies " + attrs}
	}
	if name, _, _ := strings.Cut(op, "("); slices.Contains(signed, name) {
		types = fmt.Sprintf("(%s) -> %s", Tensors(TypesOf(args)), types)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.TrimSuffix("stablehlo."+op+" "+strings.Join(parts, ", "), " ") + " : " + types
}

// Function is a whole function; body returns its results, of types out.
func (w *StableHLO) Function(visibility, name string, args []Value, out []Type, body func() []Value) string {
	text := w.Writer.Function(func() {
		got := body()
		w.Line("return %s : %s", Names(got), Tensors(TypesOf(got)))
	})
	params := List(args, func(v Value) string { return v.Name + ": " + Tensor(v.Type) })
	return fmt.Sprintf("  func.func %s @%s(%s) -> (%s) {\n%s  }\n", visibility, name, params, Tensors(out), text)
}

// Apply is an operation whose operands and result are all of one type.
func (w *StableHLO) Apply(op string, args ...Value) Value { return w.Op(args[0].Type, op, "", args...) }

// As converts x to another element type.
func (w *StableHLO) As(x Value, elem string) Value {
	if x.Elem == elem {
		return x
	}
	return w.Op(x.Of(elem), "convert", "", x)
}

// Reshape gives x other dimensions of as many elements.
func (w *StableHLO) Reshape(x Value, dims []int) Value {
	to := Type{Elem: x.Elem, Dims: dims}
	if x.Equal(to) {
		return x
	}
	return w.Op(to, "reshape", "", x)
}

// Pad appends elements of value fill to x until it has dims.
func (w *StableHLO) Pad(x Value, fill float64, dims []int) Value {
	to := Type{Elem: x.Elem, Dims: dims}
	if x.Equal(to) {
		return x
	}
	none, high := make([]int, len(dims)), each.Upto(len(dims), func(i int) int { return dims[i] - x.Dims[i] })
	return w.Op(to, "pad", fmt.Sprintf("low = [%s], high = [%s], interior = [%s]", Commas(none...), Commas(high...), Commas(none...)),
		x, w.Constant(Type{Elem: x.Elem}, fill))
}

// Slice takes the elements of x from some on, as many as dims along each dimension.
func (w *StableHLO) Slice(x Value, from, dims []int) Value {
	to := Type{Elem: x.Elem, Dims: dims}
	if x.Equal(to) {
		return x
	}
	ranges := each.Upto(len(dims), func(i int) string { return fmt.Sprintf("%d:%d", from[i], from[i]+dims[i]) })
	return w.Op(to, "slice", "["+strings.Join(ranges, ", ")+"]", x)
}

// Calls writes a launch as calls of kernels.
type Calls struct {
	*StableHLO
	Arrays map[string]Value // so far, by name
}

// Launch is what one launch runs: kernels, in order. Call writes the custom call of one.
type Launch[K interface{ Call(Calls) }] struct {
	Name    string
	In, Out []*tile.Ref // arguments and results, in the order of tile.Bind
	Kernels []K
}

// Module returns a StableHLO program whose @main runs one launch: it takes In and returns Out.
func (l *Launch[K]) Module() string { return Module(l.Name, l.Function("public", "main")) }

// Function returns a StableHLO function that runs one launch.
func (l *Launch[K]) Function(visibility, name string) string {
	c := Calls{NewStableHLO(), map[string]Value{}}
	array := func(r *tile.Ref) Type { return Array(r.Dtype, r.Array...) }
	args, results := make([]Value, len(l.In)), each.Of(l.Out, array)
	for i, r := range l.In {
		args[i] = Value{Name: fmt.Sprintf("%%in%d", i), Type: array(r)}
		c.Arrays[r.Name] = args[i]
	}
	return c.Function(visibility, name, args, results, func() []Value {
		for _, k := range l.Kernels {
			k.Call(c)
		}
		return each.Of(l.Out, func(r *tile.Ref) Value { return c.Arrays[r.Name] })
	})
}

// Layout is an order of dimensions, the fastest first.
func Layout(order ...int) string {
	return fmt.Sprintf("dense<[%s]> : tensor<%dxindex>", Commas(order...), len(order))
}

// TritonCall is what XLA calls a kernel of Triton.
const TritonCall = "__gpu$xla.gpu.triton"

// TritonConfig are the attributes of a call of a kernel of Triton, with its text.
func TritonConfig(name, text string, grid [3]int, stages, warps int) string {
	return fmt.Sprintf(`api_version = 4 : i32, backend_config = {debug = false, grid_x = %d : i32, grid_y = %d : i32, grid_z = %d : i32, ir = "%s", name = %q, num_stages = %d : i32, num_warps = %d : i32}`,
		grid[0], grid[1], grid[2], Escaped(text), name, stages, warps)
}

// Kernel calls a kernel in another language. Its location gives the kernel's name to the
// compiled instruction, to dumps and to errors.
func (c Calls) Kernel(language, attrs string, args []Value, layouts []string, out []Type, outLayouts []string, name string) []Value {
	line, results := c.Results(out)
	types := Tensors(out)
	if len(out) > 1 {
		types = "(" + types + ")"
	}
	c.Line("%sstablehlo.custom_call @%s(%s) {%s, operand_layouts = [%s], result_layouts = [%s]} : (%s) -> %s loc(%q)",
		line, language, Names(args), attrs, strings.Join(layouts, ", "), strings.Join(outLayouts, ", "), Tensors(TypesOf(args)), types, name)
	return results
}
