package tile

import (
	"fmt"
	"slices"
)

// Op is what an expression computes.
type Op uint8

// The operations. Elementwise ones take blocks of one shape (constructors
// insert OpBroadcast) and one dtype.
const (
	OpLoad      Op = iota // the block of Ref
	OpConst               // the number Value, rank 0
	OpIndex               // the int32 value of Index, rank 0
	OpIota                // int32: the coordinate along Dim
	OpInBounds            // Bool: whether an element of Ref along Dim is inside its array; Shape is 1 but in one dimension
	OpDot                 // matrix product of two rank-2 blocks
	OpAdd                 // elementwise, from here …
	OpSub                 //
	OpMul                 //
	OpDiv                 // floats only
	OpMax                 //
	OpMin                 //
	OpAnd                 // Bool
	OpOr                  // Bool
	OpCompare             // Bool: x Cmp y
	OpSelect              // Args[0] ? Args[1] : Args[2]
	OpNeg                 //
	OpAbs                 //
	OpNot                 // Bool
	OpExp                 // floats only, from here …
	OpExp2                // 2 to the power x
	OpLog                 // natural logarithm; -Inf of 0, NaN of less
	OpTanh                //
	OpNormalCDF           //
	OpLogistic            //
	OpRsqrt               // … to here
	OpRoundEven           // … to here
	OpReduceMax           // largest along Dim, kept as size 1
	OpReduceSum           // sum along Dim, kept as size 1
	OpBroadcast           // to Shape, aligning trailing dimensions
	OpCast                // to Dtype
	OpSlice               // elements Index … Index+Shape[Dim]-1 along Dim
	OpConcat              // Args one after another along Dim
)

var opNames = [...]string{
	OpLoad: "load", OpConst: "const", OpIndex: "index", OpIota: "iota", OpInBounds: "in_bounds",
	OpDot: "dot", OpAdd: "add", OpSub: "sub", OpMul: "mul", OpDiv: "div", OpMax: "max", OpMin: "min",
	OpAnd: "and", OpOr: "or", OpCompare: "compare", OpSelect: "select", OpNeg: "neg", OpAbs: "abs", OpNot: "not",
	OpExp: "exp", OpExp2: "exp2", OpLog: "log", OpTanh: "tanh", OpNormalCDF: "normal_cdf", OpLogistic: "logistic", OpRsqrt: "rsqrt", OpRoundEven: "round",
	OpReduceMax: "reduce_max", OpReduceSum: "reduce_sum", OpBroadcast: "broadcast", OpCast: "cast", OpSlice: "slice", OpConcat: "concat",
}

func (o Op) String() string { return opNames[o] }

// IsElementwise reports whether each element of the result depends on the same
// element of the operands alone.
func (o Op) IsElementwise() bool { return o >= OpAdd && o <= OpRoundEven || o == OpCast }

// Precision is how a Dot of float32 operands multiplies.
type Precision uint8

// Default lets the device choose (bfloat16 passes on a TPU); Highest asks for
// full float32 products.
const (
	Default Precision = iota
	Highest
)

func (p Precision) String() string { return [...]string{"default", "highest"}[p] }

// ParsePrecision reads what String wrote; "" is Default.
func ParsePrecision(s string) (Precision, error) {
	switch s {
	case "default", "":
		return Default, nil
	case "highest":
		return Highest, nil
	}
	return Default, fmt.Errorf("unknown precision %q (known: default, highest)", s)
}

// Expr is the value of one block, as data: a tree of operations whose shapes and dtypes are known.
// Fields that an Op does not name are zero. Exprs are read-only once built and may be shared.
type Expr struct {
	Op        Op
	Args      []*Expr
	Dtype     Dtype // InvalidDtype for a number that takes the dtype it meets
	Shape     []int
	Ref       *Ref       // OpLoad, OpInBounds
	Index     IndexExpr  // OpIndex, OpSlice (start)
	Dim       int        // OpIota, OpInBounds, OpReduceMax, OpReduceSum, OpSlice, OpConcat
	Value     float64    // OpConst
	Cmp       Comparison // OpCompare
	TransA    bool       // OpDot: a is (k, m)
	TransB    bool       // OpDot: b is (n, k)
	Precision Precision  // OpDot
	Pos       Pos
	err       error
}

// Value is anything that can stand in an expression: a *Ref, read as its
// current block, or an *Expr.
type Value interface{ value() *Expr }

func (e *Expr) value() *Expr { return e }

