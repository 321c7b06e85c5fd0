package tile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"matladder/internal/each"
)

// A program as JSON. Pointers of a Program become references: to refs and axes by name, to
// expressions by their position in Values, so that an expression with two uses is written
// once. Where several axes have one name (two loops may), each is written name#n: the n-th
// of grid axes and then loops, counted from 1. At is the FILE:LINE in the kernel's source
// that verification names.
//
// An operation is written by its name in opNames. One that has a field of its own in Expr
// needs it in three places: jsonValue, encoder.value and decoder.value. New kinds of index
// expression, condition and statement go likewise by jsonForm, jsonCond and jsonStmt. What
// an older program could not read is a new version in format.
type (
	jsonFile struct {
		Format   string         `json:"format"`
		Programs []*jsonProgram `json:"programs"`
	}
	jsonProgram struct {
		Name   string      `json:"name"`
		Grid   []jsonAxis  `json:"grid"`
		Refs   []jsonRef   `json:"refs"`
		Loops  []jsonAxis  `json:"loops,omitempty"` // in the order in which the body has them
		Values []jsonValue `json:"values"`          // operands before what uses them
		Body   []jsonStmt  `json:"body"`

		Mesh       []jsonAxis      `json:"mesh,omitempty"`
		Semaphores []jsonSemaphore `json:"semaphores,omitempty"`
	}
	jsonSemaphore struct {
		Name   string `json:"name"`
		Counts string `json:"counts"`
		Slots  int    `json:"slots"`
		At     string `json:"at,omitempty"`
	}
	jsonSlot struct {
		Semaphore string    `json:"semaphore"`
		Slot      jsonIndex `json:"slot"`
	}
	jsonPart struct {
		Ref   string      `json:"ref"`
		Block []int       `json:"block"`
		Index []jsonIndex `json:"index"`
	}
	jsonCopy struct {
		From    jsonPart   `json:"from"`
		To      jsonPart   `json:"to"`
		Arrived jsonSlot   `json:"arrived"`
		Sent    *jsonSlot  `json:"sent,omitempty"` // of a copy to another device, as the next
		Along   string     `json:"along,omitempty"`
		Device  *jsonIndex `json:"device,omitempty"`
	}
	jsonSignal struct {
		To     jsonSlot   `json:"to"`
		Along  string     `json:"along"`
		Device *jsonIndex `json:"device"`
	}
	jsonAxis struct {
		Name      string     `json:"name"`
		Size      int        `json:"size"`
		Semantics string     `json:"semantics,omitempty"` // of grid axes only
		Bound     *jsonIndex `json:"bound,omitempty"`     // of grid axes only: an element of a table
		At        string     `json:"at,omitempty"`
	}
	jsonRef struct {
		Name    string      `json:"name"`
		Kind    string      `json:"kind"`
		Dtype   jsonDtype   `json:"dtype"`
		Array   []int       `json:"array"`
		Block   []int       `json:"block,omitempty"` // -1 is squeezed
		Index   []jsonIndex `json:"index,omitempty"`
		Every   []int       `json:"every,omitempty"` // elements from one block to the next
		Main    bool        `json:"main,omitempty"`
		Buffers int         `json:"buffers,omitempty"`
		At      string      `json:"at,omitempty"`
	}
	jsonStmt struct {
		Do    string     `json:"do"`
		Ref   string     `json:"ref,omitempty"`
		Value *int       `json:"value,omitempty"`
		From  *jsonIndex `json:"from,omitempty"` // of a store of some rows
		To    *jsonIndex `json:"to,omitempty"`
		If    *jsonCond  `json:"if,omitempty"`
		Axis  string     `json:"axis,omitempty"`
		Body  []jsonStmt `json:"body,omitempty"`
		At    string     `json:"at,omitempty"`

		Copy   *jsonCopy   `json:"copy,omitempty"`
		Signal *jsonSignal `json:"signal,omitempty"`
		Slot   *jsonSlot   `json:"slot,omitempty"` // of await, as the next
		Count  int         `json:"count,omitempty"`
	}
	jsonValue struct {
		Op        string     `json:"op"`
		Args      []int      `json:"args,omitempty"`
		Dtype     jsonDtype  `json:"dtype"`
		Shape     []int      `json:"shape,omitempty"`
		Ref       string     `json:"ref,omitempty"`
		Index     *jsonIndex `json:"index,omitempty"`
		Dim       int        `json:"dim,omitempty"`
		Number    *jsonFloat `json:"number,omitempty"`
		Compare   string     `json:"compare,omitempty"`
		TransA    bool       `json:"trans_a,omitempty"`
		TransB    bool       `json:"trans_b,omitempty"`
		Precision string     `json:"precision,omitempty"`
		At        string     `json:"at,omitempty"`
	}
	// jsonIndex is a number, the name of an axis, or one of the forms below.
	jsonIndex struct {
		n    *int
		axis string
		form *jsonForm
	}
	jsonForm struct {
		Sum   []jsonIndex `json:"sum,omitempty"` // exactly two
		Times *jsonBy     `json:"times,omitempty"`
		Div   *jsonBy     `json:"div,omitempty"`
		Mod   *jsonBy     `json:"mod,omitempty"`
		Min   []jsonIndex `json:"min,omitempty"` // exactly two
		Max   []jsonIndex `json:"max,omitempty"` // exactly two
		Table string      `json:"table,omitempty"`
		At    *jsonIndex  `json:"at,omitempty"` // the index into the table; not a position
	}
	// jsonBy is x times, divided by, or modulo a constant.
	jsonBy struct {
		X  jsonIndex `json:"x"`
		By int       `json:"by"`
	}
	jsonCond struct {
		Test string      `json:"test,omitempty"` // a comparison of X and Y
		X    *jsonIndex  `json:"x,omitempty"`
		Y    *jsonIndex  `json:"y,omitempty"`
		All  *[]jsonCond `json:"all,omitempty"`
		Any  *[]jsonCond `json:"any,omitempty"`
		Not  *jsonCond   `json:"not,omitempty"`
	}
	// jsonFloat is a number, or inf, -inf or nan in quotes.
	jsonFloat float64
	// jsonDtype is a Dtype, bool included.
	jsonDtype Dtype
)

