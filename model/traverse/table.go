package traverse

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// WriteText writes the first steps of a launch as a table for people, at most limit of them, and
// then the totals of all. A block that is moved has a + before it, one that is moved again an *.
func WriteText(ctx context.Context, out io.Writer, programs []*tile.Program, tables map[string]tile.Tensor, limit int64) error {
	w := &textTable{out: out, program: -1}
	totals, err := walk(ctx, programs, tables, func(s *Step) error {
		if s.GridSteps <= limit {
			w.step(programs, s)
		}
		return w.err
	})
	if err != nil {
		return err
	}
	if left := totals.GridSteps - limit; left > 0 {
		w.printf("… %d steps more\n", left)
	}
	w.totals(programs, &totals)
	return w.err
}

// textTable writes lines with columns as wide as the grid needs.
type textTable struct {
	out     io.Writer
	program int // whose header was written last
	widths  []int
	err     error
}

func (t *textTable) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format, args...)
	}
}

func (t *textTable) row(cells ...string) {
	var line strings.Builder
	for i, c := range cells {
		if i > 0 {
			line.WriteString("  ")
		}
		fmt.Fprintf(&line, "%*s", t.widths[i], c)
	}
	t.printf("%s\n", line.String())
}

// header begins the table of a program.
func (t *textTable) header(programs []*tile.Program, s *Step) {
	p := programs[s.Program]
	if len(programs) > 1 {
		t.printf("%s\n", p.Name)
	}
	t.program, t.widths = s.Program, nil
	var names []string
	column := func(name string, width int) {
		names = append(names, name)
		t.widths = append(t.widths, max(len([]rune(name)), width))
	}
	column("step", len(fmt.Sprint(s.GridSteps+p.Steps())))
	for _, a := range p.Grid {
		column(a.Name, len(fmt.Sprint(a.Size-1)))
	}
	for _, v := range s.Visits {
		last := each.Of(v.Ref.Blocks()[:len(v.Index)], func(n int) int { return n - 1 })
		column(v.Ref.Name, len(cell(&Visit{Index: last})))
	}
	for _, name := range []string{"moved", "again", "fast memory"} {
		column(name, 8)
	}
	t.row(names...)
}

func (t *textTable) step(programs []*tile.Program, s *Step) {
	if s.Program != t.program {
		t.header(programs, s)
	}
	cells := slices.Concat([]string{fmt.Sprint(s.GridSteps)}, each.Of(s.IDs, strconv.Itoa), each.Of(each.Pointers(s.Visits), cell))
	t.row(append(cells, Bytes(s.BytesMoved()), Bytes(s.BytesReread), FastMemory(s.FastBytes))...)
}

// cell is a block with a mark for its move.
func cell(v *Visit) string {
	mark := [...]string{Kept: " ", First: "+", Again: "*"}[v.Move]
	if v.Ref != nil && v.Ref.Kind == tile.Table {
		return mark + "all"
	}
	return mark + strings.ReplaceAll(fmt.Sprint(v.Index), " ", ",")
}

func (t *textTable) totals(programs []*tile.Program, s *Totals) {
	names := make([]string, len(s.Refs))
	width := len("ref")
	for i, r := range s.Refs {
		names[i] = r.Ref.Name
		if len(programs) > 1 {
			names[i] = programs[r.Program].Name + " " + r.Ref.Name
		}
		width = max(width, len(names[i]))
	}
	t.widths = []int{-width, 12, 12, 12, 12}
	t.printf("\n")
	t.row("ref", "blocks moved", "steps kept", "moved", "moved again")
	for i, r := range s.Refs {
		t.row(names[i], fmt.Sprint(r.Blocks), fmt.Sprint(r.Kept), Bytes(r.Bytes), Bytes(r.BytesReread))
	}
	t.printf("%s\n", s.Counters)
}

func (c Counters) String() string {
	return fmt.Sprintf("%d grid steps, %d loads and %d skipped, %d stores; %s moved, %s of them again; fast memory %s",
		c.GridSteps, c.BlocksLoaded, c.LoadsSkipped, c.BlocksStored, Bytes(c.BytesMoved()), Bytes(c.BytesReread), FastMemory(c.FastBytes))
}

// Bytes prints bytes moved for people, in powers of 1000.
func Bytes(n int64) string { return scaled(n, 1000, "B", "kB", "MB", "GB", "TB") }

// FastMemory prints a size of memory for people, in powers of 1024.
func FastMemory(n int64) string { return scaled(n, 1024, "B", "KiB", "MiB", "GiB", "TiB") }

func scaled(n int64, base float64, units ...string) string {
	v, u := float64(n), 0
	for ; v >= base && u < len(units)-1; u++ {
		v /= base
	}
	if u == 0 {
		return fmt.Sprintf("%d %s", n, units[0])
	}
	return fmt.Sprintf("%.1f %s", v, units[u])
}

// csvHeader are the columns of WriteCSV.
var csvHeader = []string{"step", "program", "ids", "ref", "kind", "block", "move", "bytes",
	"blocks_loaded", "loads_skipped", "blocks_stored", "bytes_moved", "bytes_reread", "fast_bytes"}

// WriteCSV writes a row for each ref at each step, at most limit steps, and then one with step
// "total" for each ref of the whole launch. ids and block are numbers with spaces between; bytes
// are those that the row moved; counters are those of the launch up to and with the step.
func WriteCSV(ctx context.Context, out io.Writer, programs []*tile.Program, tables map[string]tile.Tensor, limit int64) error {
	w := csv.NewWriter(out)
	w.Write(csvHeader)
	row := func(c *Counters, program int, r *tile.Ref, step, ids, block, move string, bytes int64) {
		cells := []string{step, programs[program].Name, ids, r.Name, r.Kind.String(), block, move}
		for _, n := range []int64{bytes, c.BlocksLoaded, c.LoadsSkipped, c.BlocksStored, c.BytesMoved(), c.BytesReread, c.FastBytes} {
			cells = append(cells, strconv.FormatInt(n, 10))
		}
		w.Write(cells) // an error stays until Flush
	}
	totals, err := walk(ctx, programs, tables, func(s *Step) error {
		if s.GridSteps > limit {
			return nil
		}
		for _, v := range s.Visits {
			row(&s.Counters, s.Program, v.Ref, fmt.Sprint(s.GridSteps), spaced(s.IDs), spaced(v.Index), v.Move.String(), v.Bytes)
		}
		return w.Error()
	})
	if err != nil {
		return err
	}
	for _, r := range totals.Refs {
		row(&totals.Counters, r.Program, r.Ref, "total", "", "", "", r.Bytes)
	}
	w.Flush()
	return w.Error()
}

func spaced(xs []int) string { return strings.Trim(fmt.Sprint(xs), "[]") }

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
			maps = append(maps, each.Of(s.Visits, func(v Visit) *blockMap { return newBlockMap(v.Ref) })...)
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
