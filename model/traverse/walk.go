package traverse

import (
	"fmt"
	"iter"
	"strings"

	"matladder/tile"
)

// steps yields every program of a launch, in program order: the programs of the sequence one
// after another, each grid with its last axis fastest. tables gives the scalar tables that index
// maps look up, by name; other arrays are not needed. The step is the same value each time. An
// error comes last, with a nil step: a table is missing, does not fit or leads outside an array,
// or through it an output block is visited twice.
func steps(programs []*tile.Program, tables map[string]tile.Tensor) iter.Seq2[*Step, error] {
	return func(yield func(*Step, error) bool) {
		if err := checkTables(programs, tables); err != nil {
			yield(nil, err)
			return
		}
		step := &Step{}
		for n, p := range programs {
			w := newWalker(p, tables, step)
			step.Program = n
			for at := range tile.Points(p.Grid) {
				w.Point = at
				if w.beyond() {
					continue
				}
				if w.enter(); w.err != nil {
					yield(nil, w.err)
					return
				}
				if !yield(step, nil) {
					return
				}
			}
		}
	}
}

// walker is one program on its way through the grid, and the tile.Env of where it is.
type walker struct {
	*tile.Point
	program *tile.Program
	tables  map[string]tile.Tensor
	follows []*follow // by visit of the step
	step    *Step
	fast    int64 // fast memory in use by this program
	pos     tile.Pos
	err     error
}

// follow is one ref on the way.
type follow struct {
	window *tile.Window
	blocks []int // of the array
	seen   blockSet
	moves  int64
}

func newWalker(p *tile.Program, tables map[string]tile.Tensor, step *Step) *walker {
	w := &walker{program: p, tables: tables, step: step}
	step.IDs = make([]int, len(p.Grid))
	step.Visits = nil
	for _, r := range p.Refs {
		if r.Kind == tile.Scratch {
			w.fast += r.BlockBytes()
			continue
		}
		f := &follow{window: tile.NewWindow(r), blocks: r.Blocks()}
		w.follows = append(w.follows, f)
		v := Visit{Ref: r}
		if r.Kind != tile.Table {
			v.Index = f.window.Index
		}
		step.Visits = append(step.Visits, v)
	}
	return w
}

// beyond reports whether an axis of w.Point is past its bound: the program is not run.
func (w *walker) beyond() bool {
	for _, a := range w.program.Grid {
		if a.Bound == nil {
			continue
		}
		w.pos = a.Pos()
		n := tile.Eval(a.Bound, w)
		if n < 0 || n > a.Size {
			w.fail("axis %s: its bound %s is %d, want 0 … %d", a.Name, a.Bound, n, a.Size)
		}
		if w.ProgramID(a) >= n && w.err == nil {
			return true
		}
	}
	return false
}

// enter goes to the program of w.Point: every ref moves to its block, and the
// step's counters go on.
func (w *walker) enter() {
	if w.err != nil {
		return
	}
	sameParallel := w.sameParallel()
	copy(w.step.IDs, w.IDs())
	w.step.GridSteps++
	for i, f := range w.follows {
		v := &w.step.Visits[i]
		v.Move, v.Bytes = Kept, 0
		if v.Ref.Kind == tile.Table {
			w.table(f, v)
		} else {
			w.block(f, v, sameParallel)
		}
		if w.err != nil {
			return
		}
		w.step.add(v)
	}
	w.step.FastBytes = max(w.step.FastBytes, w.fast)
}

// table brings a scalar table in at the first step.
func (w *walker) table(f *follow, v *Visit) {
	if f.moves > 0 {
		return
	}
	f.moves++
	v.Move, v.Bytes = First, v.Ref.ArrayBytes()
	w.fast += v.Ref.BlockBytes()
}

// block moves an input or output to its block of this step.
func (w *walker) block(f *follow, v *Visit, sameParallel bool) {
	w.pos = v.Ref.Pos
	moved := f.window.Move(w)
	if w.err != nil {
		return
	}
	for d, n := range f.blocks {
		if at := v.Index[d]; at < 0 || at >= n {
			w.fail("%s: block [%s] at %s is outside the array, which has [%s] blocks", v.Ref.Name, commas(v.Index), w, commas(f.blocks))
			return
		}
	}
	if !moved {
		if v.Ref.Kind == tile.Out && !sameParallel {
			w.fail("%s: block [%s] at %s is the block of another parallel program", v.Ref.Name, commas(v.Index), w)
		}
		return
	}
	if f.moves++; f.moves <= 2 {
		w.fast += v.Ref.BlockBytes()
	}
	v.Bytes = f.window.Bytes()
	v.Move = First
	if !f.seen.add(number(v.Index, f.blocks)) {
		return
	}
	v.Move = Again
	if v.Ref.Kind == tile.Out {
		w.fail("%s: block [%s] is visited again at %s after it was left", v.Ref.Name, commas(v.Index), w)
	}
}

// sameParallel reports whether the step before was at the same place of the parallel axes.
func (w *walker) sameParallel() bool {
	for d, a := range w.program.Grid {
		if a.Semantics == tile.Parallel && w.IDs()[d] != w.step.IDs[d] {
			return false
		}
	}
	return true
}

// TableValue implements tile.Env.
func (w *walker) TableValue(table *tile.Ref, i int) int {
	t := w.tables[table.Name]
	if i < 0 || i >= t.Len() {
		w.fail("%s[%d] at %s is outside the table, whose size is %d", table.Name, i, w, t.Len())
		return 0
	}
	return int(t.At(i))
}

func (w *walker) fail(format string, args ...any) {
	if w.err == nil {
		w.err = &tile.Error{Pos: w.pos, Program: w.program.Name, Msg: fmt.Sprintf(format, args...)}
	}
}

// checkTables compares the tables given with those that programs have.
func checkTables(programs []*tile.Program, tables map[string]tile.Tensor) error {
	known := map[string]bool{}
	for _, p := range programs {
		for _, r := range p.RefsOf(tile.Table) {
			known[r.Name] = true
			t, ok := tables[r.Name]
			if !ok {
				return &tile.Error{Pos: r.Pos, Program: p.Name, Msg: fmt.Sprintf("table %s of %d is not given, and index maps may look it up", r.Name, r.Array[0])}
			}
			if err := t.Matches(r); err != nil {
				return fmt.Errorf("traverse: table %w", err)
			}
		}
	}
	for name := range tables {
		if !known[name] {
			return fmt.Errorf("traverse: no program has a table %s", name)
		}
	}
	return nil
}

// number counts blocks in row-major order.
func number(index, blocks []int) int64 {
	n := int64(0)
	for d, at := range index {
		n = n*int64(blocks[d]) + int64(at)
	}
	return n
}

func commas(xs []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(xs), " ", ", "), "[]")
}
