package tile

import (
	"fmt"
	"strconv"
	"strings"
)

// infix are the operations that stand between their operands.
var infix = map[Op]string{OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpAnd: "and", OpOr: "or"}

// outer prints e on one line, without brackets around it.
func (w *printer) outer(e *Expr) string {
	text := w.expr(e)
	if strings.HasPrefix(text, "(") && w.names[e] == "" {
		return text[1 : len(text)-1]
	}
	return text
}

// expr prints e inside a line. Broadcasts that an elementwise operation or a write
// implies are left out, as in NumPy.
func (w *printer) expr(e *Expr) string {
	if name := w.names[e]; name != "" {
		return name
	}
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		if e.Op.IsElementwise() {
			a = narrow(a)
		}
		if _, ok := infix[e.Op]; ok || e.Op == OpCompare || e.Op == OpSlice || e.Op == OpDot {
			args[i] = w.expr(a)
		} else {
			args[i] = w.outer(a)
		}
	}
	switch e.Op {
	case OpLoad:
		return e.Ref.Name + "[...]"
	case OpConst:
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(e.Value, 'g', -1, 64), "+"))
	case OpIndex:
		return "index(" + bare(e.Index) + ")"
	case OpIota:
		return fmt.Sprintf("iota(%s, dim=%d)", tuple(shapeString(e.Shape)), e.Dim)
	case OpInBounds:
		text := fmt.Sprintf("in_bounds(%s, dim=%d)", e.Ref.Name, e.Dim)
		if e.Dim >= len(e.Shape) || e.Shape[e.Dim] != e.Ref.Shape()[e.Dim] {
			text += ".T" // of InBoundsRow
		}
		return text
	case OpDot:
		if e.TransA {
			args[0] += ".T"
		}
		if e.TransB {
			args[1] += ".T"
		}
		if e.Precision != Default {
			args = append(args, "precision="+e.Precision.String())
		}
	case OpCompare:
		return "(" + args[0] + " " + e.Cmp.String() + " " + args[1] + ")"
	case OpBroadcast:
		args = append(args, tuple(shapeString(e.Shape)))
	case OpCast:
		args = append(args, e.Dtype.String())
	case OpSlice:
		from := make([]string, len(e.Shape))
		for d := range from {
			from[d] = ":"
		}
		from[e.Dim] = bare(e.Index) + ":" + bare(Plus(e.Index, Const(e.Shape[e.Dim])))
		return strings.TrimSuffix(args[0], "[...]") + "[" + strings.Join(from, ", ") + "]"
	case OpReduceMax, OpReduceSum:
		if e.Dim == len(e.Shape)-1 {
			return map[Op]string{OpReduceMax: "row_max(", OpReduceSum: "row_sum("}[e.Op] + args[0] + ")"
		}
		args = append(args, fmt.Sprintf("dim=%d", e.Dim))
	case OpConcat:
		args = append(args, fmt.Sprintf("dim=%d", e.Dim))
	}
	if sign, ok := infix[e.Op]; ok {
		return "(" + args[0] + " " + sign + " " + args[1] + ")"
	}
	return e.Op.String() + "(" + strings.Join(args, ", ") + ")"
}
