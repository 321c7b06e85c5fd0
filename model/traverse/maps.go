package traverse

import (
	"context"
	"fmt"
	"io"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// mapSide is how many rows and columns of blocks a map shows.
const mapSide = 16

// WriteMaps writes for each array of a launch how often its blocks are moved, and a map
// of them with the step that moves each first; of an array of more than two dimensions
// that of its first matrix. Totals of the launch follow.
func WriteMaps(ctx context.Context, out io.Writer, programs []*tile.Program, tables map[string]tile.Tensor) error {
	var maps []*blockMap
	first, program := 0, -1 // of maps, and the program they are of
	totals, err := walk(ctx, programs, tables, func(s *Step) error {
		if s.Program != program {
			first, program = len(maps), s.Program
			for _, v := range s.Visits {
				maps = append(maps, newBlockMap(v.Ref))
			}
		}
		for i := range s.Visits {
			maps[first+i].add(&s.Visits[i], s.GridSteps)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var text strings.Builder
	for i, m := range maps {
		r := &totals.Refs[i]
		if len(programs) > 1 && (i == 0 || totals.Refs[i-1].Program != r.Program) {
			fmt.Fprintf(&text, "%s\n", programs[r.Program].Name)
		}
		m.write(&text, r)
	}
	fmt.Fprintf(&text, "%s\n", totals.Counters)
	_, err = io.WriteString(out, text.String())
	return err
}

// A blockMap has the first step of each block of a ref, as far as it is shown.
type blockMap struct {
	blocks []int // of the array; nil for a table
	first  [][]int64
}

func newBlockMap(r *tile.Ref) *blockMap {
	if r.Kind == tile.Table {
		return &blockMap{}
	}
	m := &blockMap{blocks: r.Blocks()}
	rows, columns := m.matrix()
	m.first = make([][]int64, min(rows, mapSide))
	for i := range m.first {
		m.first[i] = make([]int64, min(columns, mapSide))
	}
	return m
}

// matrix is the number of rows and columns of blocks in the last two dimensions.
func (m *blockMap) matrix() (rows, columns int) {
	switch n := len(m.blocks); n {
	case 0:
		return 1, 1
	case 1:
		return 1, m.blocks[0]
	default:
		return m.blocks[n-2], m.blocks[n-1]
	}
}

func (m *blockMap) add(v *Visit, step int64) {
	if v.Move != First || m.first == nil {
		return
	}
	row, column := 0, 0
	for d, at := range v.Index {
		switch len(v.Index) - d {
		case 1:
			column = at
		case 2:
			row = at
		default:
			if at > 0 {
				return
			}
		}
	}
	if row < len(m.first) && column < len(m.first[row]) {
		m.first[row][column] = step
	}
}

func (m *blockMap) write(w *strings.Builder, r *RefTotals) {
	verb := "brought in"
	if r.Ref.Kind == tile.Out {
		verb = "written"
	}
	if m.first == nil {
		fmt.Fprintf(w, "%s  whole, %s %s\n", r.Ref.Name, verb, times(r.Blocks))
		return
	}
	shape := each.Of(m.blocks, func(n int) string { return fmt.Sprint(n) })
	fmt.Fprintf(w, "%s  %s blocks, %s %s", r.Ref.Name, strings.Join(shape, "×"), verb, times(r.Blocks))
	if r.again > 0 {
		fmt.Fprintf(w, ", %d of them again", r.again)
	}
	fmt.Fprint(w, "; the step that is first to move each:\n")
	rows, columns := m.matrix()
	width := 0
	for _, row := range m.first {
		for _, step := range row {
			width = max(width, len(fmt.Sprint(step)))
		}
	}
	for _, row := range m.first {
		fmt.Fprint(w, " ")
		for _, step := range row {
			cell := "-" // no step does
			if step > 0 {
				cell = fmt.Sprint(step)
			}
			fmt.Fprintf(w, " %*s", width, cell)
		}
		if columns > len(row) {
			fmt.Fprint(w, " …")
		}
		fmt.Fprintln(w)
	}
	if rows > len(m.first) {
		fmt.Fprintln(w, "  …")
	}
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
