package interp

import (
	"fmt"
	"slices"
	"strings"

	"matladder/tile"
)

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
			index := make([]int, v.rank)
			for d, x := range v.ref.Index {
				index[d] = tile.Eval(x, m)
			}
			m.fetch(v, index, continued)
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
