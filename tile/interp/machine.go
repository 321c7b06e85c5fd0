package interp

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// machine runs one program. The first error stops it: whoever reads a value
// checks err before writing it.
type machine struct {
	ctx     context.Context
	program *tile.Program
	views   []*view // in the order of the program's refs
	byRef   map[*tile.Ref]*view
	ids     map[*tile.Axis]int // program ids and loop variables
	loops   []*tile.Axis       // loops that are running, outermost first
	pos     tile.Pos           // of the statement or index map being evaluated
	memo    map[*tile.Expr]block
	steps   int64
	err     error

	coordinates []int // of the device, along the axes of the mesh
	world       *world
	turn        *tile.Turn

	watchDot func(m *machine, dot *tile.Expr, a, b block) // nil but in tests
}

func newMachine(ctx context.Context, p *tile.Program, arrays map[string]*array) *machine {
	m := &machine{ctx: ctx, program: p, byRef: map[*tile.Ref]*view{}, ids: map[*tile.Axis]int{}, memo: map[*tile.Expr]block{}}
	for _, r := range p.Refs {
		a := arrays[r.Name]
		if r.Kind == tile.Scratch {
			a = unwritten(r)
		}
		v := newView(r, a)
		m.views = append(m.views, v)
		m.byRef[r] = v
	}
	return m
}

// run runs the programs of the grid in the order given.
func (m *machine) run(order iter.Seq[[]int]) error {
	for ids := range order {
		for d, a := range m.program.Grid {
			m.ids[a] = ids[d]
		}
		m.checkContext()
		if m.beyond() {
			continue
		}
		continued := continues(m.program.Grid, ids)
		if !continued && m.steps > 0 && m.world.flight != nil && m.err == nil {
			m.err = m.world.flight.Ended(m.turn.Device)
		}
		m.enter(continued)
		m.exec(m.program.Body)
		if m.err != nil {
			return m.err
		}
		m.steps++
	}
	return m.err
}

// written fails if an element of an output was never written; if none is, the arrays are good.
func (m *machine) written() error {
	for _, v := range m.views {
		if v.ref.Kind != tile.Out {
			continue
		}
		if i := slices.IndexFunc(v.array.state, func(s state) bool { return s != 0 }); i >= 0 {
			m.failAt(v.ref.Pos, "%s is never written", v.element(i))
			break
		}
		v.array.state = nil
	}
	return m.err
}

// beyond reports whether an axis of the current program is past its bound. What
// such a program would see must be in range, though it is not run.
func (m *machine) beyond() bool {
	left := false
	for _, a := range m.program.Grid {
		if a.Bound == nil {
			continue
		}
		n := tile.Eval(a.Bound, m)
		if m.err == nil && (n < 0 || n > a.Size) {
			m.failAt(a.Pos(), "axis %s: its bound %s is %d, want 0 … %d", a.Name, a.Bound, n, a.Size)
		}
		left = left || m.ids[a] >= n
	}
	for _, v := range m.views {
		if !left || m.err != nil {
			break
		}
		for d, x := range v.ref.Index {
			if i, n := tile.Eval(x, m), v.ref.Blocks()[d]; m.err == nil && (i < 0 || i >= n) {
				m.failAt(v.ref.Pos, "%s: block %d along dimension %d%s, where a bound ends the grid, is outside the array, which has %d: fill the table to its end",
					v.ref.Name, i, d, m.where(), n)
			}
		}
	}
	return left && m.err == nil
}

// exec runs statements.
func (m *machine) exec(body []*tile.Stmt) {
	for _, s := range body {
		if m.err != nil {
			return
		}
		m.pos = s.Pos
		switch s.Kind {
		case tile.Fill, tile.Store, tile.Accumulate:
			m.write(s)
		case tile.When:
			if tile.EvalCond(s.Cond, m) && m.err == nil {
				m.exec(s.Body)
			}
		case tile.Loop:
			m.loops = append(m.loops, s.Axis)
			for i := range s.Axis.Size {
				m.ids[s.Axis] = i
				m.exec(s.Body)
			}
			m.loops = m.loops[:len(m.loops)-1]
		default:
			m.copying(s)
		}
	}
}

// ProgramID and TableValue make the machine a tile.Env.
func (m *machine) ProgramID(a *tile.Axis) int {
	if a.Mesh {
		return m.coordinates[slices.Index(m.program.Mesh, a)]
	}
	return m.ids[a]
}

// TableValue fails, and returns 0, if the table has no element i.
func (m *machine) TableValue(table *tile.Ref, i int) int {
	a := m.byRef[table].array
	if i < 0 || i >= len(a.val) {
		m.fail("%s[%d]%s is outside the table, whose size is %d", table.Name, i, m.where(), len(a.val))
		return 0
	}
	return int(a.val[i])
}

// fail stops the machine with a mistake at the current position, unless it has stopped already.
func (m *machine) fail(format string, args ...any) { m.failAt(m.pos, format, args...) }

func (m *machine) failAt(pos tile.Pos, format string, args ...any) {
	if m.err == nil {
		m.err = &tile.Error{Pos: pos, Program: m.program.Name, Msg: fmt.Sprintf(format, args...)}
	}
}

// checkContext stops the machine if its context has ended.
func (m *machine) checkContext() {
	if err := m.ctx.Err(); err != nil && m.err == nil {
		m.err = fmt.Errorf("interp: %s stopped after %d of %d grid steps: %w", m.program.Name, m.steps, m.program.Steps(), err)
	}
}

// where names the current program: " at i=0, k=2"; "" if there is but one.
func (m *machine) where() string {
	axes := slices.Concat(m.program.Mesh, m.program.Grid, m.loops)
	if len(axes) == 0 {
		return ""
	}
	return " at " + assignments(axes, each.Of(axes, m.ProgramID))
}

// assignments prints i=0, k=2.
func assignments(axes []*tile.Axis, ids []int) string {
	return strings.Trim(tile.PointAt(axes, ids).String(), "()")
}

// element names element i of v's array: o[3, 5].
func (v *view) element(i int) string {
	parts := each.Upto(v.rank, func(d int) string { return fmt.Sprint(i / v.strides[d] % v.ref.Array[d]) })
	return v.ref.Name + "[" + strings.Join(parts, ", ") + "]"
}
