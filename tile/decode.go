package tile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
)

// ReadPrograms reads programs in the form that WritePrograms writes (encode.go has its
// fields), whoever wrote them, and verifies them. An error says which program is wrong and where; it is an *Error where Verify
// found it.
func ReadPrograms(r io.Reader) ([]*Program, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var f jsonFile
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("tile: no programs as JSON: %w", readError(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("tile: something stands behind the programs")
	}
	if f.Format != formatSteps && f.Format != formatCopies && f.Format != format && f.Format != formatBefore {
		return nil, fmt.Errorf("tile: format %q: want %q", f.Format, format)
	}
	if len(f.Programs) == 0 {
		return nil, errors.New("tile: no programs in it")
	}
	var all []*Program
	for i, in := range f.Programs {
		if in == nil {
			return nil, fmt.Errorf("tile: program %d is missing", i+1)
		}
		p, err := decode(in)
		if err != nil {
			return nil, fmt.Errorf("tile: program %d, %q: %w", i+1, in.Name, err)
		}
		if err := p.Verify(); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if _, err := Bind(all); err != nil {
		return nil, err
	}
	return all, nil
}

// readError turns an error of package json into one that says where in the text it is.
func readError(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the text ends too early")
	case errors.As(err, &wrong):
		return fmt.Errorf("%s is a %s, at byte %d", wrong.Field, wrong.Value, wrong.Offset)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w, at byte %d", err, syntax.Offset)
	}
	return err
}

// decoder makes one program. The first mistake is kept in err.
type decoder struct {
	axes   []*Axis // of the grid, then of loops
	grid   int     // how many axes are of the grid
	loops  int     // how many loop statements the body has had so far
	refs   []*Ref
	values []*Expr
	mesh   int // how many axes are of the mesh: those behind the grid's
	counts []*Semaphore
	err    error
}

func (d *decoder) errorf(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func decode(in *jsonProgram) (*Program, error) {
	d := &decoder{grid: len(in.Grid)}
	for _, a := range in.Grid {
		semantics := Parallel
		if a.Semantics == Arbitrary.String() {
			semantics = Arbitrary
		} else if a.Semantics != Parallel.String() {
			d.errorf("axis %s: semantics %q: want parallel or arbitrary", a.Name, a.Semantics)
		}
		d.axes = append(d.axes, &Axis{Name: a.Name, Size: a.Size, Semantics: semantics, pos: d.pos(a.At)})
	}
	d.mesh = len(in.Mesh)
	plain := func(kind string, list []jsonAxis, like Axis) {
		for _, a := range list {
			if a.Semantics != "" || a.Bound != nil {
				d.errorf("%s %s has no semantics and no bound", kind, a.Name)
			}
			like.Name, like.Size, like.pos = a.Name, a.Size, d.pos(a.At)
			axis := like
			d.axes = append(d.axes, &axis)
		}
	}
	plain("mesh axis", in.Mesh, Axis{Semantics: Parallel, Mesh: true})
	for _, s := range in.Semaphores {
		kind := SemaphoreKind(word(d, "what a semaphore counts", s.Counts, CountsBytes.String(), CountsSignals.String(), CountsArrival.String()))
		d.counts = append(d.counts, &Semaphore{Name: s.Name, Kind: kind, Slots: s.Slots, Pos: d.pos(s.At)})
	}
	plain("loop", in.Loops, Axis{Semantics: Arbitrary, Loop: true})
	for _, r := range in.Refs { // all refs first: an index map may look up a table, which is a ref
		kind := RefKind(word(d, "kind of ref", r.Kind, Table.String(), In.String(), Out.String(), Scratch.String()))
		d.refs = append(d.refs, &Ref{Name: r.Name, Kind: kind, Dtype: Dtype(r.Dtype), Array: r.Array, Block: r.Block, Steps: r.Every, Main: r.Main, Buffers: r.Buffers, Pos: d.pos(r.At)})
	}
	for i, r := range in.Refs {
		d.refs[i].Index = d.indices(r.Index)
	}
	for i, a := range in.Grid {
		d.axes[i].Bound = d.index(a.Bound)
	}
	for _, v := range in.Values {
		d.values = append(d.values, d.value(v))
	}
	p := &Program{Name: in.Name, Grid: d.axes[:d.grid:d.grid], Refs: d.refs, Body: d.body(in.Body), Semaphores: d.counts}
	if d.mesh > 0 {
		p.Mesh = d.axes[d.grid : d.grid+d.mesh : d.grid+d.mesh]
	}
	if d.loops != len(in.Loops) {
		d.errorf("%d loops are listed, the body has %d", len(in.Loops), d.loops)
	}
	return p, d.err
}

// word returns the position of a word in known, which is the value of the constant that it spells.
func word(d *decoder, what, given string, known ...string) int {
	i := slices.Index(known, given)
	if i < 0 {
		d.errorf("%s %q: want one of %s", what, given, strings.Join(known, ", "))
		return 0
	}
	return i
}

// pos reads FILE:LINE; empty is no position.
func (d *decoder) pos(s string) Pos {
	if s == "" {
		return Pos{}
	}
	i := strings.LastIndexByte(s, ':')
	line, err := strconv.Atoi(s[i+1:])
	if i < 1 || err != nil {
		d.errorf("position %q: want FILE:LINE", s)
		return Pos{}
	}
	return Pos{s[:i], line}
}

func (d *decoder) ref(name string) *Ref {
	i := slices.IndexFunc(d.refs, func(r *Ref) bool { return r.Name == name })
	if i < 0 {
		d.errorf("there is no ref %q", name)
		return nil
	}
	return d.refs[i]
}

func (d *decoder) axis(name string) *Axis {
	if before, number, ok := strings.Cut(name, "#"); ok {
		if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= len(d.axes) && d.axes[n-1].Name == before {
			return d.axes[n-1]
		}
	}
	var found *Axis
	for _, a := range d.axes {
		if a.Name != name {
			continue
		}
		if found != nil {
			d.errorf("axis %q is one of several: want %s#NUMBER", name, name)
		}
		found = a
	}
	if found == nil {
		d.errorf("there is no axis %q", name)
	}
	return found
}

func (d *decoder) indices(list []jsonIndex) []IndexExpr { return each.Of(each.Pointers(list), d.index) }

func (d *decoder) index(x *jsonIndex) IndexExpr {
	switch {
	case x == nil:
		return nil
	case x.n != nil:
		return Const(*x.n)
	case x.form == nil:
		if a := d.axis(x.axis); a != nil {
			return a
		}
		return Const(0)
	}
	f := x.form
	for op, pair := range [...][]jsonIndex{Sum: f.Sum, Minimum: f.Min, Maximum: f.Max} {
		if len(pair) == 2 {
			return Joined{IndexOp(op), d.index(&pair[0]), d.index(&pair[1])}
		}
	}
	for op, by := range [...]*jsonBy{Product: f.Times, Quotient: f.Div, Remainder: f.Mod} {
		if by != nil {
			return Scaled{IndexOp(op), d.index(&by.X), by.By}
		}
	}
	if f.Table != "" && f.At != nil {
		return Lookup{d.ref(f.Table), d.index(f.At)}
	}
	d.errorf("an index expression is neither a number, an axis, a sum, min or max of two, times, div, mod nor a table at an index")
	return Const(0)
}

func (d *decoder) cond(c *jsonCond) Cond {
	parts := func(list []jsonCond) []Cond { return each.Of(each.Pointers(list), d.cond) }
	switch {
	case c == nil:
		return nil
	case c.Test != "":
		return TestCond{Comparison(word(d, "comparison", c.Test, comparisons[:]...)), d.index(c.X), d.index(c.Y)}
	case c.All != nil:
		return AllCond(parts(*c.All))
	case c.Any != nil:
		return AnyCond(parts(*c.Any))
	case c.Not != nil:
		return NotCond{d.cond(c.Not)}
	}
	d.errorf("a condition is neither test, all, any nor not")
	return nil
}

func (d *decoder) value(v jsonValue) *Expr {
	if v.Op == "row_max" || v.Op == "row_sum" { // of version 1
		v.Op, v.Dim = strings.Replace(v.Op, "row", "reduce", 1), len(v.Shape)-1
	}
	out := &Expr{
		Op: Op(word(d, "operation", v.Op, opNames[:]...)), Dtype: Dtype(v.Dtype), Shape: v.Shape, Index: d.index(v.Index), Dim: v.Dim,
		TransA: v.TransA, TransB: v.TransB, Pos: d.pos(v.At),
	}
	if v.Ref != "" {
		out.Ref = d.ref(v.Ref)
	}
	if v.Number != nil {
		out.Value = float64(*v.Number)
	}
	if v.Compare != "" {
		out.Cmp = Comparison(word(d, "comparison", v.Compare, comparisons[:]...))
	}
	if v.Precision != "" {
		out.Precision = Precision(word(d, "precision", v.Precision, Default.String(), Highest.String()))
	}
	for _, n := range v.Args {
		if n < 0 || n >= len(d.values) {
			d.errorf("value %d uses value %d, which does not stand before it", len(d.values), n)
			return out
		}
		out.Args = append(out.Args, d.values[n])
	}
	return out
}

func (d *decoder) body(body []jsonStmt) []*Stmt {
	var out []*Stmt
	for _, s := range body {
		x := &Stmt{Kind: StmtKind(word(d, "statement", s.Do, stmtKinds[:]...)), From: d.index(s.From), To: d.index(s.To), Cond: d.cond(s.If), Pos: d.pos(s.At)}
		if s.Ref != "" {
			x.Ref = d.ref(s.Ref)
		}
		if s.Value != nil {
			if n := *s.Value; n >= 0 && n < len(d.values) {
				x.Value = d.values[n]
			} else {
				d.errorf("there is no value %d", n)
			}
		}
		if s.Axis != "" {
			x.Axis = d.axis(s.Axis)
			if at := d.grid + d.mesh + d.loops; at >= len(d.axes) || x.Axis != d.axes[at] {
				d.errorf("loop %s is not the next of those listed", s.Axis)
			}
			d.loops++
		}
		d.copying(&s, x)
		x.Body = d.body(s.Body)
		out = append(out, x)
	}
	return out
}

// copying reads what statements about copies and signals have.
func (d *decoder) copying(s *jsonStmt, x *Stmt) {
	slot := func(s jsonSlot) Slot {
		i := slices.IndexFunc(d.counts, func(c *Semaphore) bool { return c.Name == s.Semaphore })
		if i < 0 {
			d.errorf("there is no semaphore %q", s.Semaphore)
			return Slot{}
		}
		return Slot{d.counts[i], d.index(&s.Slot)}
	}
	part := func(p jsonPart) Part { return Part{d.ref(p.Ref), Block(p.Block...).At(d.indices(p.Index)...)} }
	if c := s.Copy; c != nil {
		x.Copy = &Copy{From: part(c.From), To: part(c.To), Arrived: slot(c.Arrived), Device: d.index(c.Device)}
		if c.Along != "" {
			x.Copy.Along = d.axis(c.Along)
		}
		if c.Sent != nil {
			x.Copy.Sent = slot(*c.Sent)
		}
	}
	if g := s.Signal; g != nil {
		x.Signal = &SignalTo{slot(g.To), d.axis(g.Along), d.index(g.Device)}
	}
	if s.Slot != nil {
		x.Slot = slot(*s.Slot)
	}
	x.Count = s.Count
}

func (x *jsonIndex) UnmarshalJSON(text []byte) error {
	switch text = bytes.TrimSpace(text); {
	case len(text) > 0 && text[0] == '"':
		return json.Unmarshal(text, &x.axis)
	case len(text) > 0 && text[0] == '{':
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		return d.Decode(&x.form)
	}
	return json.Unmarshal(text, &x.n)
}

func (d *jsonDtype) UnmarshalText(text []byte) error {
	if string(text) == Bool.String() {
		*d = jsonDtype(Bool)
		return nil
	}
	return (*Dtype)(d).UnmarshalText(text)
}

func (f *jsonFloat) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"nan"`:
		*f = jsonFloat(math.NaN())
		return nil
	case `"inf"`:
		*f = jsonFloat(math.Inf(1))
		return nil
	case `"-inf"`:
		*f = jsonFloat(math.Inf(-1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(f))
}
