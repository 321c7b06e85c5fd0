package interp

import (
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// write runs a Fill, Store or Accumulate: it evaluates the value, then writes
// what of it lies inside the array.
func (m *machine) write(s *tile.Stmt) {
	v := m.byRef[s.Ref]
	clear(m.memo)
	m.follow(s)
	value := m.eval(s.Value)
	if m.err != nil {
		return
	}
	inRows := m.rows(s)
	if s.Ref.Kind == tile.Scratch {
		for i := range v.array.val {
			if inRows(i) {
				m.writeElement(s, v, i, value, i)
			}
		}
		return
	}
	v.runs(func(r run) {
		if r.outside != 0 || m.err != nil {
			return
		}
		for i := range r.inside {
			if inRows(r.block + i) {
				m.writeElement(s, v, r.array+i, value, r.block+i)
			}
		}
	})
}

// rows tells which elements of a block s writes.
func (m *machine) rows(s *tile.Stmt) func(i int) bool {
	if !s.IsPart() {
		return func(int) bool { return true }
	}
	_, _, inner := dims(s.Ref.Shape(), 0)
	from, to := tile.Eval(s.From, m), tile.Eval(s.To, m)
	return func(i int) bool { return i/inner >= from && i/inner < to && m.err == nil }
}

// writeElement writes element b of the value to element a of the array.
func (m *machine) writeElement(s *tile.Stmt, v *view, a int, value block, b int) {
	if len(s.Value.Shape) == 0 {
		b = 0
	}
	x, st := value.val[b], value.at(b)
	if s.Kind == tile.Accumulate {
		x += v.array.val[a]
		st |= v.array.state[a]
	}
	if st != 0 && s.Ref.Kind == tile.Out {
		m.failUnknown(s, v, a, st)
		return
	}
	if v.stored != nil {
		if before := v.stored[a]; before != 0 && before != v.blocks {
			m.fail("%s %s%s: another block of it that overlaps this one has stored that: which of both remains is left to the machine", s.Kind, v.element(a), m.where())
			return
		}
		v.stored[a] = v.blocks
	}
	v.array.val[a] = toMemory(v.array.dtype, x)
	v.array.state[a] = st
}

// toMemory rounds a float to d; an integer, which an accumulation may have
// brought out of range, wraps.
func toMemory(d tile.Dtype, x float64) float64 {
	if d.IsInteger() {
		return wrap(d, int64(x))
	}
	return d.Round(x)
}

// failUnknown reports an output element that was to come from padding or from
// memory never written, with the refs that brought it.
func (m *machine) failUnknown(s *tile.Stmt, v *view, a int, st state) {
	kind, what := allPad, "depends on padding of"
	if st&poison != 0 {
		kind, what = poison, "depends on memory never written:"
	}
	var names []string
	if s.Kind == tile.Accumulate && v.array.state[a]&kind != 0 {
		names = append(names, s.Ref.Name)
	}
	names = m.origins(s.Value, kind, names, map[*tile.Expr]bool{})
	slices.Sort(names)
	m.fail("%s %s%s %s %s", s.Kind, v.element(a), m.where(), what, strings.Join(slices.Compact(names), ", "))
}

// origins adds to names the refs by whose loads elements of e may have come to a
// state of that kind.
func (m *machine) origins(e *tile.Expr, kind state, names []string, seen map[*tile.Expr]bool) []string {
	if seen[e] || m.memo[e].worst()&kind == 0 {
		return names
	}
	seen[e] = true
	if e.Op == tile.OpLoad {
		return append(names, e.Ref.Name)
	}
	for i, arg := range e.Args {
		k := kind
		switch {
		case e.Op == tile.OpDot:
			k &^= contraction(e, i)
		case k&lostPad != 0: // of whatever dimension it was before
			k = allPad
		}
		names = m.origins(arg, k, names, seen)
	}
	return names
}

// enter starts a program: it evaluates the index maps, and poisons scratch
// unless the program continues the one before.
func (m *machine) enter(continued bool) {
	for _, v := range m.views {
		switch v.ref.Kind {
		case tile.Scratch:
			if !continued && !v.ref.Main {
				v.array.poison()
			}
		case tile.Table:
			m.fetch(v, v.index, continued) // the whole of it, always
		default:
			if v.ref.Main { // nobody brings it
				continue
			}
			m.pos = v.ref.Pos
			m.fetch(v, each.Of(v.ref.Index, func(x tile.IndexExpr) int { return tile.Eval(x, m) }), continued)
		}
		if m.err != nil {
			return
		}
	}
}

// fetch makes index the block that v sees, and counts it if it was another.
func (m *machine) fetch(v *view, index []int, continued bool) {
	if v.fetched && slices.Equal(index, v.index) && (continued || v.ref.Kind != tile.Out) {
		return
	}
	for d, n := range v.ref.Blocks() {
		if v.ref.Kind != tile.Table && (index[d] < 0 || index[d] >= n) {
			m.fail("%s: block [%s]%s is outside the array, which has [%s] blocks",
				v.ref.Name, commas(index), m.where(), commas(v.ref.Blocks()))
			return
		}
	}
	copy(v.index, index)
	v.fetched, v.loaded = true, nil
	if v.ref.Kind == tile.Out {
		m.visit(v)
	}
	v.blocks++
	v.bytes += (&tile.Window{Ref: v.ref, Index: v.index}).Bytes()
}

// visit fails if v's current block was visited before: a device has written it
// back then, and does not bring it in again.
func (m *machine) visit(v *view) {
	key := 0
	for d, n := range v.ref.Blocks() {
		key = key*n + v.index[d]
	}
	var axes []*tile.Axis
	var ids []int
	for _, a := range m.program.Grid {
		if a.Semantics == tile.Parallel {
			axes, ids = append(axes, a), append(ids, m.ids[a])
		}
	}
	before, visited := v.visits[key]
	switch {
	case !visited:
		v.visits[key] = ids
	case slices.Equal(before, ids):
		m.fail("%s: block [%s] is visited again%s after it was left", v.ref.Name, commas(v.index), m.where())
	default:
		m.fail("%s: block [%s]%s is the block of another parallel program, %s",
			v.ref.Name, commas(v.index), m.where(), assignments(axes, before))
	}
}

func commas(xs []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(xs), " ", ", "), "[]")
}
