package tile

import (
	"errors"
	"slices"
)

// maxErrors bounds how many mistakes one program reports.
const maxErrors = 10

// Builder collects a program. Mistakes do not interrupt it: they are collected
// with the line that made them and returned by Programs.
type Builder struct {
	program *Program
	body    *[]*Stmt // where statements go: the program's body, or that of the innermost When or Loop
	errs    []error
}

// New starts a program; name is that of the kernel.
func New(name string) *Builder {
	p := &Program{Name: name}
	return &Builder{program: p, body: &p.Body}
}

// Axis adds an axis of size programs to the grid; the axis added last is the fastest.
func (t *Builder) Axis(name string, size int, s Semantics) *Axis {
	return t.BoundedAxis(name, size, s, nil)
}

// BoundedAxis adds an axis along which as many programs run as an element of a table says: bound
// is Table.At(Const). There are at most size of them. Index maps must be in range for all size,
// as a machine may follow them that cannot end the grid early.
func (t *Builder) BoundedAxis(name string, size int, s Semantics, bound IndexExpr) *Axis {
	a := &Axis{Name: name, Size: size, Semantics: s, Bound: bound, pos: callerPos()}
	t.program.Grid = append(t.program.Grid, a)
	return a
}

// In declares an input array and the block of it that each program sees.
func (t *Builder) In(name string, d Dtype, array ArrayShape, spec BlockSpec) *Ref {
	return t.ref(arrayRef(name, In, d, array, spec))
}

// Out declares an output array and the block of it that each program writes.
func (t *Builder) Out(name string, d Dtype, array ArrayShape, spec BlockSpec) *Ref {
	return t.ref(arrayRef(name, Out, d, array, spec))
}

func arrayRef(name string, kind RefKind, d Dtype, array ArrayShape, spec BlockSpec) *Ref {
	if spec.main { // one block, that nobody brings
		spec = Block(array...)
		spec.Index = slices.Repeat([]IndexExpr{Const(0)}, len(array))
		spec.main = true
	}
	return &Ref{Name: name, Kind: kind, Dtype: d, Array: array, Block: spec.Shape, Index: spec.Index, Steps: spec.Steps, Main: spec.main, Buffers: spec.buffers}
}

// Scratch declares memory that one worker keeps from program to program.
func (t *Builder) Scratch(name string, d Dtype, dims ...int) *Ref {
	return t.ref(&Ref{Name: name, Kind: Scratch, Dtype: d, Array: dims, Block: dims})
}

// Table declares n int32 scalars that index maps and conditions may look up.
func (t *Builder) Table(name string, n int) *Ref {
	return t.ref(&Ref{Name: name, Kind: Table, Dtype: Int32, Array: []int{n}, Block: []int{n}})
}

// At is element x of a scalar table, as an index expression.
func (r *Ref) At(x IndexExpr) IndexExpr { return Lookup{r, x} }

func (t *Builder) ref(r *Ref) *Ref {
	r.Pos = callerPos()
	t.program.Refs = append(t.program.Refs, r)
	return r
}

// Fill sets every element of r to x.
func (t *Builder) Fill(r *Ref, x float64) {
	t.write(Fill, r, newExpr(&Expr{Op: OpConst, Value: x, Dtype: r.Dtype}))
}

// Store sets r to v, whose dtype must be r's and whose shape must broadcast to r's.
func (t *Builder) Store(r *Ref, v Value) { t.put(Store, r, v.value()) }

// StoreRows is Store of rows from … to-1 alone, counted along the first dimension of r.Shape();
// the others keep what they hold. What of from … to-1 is no row of the block is left out.
func (t *Builder) StoreRows(r *Ref, from, to IndexExpr, v Value) {
	before := len(*t.body)
	t.Store(r, v)
	for _, s := range (*t.body)[before:] {
		s.From, s.To, s.Pos = from, to, callerPos()
	}
}

// Accumulate adds v to r. The sum is taken in v's dtype and rounded to r's:
// v is of r's dtype, or a float32 added to a narrower float.
func (t *Builder) Accumulate(r *Ref, v Value) { t.put(Accumulate, r, v.value()) }

// put is Store or Accumulate.
func (t *Builder) put(kind StmtKind, r *Ref, e *Expr) {
	if e.err == nil && e.Dtype == InvalidDtype {
		e = typed(e, r.Dtype)
	}
	if e.err == nil && !kind.takes(e.Dtype, r.Dtype) {
		e = failed("%s: %s is %s, the value %s: cast it", kind, r.Name, r.Dtype, e.Dtype)
	}
	t.write(kind, r, Broadcast(e, r.Shape()...))
}

// takes reports whether a Store or Accumulate into a ref of dtype to may have a value of dtype
// from.
func (k StmtKind) takes(from, to Dtype) bool {
	return from == to || k == Accumulate && from == Float32 && to.IsFloat()
}

func (t *Builder) write(kind StmtKind, r *Ref, e *Expr) {
	if e.err != nil {
		t.fail(e.err)
		return
	}
	t.add(&Stmt{Kind: kind, Ref: r, Value: e})
}

// When runs what body adds only in the programs where c holds.
func (t *Builder) When(c Cond, body func()) { t.nest(&Stmt{Kind: When, Cond: c}, body) }

// Loop repeats what body adds for its variable = 0 … n-1, inside each program.
func (t *Builder) Loop(name string, n int, body func(*Axis)) {
	a := &Axis{Name: name, Size: n, Semantics: Arbitrary, Loop: true, pos: callerPos()}
	t.nest(&Stmt{Kind: Loop, Axis: a}, func() { body(a) })
}

func (t *Builder) nest(s *Stmt, body func()) {
	t.add(s)
	outer := t.body
	t.body = &s.Body
	body()
	t.body = outer
}

func (t *Builder) fail(err error) {
	var e *Error
	if errors.As(err, &e) && e.Program == "" {
		err = &Error{e.Pos, t.program.Name, e.Msg}
	}
	if len(t.errs) < maxErrors {
		t.errs = append(t.errs, err)
	}
}

// Programs returns the program, verified, as a sequence of one; or every mistake found, joined.
func (t *Builder) Programs() ([]*Program, error) {
	if len(t.errs) > 0 {
		return nil, errors.Join(t.errs...)
	}
	if err := t.program.Verify(); err != nil {
		return nil, err
	}
	return []*Program{t.program}, nil
}
