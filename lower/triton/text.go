package triton

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// value is a name in the text, shaped its type: a tensor, or a scalar. The elements of
// pointers are "*" and what they point to.
type (
	value  = mlir.Value
	shaped = mlir.Type
)

var scalar = shaped{Elem: "i32"}

func spelled(t shaped) string {
	elem := t.Elem
	if to, pointer := strings.CutPrefix(elem, "*"); pointer {
		elem = "!tt.ptr<" + to + ">"
	}
	if t.Dims == nil {
		return elem
	}
	return "tensor<" + mlir.Cross(t.Dims) + elem + ">"
}

func types(vs []value) string { return mlir.List(vs, func(v value) string { return spelled(v.Type) }) }

// storage spells dtypes as they are held: four bits have a byte once they are unpacked.
var storage = func() map[tile.Dtype]string {
	m := mlir.Codes("i8")
	m[tile.Int4] = "i8"
	return m
}()

func isCode(d tile.Dtype) bool { return mlir.IsCode(d, storage[d]) }

// Physical is the shape in which a block of shape is computed: two dimensions at
// least, each 1 or a power of two of at least least elements.
func (k *kernel) Physical(shape []int) []int {
	p := mlir.Physical(shape)
	for d, n := range p {
		p[d] = padded(n, k.least)
	}
	return p
}

func padded(n, least int) int {
	if n <= 1 {
		return 1
	}
	return max(1<<bits.Len(uint(n-1)), least)
}

// conversions are the operations whose types are spelled "from to to", arrows those whose
// types are spelled "from -> to".
var (
	conversions = []string{"arith.extsi", "arith.extui", "arith.trunci", "arith.extf", "arith.truncf", "arith.sitofp", "arith.fptosi"}
	arrows      = []string{"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.trans", "tt.reshape", "tt.join"}
)

// Spell is an operation as its dialect prints it.
func (k *kernel) Spell(to shaped, op, attrs string, args []value) string {
	names, result, from := mlir.Names(args), spelled(to), ""
	if len(args) > 0 {
		from = spelled(args[0].Type)
	}
	isFloat8 := func(t shaped) bool { return strings.HasPrefix(t.Elem, "f8") }
	switch {
	case op == "arith.constant" && result == "i1":
		return op + " " + attrs
	case op == "arith.cmpi", op == "arith.cmpf":
		return fmt.Sprintf("%s %s, %s : %s", op, attrs, names, from)
	case op == "arith.select" && from != "i1":
		return fmt.Sprintf("%s %s : %s, %s", op, names, from, result)
	case op == "arith.extf" && isFloat8(args[0].Type):
		return fmt.Sprintf("tt.fp_to_fp %s : %s -> %s", names, from, result)
	case op == "arith.truncf" && isFloat8(to):
		return fmt.Sprintf("tt.fp_to_fp %s, rounding = rtne : %s -> %s", names, from, result)
	case op == "arith.bitcast":
		return fmt.Sprintf("tt.bitcast %s : %s -> %s", names, from, result)
	case op == "tt.addptr":
		return fmt.Sprintf("%s %s : %s", op, names, types(args))
	case op == "tt.load", op == "tt.store":
		return fmt.Sprintf("%s %s : %s", op, names, from)
	case op == "tt.gather":
		return fmt.Sprintf("%s %s[%s] {%s} : (%s) -> %s", op, args[0].Name, args[1].Name, attrs, types(args), result)
	case op == "tt.dot":
		return fmt.Sprintf("%s %s%s : %s * %s -> %s", op, names, attrs, from, spelled(args[1].Type), result)
	case op == "tt.dot_scaled":
		return fmt.Sprintf("%s %s scale %s, %s scale %s, %s %s : %s * %s -> %s", op, args[0].Name, args[1].Name, args[2].Name, args[3].Name, args[4].Name,
			attrs, types(args[:2]), types(args[2:4]), result)
	case slices.Contains(conversions, op):
		return fmt.Sprintf("%s %s : %s to %s", op, names, from, result)
	}
	if attrs != "" && names != "" {
		attrs = " {" + attrs + "}"
	}
	if slices.Contains(arrows, op) {
		result = from + " -> " + result
	}
	return fmt.Sprintf("%s %s%s : %s", op, names, attrs, result)
}

// ID is the id along an axis.
func (k *kernel) ID(a *tile.Axis) value { return k.ids[a] }

// Element reads a table, where the text is: an index of a table may be wrong in
// steps that do not use it.
func (k *kernel) Element(table *tile.Ref, at value) value {
	arg := k.args[table]
	return k.Once(scalar, "tt.load", "", k.Pure(arg.Type, "tt.addptr", "", arg, at))
}