func newExpr(e *Expr) *Expr {
	e.Pos = callerPos()
	for _, a := range e.Args {
		if e.err == nil && a.err != nil {
			e.err = a.err
		}
	}
	return e
}

// failed returns an expression that carries a mistake to the statement that
// uses it; the builder reports it with this position.
func failed(format string, args ...any) *Expr {
	pos := callerPos()
	return &Expr{Op: OpConst, Pos: pos, err: &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}}
}

func firstFailed(args ...*Expr) *Expr {
	for _, a := range args {
		if a.err != nil {
			return a
		}
	}
	return nil
}

// Number is the constant x, of rank 0, in the dtype of whatever it meets;
// float32 if it meets another number.
func Number(x float64) *Expr { return newExpr(&Expr{Op: OpConst, Value: x}) }

// IndexValue is an index expression as an int32 of rank 0.
func IndexValue(x IndexExpr) *Expr { return newExpr(&Expr{Op: OpIndex, Index: x, Dtype: Int32}) }

// Iota is an int32 block whose elements are their coordinate along dim.
func Iota(dim int, shape ...int) *Expr {
	if dim < 0 || dim >= len(shape) {
		return failed("iota: no dimension %d in shape [%s]", dim, shapeString(shape))
	}
	return newExpr(&Expr{Op: OpIota, Dim: dim, Dtype: Int32, Shape: shape})
}

// InBounds is a Bool block of size 1 in every dimension but dim: whether the
// elements of r's current block are inside its array along dim (of r.Shape()).
func InBounds(r *Ref, dim int) *Expr {
	s := r.Shape()
	if dim < 0 || dim >= len(s) {
		return failed("in_bounds: %s has no dimension %d", r.Name, dim)
	}
	for i := range s {
		if i != dim {
			s[i] = 1
		}
	}
	return newExpr(&Expr{Op: OpInBounds, Ref: r, Dim: dim, Dtype: Bool, Shape: s})
}

// InBoundsRow is InBounds as a row, of shape (1, n): it masks the columns of
// Dot(x, r, TransB), which are the rows of r.
func InBoundsRow(r *Ref, dim int) *Expr {
	e := InBounds(r, dim)
	if e.err == nil {
		e.Shape = []int{1, r.Shape()[dim]}
	}
	return e
}

// DotOption changes how Dot reads or multiplies its operands.
type DotOption func(*Expr)

// TransA says that a is stored (k, m).
func TransA(e *Expr) { e.TransA = true }

// TransB says that b is stored (n, k).
func TransB(e *Expr) { e.TransB = true }

// AtPrecision sets the precision of float32 products.
func AtPrecision(p Precision) DotOption { return func(e *Expr) { e.Precision = p } }

// Dot is the matrix product of a (m, k) and b (k, n), accumulated in DotResult(a, b). Padding of
// either operand along the contraction counts as zero in both. All else is multiplied: 0 times
// NaN or infinity is NaN. So where a weight of zero is to hide an element of the other operand,
// whatever it is, a Select in that operand puts zero in its place.
func Dot(a, b Value, opts ...DotOption) *Expr {
	x, y := a.value(), b.value()
	if f := firstFailed(x, y); f != nil {
		return f
	}
	e := &Expr{Op: OpDot, Args: []*Expr{x, y}}
	for _, o := range opts {
		o(e)
	}
	var msg string
	if e.Shape, e.Dtype, msg = dotResult(x, y, e.TransA, e.TransB); msg != "" {
		return failed("%s", msg)
	}
	return newExpr(e)
}

// dotResult returns the shape and dtype of a Dot, or why there is none.
func dotResult(x, y *Expr, transA, transB bool) ([]int, Dtype, string) {
	if len(x.Shape) != 2 || len(y.Shape) != 2 {
		return nil, InvalidDtype, fmt.Sprintf("dot: operands must be of rank 2, have [%s] and [%s]", shapeString(x.Shape), shapeString(y.Shape))
	}
	m, ka := x.Shape[0], x.Shape[1]
	if transA {
		m, ka = ka, m
	}
	kb, n := y.Shape[0], y.Shape[1]
	if transB {
		kb, n = n, kb
	}
	if ka != kb {
		return nil, InvalidDtype, fmt.Sprintf("dot: a [%s] contracts over %d elements, b [%s] over %d", shapeString(x.Shape), ka, shapeString(y.Shape), kb)
	}
	d := DotResult(x.Dtype, y.Dtype)
	if d == InvalidDtype {
		return nil, d, fmt.Sprintf("dot: no product of %s and %s: cast one first", x.Dtype, y.Dtype)
	}
	return []int{m, n}, d, ""
}

