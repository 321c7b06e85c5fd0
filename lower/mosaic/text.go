package mosaic

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// prefix marks an operation of the serialized, versioned dialects.
const prefix = "stable_mosaic."

// version is that of the dialects: below 13, where matmul takes a hint that
// older compilers do not know, and above 6, where iota got its present form.
const version = 11

// value is a name in the text, shaped its type: a vector or a scalar, or a memref where
// Space says in which memory (a table is in smem).
type (
	value  = mlir.Value
	shaped = mlir.Type
)

// stored spells dtypes as they are held. libtpu's compiler has no numbers of float8_e8m0fnu, and
// those of float4_e2m1fn on v7x alone.
var stored = mlir.Codes("i4")

func isCode(d tile.Dtype) bool { return mlir.IsCode(d, stored[d]) }

func spelled(t shaped) string {
	switch {
	case t.Space != "":
		return fmt.Sprintf("memref<%s%s, #tpu.memory_space<%s>>", mlir.Cross(t.Dims), t.Elem, t.Space)
	case t.Dims == nil:
		return t.Elem
	}
	return "vector<" + mlir.Cross(t.Dims) + t.Elem + ">"
}

func types(vs []value) string { return mlir.List(vs, func(v value) string { return spelled(v.Type) }) }

// predicates are those of arith.cmpi and arith.cmpf by their numbers.
var predicates = map[string]int{
	"eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5, "ult": 6,
	"oeq": 1, "ogt": 2, "oge": 3, "olt": 4, "ole": 5,
}

// Spell is an operation in MLIR's generic form.
func (k *kernel) Spell(to shaped, op, attrs string, args []value) string {
	result := spelled(to)
	switch {
	case result == "":
		result = "()"
	case op == "arith.constant" && result == "i1": // whose spellings have no type
		attrs = "value = " + attrs
	case op == "arith.constant":
		attrs = "value = " + attrs + " : " + result
	case op == "arith.cmpi", op == "arith.cmpf":
		attrs = fmt.Sprintf("predicate = %d : i64", predicates[attrs])
	}
	if attrs != "" {
		attrs = " {" + attrs + "}"
	}
	return fmt.Sprintf("%q(%s)%s : (%s) -> %s", prefix+op, mlir.Names(args), attrs, types(args), result)
}

// region is the text of what body writes, at the borders of which every scratch is in memory.
func (k *kernel) region(body func()) string {
	return k.Region(func() {
		body()
		k.release()
		k.Do("scf.yield", "")
	})
}

// branch writes then where cond holds, otherwise where not.
func (k *kernel) branch(cond value, then, otherwise func()) {
	k.release()
	k.Line("%q(%s) ({", prefix+"scf.if", cond.Name)
	k.Append(k.region(then))
	k.Line("}, {")
	k.Append(k.region(otherwise))
	k.Line("}) : (i1) -> ()")
}

// repeat writes a loop along an axis.
func (k *kernel) repeat(a *tile.Axis, body func()) {
	k.release()
	name := k.Unique(a.Name)
	k.ids[a] = value{Name: name, Type: scalar}
	bounds := []value{k.Written(k.Int(0)), k.Written(k.Int(a.Size)), k.Written(k.Int(1))}
	k.Line("%q(%s) ({", prefix+"scf.for", mlir.Names(bounds))
	k.Line("^bb0(%s: i32):", name)
	k.Append(k.region(body))
	k.Line("}) : (i32, i32, i32) -> ()")
}

var scalar = shaped{Elem: "i32"}

// ID is the id along an axis, or the coordinate of the device.
func (k *kernel) ID(a *tile.Axis) value {
	switch {
	case !a.Mesh:
		return k.ids[a]
	case a.Size == 1:
		return k.Int(0)
	}
	return k.element(k.coordinates[a], k.Int(0))
}

// Element is one of a table.
func (k *kernel) Element(table *tile.Ref, at value) value { return k.element(k.refs[table], at) }

func (k *kernel) element(table, at value) value {
	return k.Once(scalar, "memref.load", "", table, k.position(at))
}

// position is x as what memory is addressed by.
func (k *kernel) position(x value) value {
	to := shaped{Elem: "index"}
	if n, known := x.Known(); known {
		return k.Constant(to, n)
	}
	return k.Once(to, "arith.index_cast", "", x)
}
