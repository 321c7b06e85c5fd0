package tile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"matladder/internal/each"
)

// Text prints programs that run in order.
func Text(programs []*Program) string {
	return strings.Join(each.Of(programs, (*Program).String), "\n")
}

// String prints the program in the manner of Pallas: the grid with its dimension
// semantics; each ref with its array, block and index map, and what the last
// block holds where it overhangs; then the body, line by line.
func (p *Program) String() string {
	var b strings.Builder
	names, sizes, semantics := make([]string, len(p.Grid)), make([]string, len(p.Grid)), make([]string, len(p.Grid))
	for i, a := range p.Grid {
		names[i], sizes[i], semantics[i] = a.Name, fmt.Sprint(a.Size), a.Semantics.String()
		if a.Bound != nil {
			sizes[i] = fmt.Sprintf("%s <= %d", a.Bound, a.Size)
		}
	}
	fmt.Fprintf(&b, "%s\n", p.Name)
	if len(p.Grid) == 0 {
		b.WriteString("  grid ()\n")
	} else {
		fmt.Fprintf(&b, "  grid %s = %s, %s\n", tuple(strings.Join(names, ", ")), tuple(strings.Join(sizes, ", ")), strings.Join(semantics, ", "))
	}
	if len(p.Mesh) > 0 {
		devices := each.Of(p.Mesh, func(a *Axis) string { return fmt.Sprintf("%s = %d", a.Name, a.Size) })
		fmt.Fprintf(&b, "  mesh %s\n", strings.Join(devices, ", "))
	}
	columns := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range p.Refs {
		fmt.Fprintf(columns, "  %s\t%s\t%s[%s]", r.Kind, r.Name, r.Dtype, shapeString(r.Array))
		switch {
		case r.Main:
			fmt.Fprint(columns, "\tin main memory")
		case r.Kind == In || r.Kind == Out:
			lambda := strings.TrimRight("lambda "+strings.Join(names, ", "), " ")
			fmt.Fprintf(columns, "\tblock %s\t%s: %s", tuple(blockString(r.Block)), lambda, tuple(indexString(r.Index)))
			if r.Overlap() {
				fmt.Fprintf(columns, "\tevery %s", tuple(shapeString(r.Steps)))
			}
			if r.Buffers > 0 {
				fmt.Fprintf(columns, "\t%d buffers", r.Buffers)
			}
			if last := lastBlock(r); last != nil {
				fmt.Fprintf(columns, "\t# last block holds %s", tuple(shapeString(last)))
			}
		}
		fmt.Fprintln(columns)
	}
	for _, s := range p.Semaphores {
		fmt.Fprintf(columns, "  semaphore\t%s\t%s[%d]\n", s.Name, s.Kind, s.Slots)
	}
	columns.Flush()
	w := printer{out: &b}
	w.body(p.Body, "  ")
	return b.String()
}

// String prints the statement as String of its program does.
func (s *Stmt) String() string {
	var b strings.Builder
	w := printer{out: &b}
	w.body([]*Stmt{s}, "")
	return strings.TrimSuffix(b.String(), "\n")
}

// tuple brackets a list as Python does: one element keeps its comma.
func tuple(list string) string {
	if list != "" && !strings.Contains(list, ", ") {
		list += ","
	}
	return "(" + list + ")"
}

// lastBlock returns how much of its array the last block of r holds, or nil if it is full.
func lastBlock(r *Ref) []int {
	last := r.Shape()
	full := true
	for d := range last {
		if r.Partial(d) {
			i := r.ArrayDim(d)
			last[d], full = r.lastInside(i), false
		}
	}
	if full {
		return nil
	}
	return last
}

// printer writes the body; names has the expressions that were given one, since
// they occur more than once in a statement.
type printer struct {
	out   *strings.Builder
	names map[*Expr]string
}

func (w *printer) body(body []*Stmt, indent string) {
	for _, s := range body {
		switch s.Kind {
		case Fill, Store:
			value, rows := w.value(s.Value, indent), "..."
			if s.IsPart() {
				rows = bare(s.From) + ":" + bare(s.To)
			}
			fmt.Fprintf(w.out, "%s%s[%s] = %s\n", indent, s.Ref.Name, rows, value)
		case Accumulate:
			fmt.Fprintf(w.out, "%s%s[...] += %s\n", indent, s.Ref.Name, w.value(s.Value, indent))
		case When:
			fmt.Fprintf(w.out, "%swhen %s:\n", indent, s.Cond)
		case Loop:
			fmt.Fprintf(w.out, "%sfor %s in range(%d):\n", indent, s.Axis.Name, s.Axis.Size)
		}
		if text := s.copying(); text != "" {
			fmt.Fprintf(w.out, "%s%s\n", indent, text)
		}
		w.body(s.Body, indent+"  ")
	}
}

// value prints e; what it uses more than once stands on a line of its own before.
func (w *printer) value(e *Expr, indent string) string {
	uses := map[*Expr]int{}
	WalkExpr(e, func(x *Expr) {
		for _, a := range x.Args {
			if x.Op != OpBroadcast {
				uses[narrow(a)]++
			}
		}
	})
	w.names = map[*Expr]string{}
	WalkExpr(e, func(x *Expr) {
		if uses[x] > 1 && len(x.Args) > 0 {
			text := w.outer(x)
			w.names[x] = fmt.Sprintf("t%d", len(w.names))
			fmt.Fprintf(w.out, "%s%s = %s\n", indent, w.names[x], text)
		}
	})
	return w.outer(narrow(e))
}

// narrow returns what e broadcasts, or e.
func narrow(e *Expr) *Expr {
	for e.Op == OpBroadcast {
		e = e.Args[0]
	}
	return e
}

// copying prints a statement about copies or signals; "" for others.
func (s *Stmt) copying() string {
	switch s.Kind {
	case Start, Wait, WaitSent:
		return fmt.Sprintf("%s %s", s.Kind, s.Copy)
	case Signal:
		return fmt.Sprintf("signal %s of %s = %s", s.Signal.To, s.Signal.Along.Name, bare(s.Signal.Device))
	case Await:
		return fmt.Sprintf("await %s %d", s.Slot, s.Count)
	}
	return ""
}

// String is a(8, 128)@(i, k) → buf(8, 128)@(k % 2, 0), arrived[k % 2].
func (c *Copy) String() string {
	s := fmt.Sprintf("%s → %s", c.From, c.To)
	if c.Remote() {
		s += fmt.Sprintf(" of %s = %s", c.Along.Name, bare(c.Device))
	}
	s += fmt.Sprintf(", %s", c.Arrived)
	if c.Remote() {
		s += fmt.Sprintf(", sent %s", c.Sent)
	}
	return s
}

func (p Part) String() string {
	return p.Ref.Name + tuple(blockString(p.BlockSpec.Shape)) + "@" + tuple(indexString(p.Index))
}

func (s Slot) String() string { return fmt.Sprintf("%s[%s]", s.Semaphore.Name, bare(s.Index)) }

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
		from := slices.Repeat([]string{":"}, len(e.Shape))
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
