package scores

import (
	"matladder/problem"
	"matladder/tile"
)

// List is the blocks of scores that are computed at all, one after another: for each
// block of rows those of keys, in order. A block of rows that sees nothing is listed once,
// so that its output is written.
type List struct {
	Rows, Keys []int
	Kind       []int // Nothing, Part, Every
	Begins     []int // 1 at the first of a block of rows
	Ends       []int // 1 at the last
}

// The kinds of listed blocks.
const (
	Nothing = iota // no key is seen
	Part           // some keys of some rows are: a mask says which
	Every          // every row sees every key
)

// ListOf lists the blocks of which keep holds and some key is seen; keep is nil for all.
// Blocks that keep leaves out are hidden whole.
func ListOf(p problem.Attention, b tile.Blocks, keep func(row, key int) bool) List {
	var l List
	add := func(row, key, kind int) {
		l.Rows, l.Keys, l.Kind = append(l.Rows, row), append(l.Keys, key), append(l.Kind, kind)
		l.Begins, l.Ends = append(l.Begins, 0), append(l.Ends, 0)
	}
	for i := range tile.Ceil(p.Rows, b.M) {
		from := len(l.Rows)
		first, last := p.KeyBlocks(i, b)
		if p.Lengths && p.AtEnd {
			first, last = 0, tile.Ceil(p.Keys, b.K)-1
		}
		for j := first; j <= last; j++ {
			if keep != nil && !keep(i, j) {
				continue
			}
			kind := Part
			if tile.EvalCond(Whole(p, tile.Const(i), tile.Const(j), b), nil) {
				kind = Every
			}
			add(i, j, kind)
		}
		if len(l.Rows) == from {
			add(i, 0, Nothing)
		}
		l.Begins[from], l.Ends[len(l.Ends)-1] = 1, 1
	}
	return l
}

// Most is how long a list can be, whatever is kept.
func Most(p problem.Attention, b tile.Blocks) int { return len(ListOf(p, b, nil).Rows) }

// Tables are the list as tables of most elements, by name: those past the end repeat the
// last block and do nothing.
func (l List) Tables(most int) map[string]tile.Tensor {
	tables := map[string]tile.Tensor{}
	for name, list := range map[string][]int{"row_block": l.Rows, "key_block": l.Keys, "kind": l.Kind, "begins": l.Begins, "ends": l.Ends} {
		t := tile.NewTensor(tile.Int32, most)
		for i := range most {
			t.Set(i, float64(list[min(i, len(list)-1)]))
		}
		tables[name] = t
	}
	count := tile.NewTensor(tile.Int32, 1)
	count.Set(0, float64(len(l.Rows)))
	tables["blocks"] = count
	return tables
}