// Cast rounds x to d (Dtype.Round says how); x itself if it is of d already.
func Cast(x Value, d Dtype) *Expr {
	e := x.value()
	switch {
	case e.err != nil || e.Dtype == d:
		return e
	case d == InvalidDtype || int(d) >= len(dtypes):
		return failed("cast: no such dtype")
	case e.Dtype == InvalidDtype:
		return typed(e, d)
	}
	return newExpr(&Expr{Op: OpCast, Args: []*Expr{e}, Dtype: d, Shape: e.Shape})
}

// ReduceMax is the largest element along dim, kept as size 1; NaN if one is.
func ReduceMax(x Value, dim int) *Expr { return reduce(OpReduceMax, x.value(), dim) }

// ReduceSum is the sum along dim, kept as size 1.
func ReduceSum(x Value, dim int) *Expr { return reduce(OpReduceSum, x.value(), dim) }

// RowMax is ReduceMax along the last dimension.
func RowMax(x Value) *Expr { return reduceRows(OpReduceMax, x.value()) }

// RowSum is ReduceSum along the last dimension.
func RowSum(x Value) *Expr { return reduceRows(OpReduceSum, x.value()) }

func reduceRows(op Op, x *Expr) *Expr { return reduce(op, x, len(x.Shape)-1) }

func reduce(op Op, x *Expr, dim int) *Expr {
	switch {
	case x.err != nil:
		return x
	case len(x.Shape) == 0:
		return failed("%s: operand has rank 0", op)
	case dim < 0 || dim >= len(x.Shape):
		return failed("%s: no dimension %d in [%s]", op, dim, shapeString(x.Shape))
	case x.Dtype == Bool:
		return failed("%s: operand is bool", op)
	}
	s := append([]int(nil), x.Shape...)
	s[dim] = 1
	return newExpr(&Expr{Op: op, Args: []*Expr{x}, Dtype: x.Dtype, Shape: s, Dim: dim})
}

// Broadcast repeats x to shape: trailing dimensions are aligned, each equal or 1 in x.
func Broadcast(x Value, shape ...int) *Expr {
	e := x.value()
	if e.err != nil || slices.Equal(e.Shape, shape) {
		return e
	}
	if s, ok := broadcastShape(e.Shape, shape); !ok || !slices.Equal(s, shape) {
		return failed("broadcast: [%s] does not fit [%s]", shapeString(e.Shape), shapeString(shape))
	}
	return newExpr(&Expr{Op: OpBroadcast, Args: []*Expr{e}, Dtype: e.Dtype, Shape: shape})
}

// Slice takes size elements of x along dim, from start on. The start may depend
// on loop variables; Verify checks that it stays inside.
func Slice(x Value, dim int, start IndexExpr, size int) *Expr {
	e := x.value()
	if e.err != nil {
		return e
	}
	if dim < 0 || dim >= len(e.Shape) || size < 1 || size > e.Shape[dim] {
		return failed("slice: no %d elements along dimension %d of [%s]", size, dim, shapeString(e.Shape))
	}
	s := append([]int(nil), e.Shape...)
	s[dim] = size
	return newExpr(&Expr{Op: OpSlice, Args: []*Expr{e}, Dtype: e.Dtype, Shape: s, Dim: dim, Index: start})
}

// Concat puts blocks one after another along dim.
func Concat(dim int, xs ...Value) *Expr {
	e := &Expr{Op: OpConcat, Dim: dim}
	for i, v := range xs {
		x := v.value()
		if x.err != nil {
			return x
		}
		if dim < 0 || dim >= len(x.Shape) {
			return failed("concat: no dimension %d in [%s]", dim, shapeString(x.Shape))
		}
		if i == 0 {
			e.Dtype, e.Shape = x.Dtype, append([]int(nil), x.Shape...)
		} else {
			want := append([]int(nil), e.Shape...)
			want[dim] = x.Shape[dim]
			if x.Dtype != e.Dtype || !slices.Equal(want, x.Shape) {
				return failed("concat: %s[%s] does not continue %s[%s]", x.Dtype, shapeString(x.Shape), e.Dtype, shapeString(e.Shape))
			}
			e.Shape[dim] += x.Shape[dim]
		}
		e.Args = append(e.Args, x)
	}
	if len(xs) == 0 {
		return failed("concat: nothing to put together")
	}
	return newExpr(e)
}