// format is the first field of a file: what it is, and the version of the form.
//
// Version 2 has exp2, log, reductions along any dimension, min and max of indices,
// bounds of axes and stores of some rows. Of version 1, which ReadPrograms reads too,
// reductions were row_max and row_sum. Version 3 has copies, semaphores and meshes; programs
// without are written as version 2. Version 4 has blocks that overlap.
const (
	formatSteps  = "matladder tile programs 4"
	formatCopies = "matladder tile programs 3"
	format       = "matladder tile programs 2"
	formatBefore = "matladder tile programs 1"
)

// WritePrograms writes programs that run in order as JSON that ReadPrograms reads.
func WritePrograms(w io.Writer, programs []*Program) error {
	f := jsonFile{Format: format, Programs: []*jsonProgram{}}
	for _, p := range programs {
		f.Programs = append(f.Programs, encode(p))
		if slices.ContainsFunc(p.Refs, (*Ref).Overlap) {
			f.Format = formatSteps
		}
		if f.Format == format && (p.CopiesItself() || slices.ContainsFunc(p.Refs, func(r *Ref) bool { return r.Buffers > 0 })) {
			f.Format = formatCopies
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return fmt.Errorf("tile: programs as JSON: %w", err)
	}
	_, err := w.Write(append(breakLines(nil, bytes.TrimSpace(text.Bytes()), 0), '\n'))
	return err
}

type encoder struct {
	axes      []*Axis // of the grid, then of loops
	values    []jsonValue
	positions map[*Expr]int // in values
}

func encode(p *Program) *jsonProgram {
	e := &encoder{positions: map[*Expr]int{}}
	out := &jsonProgram{Name: p.Name, Grid: []jsonAxis{}, Refs: []jsonRef{}}
	add := func(list *[]jsonAxis, a *Axis, semantics string) {
		e.axes = append(e.axes, a)
		*list = append(*list, jsonAxis{a.Name, a.Size, semantics, e.index(a.Bound), source(a.pos)})
	}
	for _, a := range p.Grid {
		add(&out.Grid, a, a.Semantics.String())
	}
	for _, a := range p.Mesh {
		add(&out.Mesh, a, "")
	}
	out.Semaphores = each.Of(p.Semaphores, func(s *Semaphore) jsonSemaphore {
		return jsonSemaphore{s.Name, s.Kind.String(), s.Slots, source(s.Pos)}
	})
	p.Walk(func(s *Stmt) {
		if s.Axis != nil {
			add(&out.Loops, s.Axis, "")
		}
	})
	for _, r := range p.Refs {
		out.Refs = append(out.Refs, jsonRef{r.Name, r.Kind.String(), jsonDtype(r.Dtype), r.Array, r.Block, e.indices(r.Index...), r.Steps, r.Main, r.Buffers, source(r.Pos)})
	}
	out.Body = e.body(p.Body)
	out.Values = e.values
	return out
}

// source is a position as FILE:LINE, empty if there is none.
func source(p Pos) string {
	if p == (Pos{}) {
		return ""
	}
	return p.String()
}

// axis is the name of an axis, with #n where others have it too.
func (e *encoder) axis(a *Axis) string {
	namesakes := each.That(e.axes, func(b *Axis) bool { return b.Name == a.Name })
	if len(namesakes) == 1 { // itself
		return a.Name
	}
	return fmt.Sprintf("%s#%d", a.Name, slices.Index(e.axes, a)+1)
}

func (e *encoder) indices(xs ...IndexExpr) []jsonIndex {
	return each.Of(xs, func(x IndexExpr) jsonIndex { return *e.index(x) })
}

func (e *encoder) index(x IndexExpr) *jsonIndex {
	switch x := x.(type) {
	case nil:
		return nil
	case Const:
		return &jsonIndex{n: new(int(x))}
	case *Axis:
		return &jsonIndex{axis: e.axis(x)}
	case Joined:
		pair := e.indices(x.X, x.Y)
		return &jsonIndex{form: [...]*jsonForm{Sum: {Sum: pair}, Minimum: {Min: pair}, Maximum: {Max: pair}}[x.Op]}
	case Scaled:
		by := &jsonBy{*e.index(x.X), x.By}
		return &jsonIndex{form: [...]*jsonForm{Product: {Times: by}, Quotient: {Div: by}, Remainder: {Mod: by}}[x.Op]}
	case Lookup:
		return &jsonIndex{form: &jsonForm{Table: x.Table.Name, At: e.index(x.At)}}
	}
	panic(fmt.Sprintf("tile: no such index expression: %T", x))
}

func (e *encoder) cond(c Cond) *jsonCond {
	parts := func(cs []Cond) *[]jsonCond {
		return new(each.Of(cs, func(c Cond) jsonCond { return *e.cond(c) }))
	}
	switch c := c.(type) {
	case nil:
		return nil
	case TestCond:
		return &jsonCond{Test: c.Op.String(), X: e.index(c.X), Y: e.index(c.Y)}
	case AllCond:
		return &jsonCond{All: parts(c)}
	case AnyCond:
		return &jsonCond{Any: parts(c)}
	case NotCond:
		return &jsonCond{Not: e.cond(c.Cond)}
	}
	panic(fmt.Sprintf("tile: no such condition: %T", c))
}

// value returns the position of x in values, where it adds x and its operands unless they
// are there.
func (e *encoder) value(x *Expr) int {
	if n, ok := e.positions[x]; ok {
		return n
	}
	out := jsonValue{Op: x.Op.String(), Dtype: jsonDtype(x.Dtype), Shape: x.Shape, Index: e.index(x.Index), Dim: x.Dim, TransA: x.TransA, TransB: x.TransB, At: source(x.Pos)}
	switch x.Op {
	case OpLoad, OpInBounds:
		out.Ref = x.Ref.Name
	case OpConst:
		out.Number = new(jsonFloat(x.Value))
	case OpCompare:
		out.Compare = x.Cmp.String()
	case OpDot:
		if x.Precision != Default {
			out.Precision = x.Precision.String()
		}
	}
	out.Args = each.Of(x.Args, e.value)
	e.values = append(e.values, out)
	e.positions[x] = len(e.values) - 1
	return e.positions[x]
}

func (e *encoder) body(body []*Stmt) []jsonStmt {
	out := []jsonStmt{}
	for _, s := range body {
		x := jsonStmt{Do: s.Kind.String(), From: e.index(s.From), To: e.index(s.To), If: e.cond(s.Cond), At: source(s.Pos)}
		if s.Ref != nil {
			x.Ref = s.Ref.Name
		}
		if s.Value != nil {
			x.Value = new(e.value(s.Value))
		}
		if s.Axis != nil {
			x.Axis = e.axis(s.Axis)
		}
		e.copying(s, &x)
		if len(s.Body) > 0 {
			x.Body = e.body(s.Body)
		}
		out = append(out, x)
	}
	return out
}

// copying adds what statements about copies and signals have.
func (e *encoder) copying(s *Stmt, x *jsonStmt) {
	slot := func(s Slot) jsonSlot { return jsonSlot{s.Semaphore.Name, *e.index(s.Index)} }
	part := func(p Part) jsonPart { return jsonPart{p.Ref.Name, p.BlockSpec.Shape, e.indices(p.Index...)} }
	if c := s.Copy; c != nil {
		x.Copy = &jsonCopy{From: part(c.From), To: part(c.To), Arrived: slot(c.Arrived)}
		if c.Remote() {
			x.Copy.Sent, x.Copy.Along, x.Copy.Device = new(slot(c.Sent)), e.axis(c.Along), e.index(c.Device)
		}
	}
	if g := s.Signal; g != nil {
		x.Signal = &jsonSignal{slot(g.To), e.axis(g.Along), e.index(g.Device)}
	}
	if s.Kind == Await {
		x.Slot, x.Count = new(slot(s.Slot)), s.Count
	}
}

func (x jsonIndex) MarshalJSON() ([]byte, error) {
	switch {
	case x.n != nil:
		return json.Marshal(*x.n)
	case x.form != nil:
		return json.Marshal(x.form)
	}
	return json.Marshal(x.axis)
}

func (d jsonDtype) MarshalText() ([]byte, error) { return []byte(Dtype(d).String()), nil }

func (f jsonFloat) MarshalJSON() ([]byte, error) {
	switch v := float64(f); {
	case math.IsNaN(v):
		return []byte(`"nan"`), nil
	case math.IsInf(v, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-inf"`), nil
	default:
		return json.Marshal(v)
	}
}
