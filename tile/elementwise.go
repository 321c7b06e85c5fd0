package tile

import "math"

// Elementwise operations. Operands of different shapes are broadcast to a
// common one; dtypes must be equal (a Number takes the other's).

// Add is x + y.
func Add(x, y Value) *Expr { return binary(OpAdd, x, y) }

// Sub is x - y.
func Sub(x, y Value) *Expr { return binary(OpSub, x, y) }

// Mul is x * y.
func Mul(x, y Value) *Expr { return binary(OpMul, x, y) }

// Div is x / y, of floats.
func Div(x, y Value) *Expr { return binary(OpDiv, x, y) }

// Max is the larger of x and y; NaN if either is.
func Max(x, y Value) *Expr { return binary(OpMax, x, y) }

// Min is the smaller of x and y; NaN if either is.
func Min(x, y Value) *Expr { return binary(OpMin, x, y) }

// And is x and y, of Bools.
func And(x, y Value) *Expr { return binary(OpAnd, x, y) }

// Or is x or y, of Bools.
func Or(x, y Value) *Expr { return binary(OpOr, x, y) }

// Compare is the Bool x op y.
func Compare(x Value, op Comparison, y Value) *Expr {
	e := binary(OpCompare, x, y)
	if e.err == nil {
		e.Cmp, e.Dtype = op, Bool
	}
	return e
}

// Select is x where cond holds, else y.
func Select(cond, x, y Value) *Expr {
	c := cond.value()
	a, b, f := unify(OpSelect, x.value(), y.value())
	switch {
	case c.err != nil:
		return c
	case f != nil:
		return f
	case c.Dtype != Bool:
		return failed("select: the condition is %s, not bool", c.Dtype)
	}
	shape, ok := broadcastShape(c.Shape, a.Shape)
	if !ok {
		return failed("select: condition [%s] does not fit [%s]", shapeString(c.Shape), shapeString(a.Shape))
	}
	args := []*Expr{Broadcast(c, shape...), Broadcast(a, shape...), Broadcast(b, shape...)}
	return newExpr(&Expr{Op: OpSelect, Args: args, Dtype: a.Dtype, Shape: shape})
}

// Neg is -x.
func Neg(x Value) *Expr { return unary(OpNeg, x) }

// Abs is |x|.
func Abs(x Value) *Expr { return unary(OpAbs, x) }

// Invert is not x, of a Bool.
func Invert(x Value) *Expr { return unary(OpNot, x) }

// Exp is e to the power x.
func Exp(x Value) *Expr { return unary(OpExp, x) }

// Exp2 is 2 to the power x.
func Exp2(x Value) *Expr { return unary(OpExp2, x) }

// Log is the natural logarithm of x: -Inf of 0, NaN of less.
func Log(x Value) *Expr { return unary(OpLog, x) }

// Tanh is the hyperbolic tangent of x.
func Tanh(x Value) *Expr { return unary(OpTanh, x) }

// NormalCDF is Φ(x), the part of the normal distribution below x. It is right relative to itself
// wherever it is a normal number, from -13 on: on a CPU to 6 roundings of float32, in texts for
// devices to 8 + x² of them where x is negative.
func NormalCDF(x Value) *Expr { return unary(OpNormalCDF, x) }

// Logistic is 1 / (1 + e^-x), right relative to itself from -87 on as NormalCDF is; devices
// have 8 + |x| roundings there.
func Logistic(x Value) *Expr { return unary(OpLogistic, x) }

// Rsqrt is 1 / √x.
func Rsqrt(x Value) *Expr { return unary(OpRsqrt, x) }

// RoundEven is the integer nearest to x, ties to even, still a float.
func RoundEven(x Value) *Expr { return unary(OpRoundEven, x) }

// Relu is max(x, 0).
func Relu(x Value) *Expr { return Max(x, Number(0)) }

// Silu is x · logistic(x), and NaN of -Inf, as in PyTorch and JAX.
func Silu(x Value) *Expr { return Mul(x, Logistic(x)) }

// Gelu is x · Φ(x), and NaN of -Inf, as in PyTorch and JAX.
func Gelu(x Value) *Expr { return Mul(x, NormalCDF(x)) }

// GeluTanh is Gelu by its approximation x/2 · (1 + tanh(√(2/π) · (x + 0.044715x³))). It is
// computed as x · logistic of twice that argument, which keeps the digits of its tail.
func GeluTanh(x Value) *Expr {
	twice := 2 * math.Sqrt(2/math.Pi)
	return Mul(x, Logistic(Mul(x, Add(Mul(Mul(x, x), Number(0.044715*twice)), Number(twice)))))
}

func unary(op Op, v Value) *Expr {
	x := v.value()
	switch {
	case x.err != nil:
		return x
	case (op == OpNot) != (x.Dtype == Bool):
		return failed("%s: no such operation on %s", op, x.Dtype)
	case op >= OpExp && op <= OpRoundEven && x.Dtype.IsInteger():
		return failed("%s: operand is %s: cast it to a float first", op, x.Dtype)
	}
	return newExpr(&Expr{Op: op, Args: []*Expr{x}, Dtype: x.Dtype, Shape: x.Shape})
}

func binary(op Op, x, y Value) *Expr {
	a, b, f := unify(op, x.value(), y.value())
	switch logical := op == OpAnd || op == OpOr; {
	case f != nil:
		return f
	case logical != (a.Dtype == Bool):
		return failed("%s: no such operation on %s", op, a.Dtype)
	case op == OpDiv && a.Dtype.IsInteger():
		return failed("div: operands are %s: cast them to a float first", a.Dtype)
	}
	return newExpr(&Expr{Op: op, Args: []*Expr{a, b}, Dtype: a.Dtype, Shape: a.Shape})
}

// unify gives two operands one dtype and one shape.
func unify(op Op, a, b *Expr) (x, y, mistake *Expr) {
	if f := firstFailed(a, b); f != nil {
		return nil, nil, f
	}
	switch {
	case a.Dtype == InvalidDtype && b.Dtype == InvalidDtype:
		a, b = typed(a, Float32), typed(b, Float32)
	case a.Dtype == InvalidDtype:
		a = typed(a, b.Dtype)
	case b.Dtype == InvalidDtype:
		b = typed(b, a.Dtype)
	}
	if a.Dtype != b.Dtype {
		return nil, nil, failed("%s: operands are %s and %s: cast one first", op, a.Dtype, b.Dtype)
	}
	shape, ok := broadcastShape(a.Shape, b.Shape)
	if !ok {
		return nil, nil, failed("%s: shapes [%s] and [%s] do not fit", op, shapeString(a.Shape), shapeString(b.Shape))
	}
	return Broadcast(a, shape...), Broadcast(b, shape...), nil
}

// typed gives a Number a dtype, through whatever it was broadcast by.
func typed(e *Expr, d Dtype) *Expr {
	c := *e
	c.Dtype = d
	c.Args = nil
	for _, a := range e.Args {
		if a.Dtype == InvalidDtype {
			a = typed(a, d)
		}
		c.Args = append(c.Args, a)
	}
	return &c
}

// broadcastShape returns the shape that a and b broadcast to, trailing dimensions aligned.
func broadcastShape(a, b []int) ([]int, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	s := append([]int(nil), a...)
	for i := range b {
		j := len(a) - len(b) + i
		switch {
		case a[j] == b[i] || b[i] == 1:
		case a[j] == 1:
			s[j] = b[i]
		default:
			return nil, false
		}
	}
	return s, true
}
