package mosaic

import (
	"fmt"

	"matladder/internal/known"
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

// Target is what a generation's compiler has and lacks. Figures are those of
// libtpu 0.0.42.1 and 0.0.51, read from its errors.
type Target struct {
	Name             string // v4, v5e, v5p, v6e, v7x
	VMEMBytes        int64  // of one core
	DefaultVMEMBytes int64  // what a kernel may take unless it asks for more

	narrow bool // multiplies int8, int4 and float8
	keeps  bool // small arrays come to stay in VMEM, so that a kernel needs no window of them
}

const mebibyte = 1 << 20

var targets = []Target{
	{Name: "v4", VMEMBytes: 16 * mebibyte, DefaultVMEMBytes: 16 * mebibyte},
	{Name: "v5e", VMEMBytes: 128 * mebibyte, DefaultVMEMBytes: 16 * mebibyte, narrow: true},
	{Name: "v5p", VMEMBytes: 64 * mebibyte, DefaultVMEMBytes: 16 * mebibyte, narrow: true},
	{Name: "v6e", VMEMBytes: 128 * mebibyte, DefaultVMEMBytes: 32 * mebibyte, narrow: true},
	{Name: "v7x", VMEMBytes: 64 * mebibyte, DefaultVMEMBytes: 32 * mebibyte, narrow: true, keeps: true},
}

// FindTarget returns the generation of that name.
func FindTarget(name string) (Target, error) {
	return known.Find("TPU generation", name, targets, func(t Target) string { return t.Name })
}

// Check returns why a generation cannot run programs that Lower takes, or nil:
// an *UnsupportedError for a block that breaks the tiling of memory or a product
// that the matrix units lack, a *TooBigError for what cannot fit in o.VMEMBytes
// (0 for the compiler's default). A program that passes may still need more than
// its blocks and scratch, which only the compiler tells.
func (t Target) Check(programs []*tile.Program, o Options) error {
	limit := o.VMEMBytes
	if limit <= 0 {
		limit = t.DefaultVMEMBytes
	}
	limit = min(limit, t.VMEMBytes)
	ahead := ""
	if bound, err := tile.Bind(programs); err == nil && o.Prefetched != "" {
		for _, r := range bound.In {
			if r.Name == o.Prefetched && r.ArrayBytes() <= t.VMEMBytes-limit {
				ahead = o.Prefetched
			}
		}
	}
	for _, p := range programs {
		p = p.Pipelined()
		if err := checkTiling(p); err != nil {
			return err
		}
		if err := checkCopies(p); err != nil {
			return err
		}
		if err := t.checkProducts(p); err != nil {
			return err
		}
		if err := t.checkVMEM(p, limit, ahead); err != nil {
			return err
		}
	}
	return nil
}

// checkProducts refuses what the matrix units do not multiply.
func (t Target) checkProducts(p *tile.Program) error {
	e := p.FindExpr(func(_ *tile.Stmt, e *tile.Expr) bool {
		return !t.narrow && e.Op == tile.OpDot && e.Args[0].Dtype.Bits() <= 8 && !isCode(e.Args[0].Dtype) && !isCode(e.Args[1].Dtype)
	})
	if e != nil {
		return unsupported(e.Pos, p, "dot", "", "%s does not multiply %s by %s", t.Name, e.Args[0].Dtype, e.Args[1].Dtype)
	}
	return nil
}
