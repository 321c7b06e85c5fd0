package interp_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"matladder/tile"
	"matladder/tile/interp"
)

// refusal is a program that must fail while it runs.
type refusal struct {
	name   string
	build  func(t *tile.Builder)
	edit   func(p *tile.Program) // makes wrong what Verify would have refused
	tables map[string][]int
	line   string // is in the line that the error names
	msg    string
}

// copyBlock copies x to o, of 8 rows in blocks of 4, through index maps xAt and
// oAt.
func copyBlock(t *tile.Builder, xAt, oAt tile.IndexExpr) {
	zero := tile.Const(0)
	x := t.In("x", tile.Float32, tile.Array(8, 3), tile.Block(4, 3).At(xAt, zero))
	o := t.Out("o", tile.Float32, tile.Array(8, 3), tile.Block(4, 3).At(oAt, zero))
	t.Store(o, x)
}

// sumBlocks adds up the two blocks of x along k in scratch, for each i; fill says
// when the scratch is filled.
func sumBlocks(t *tile.Builder, fill func(i, k *tile.Axis) tile.Cond) {
	i := t.Axis("i", 2, tile.Parallel)
	k := t.Axis("k", 2, tile.Arbitrary)
	x := t.In("x", tile.Float32, tile.Array(4, 4), tile.Block(2, 2).At(i, k))
	o := t.Out("o", tile.Float32, tile.Array(4, 2), tile.Block(2, 2).At(i, tile.Const(0)))
	acc := t.Scratch("acc", tile.Float32, 2, 2)
	t.When(fill(i, k), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, x)
	t.When(k.Last(), func() { t.Store(o, acc) })
}

func firstK(_, k *tile.Axis) tile.Cond { return k.First() }

// ref finds a ref by name.
func ref(p *tile.Program, name string) *tile.Ref {
	for _, r := range p.Refs {
		if r.Name == name {
			return r
		}
	}
	panic("no ref " + name)
}

var refusals = []refusal{
	{
		name: "scratch is filled in some programs only",
		build: func(t *tile.Builder) {
			sumBlocks(t, func(i, k *tile.Axis) tile.Cond {
				return tile.All(k.First(), tile.Test(t.Table("fills", 2).At(i), tile.EQ, tile.Const(1)))
			})
		},
		tables: map[string][]int{"fills": {1, 0}},
		line:   "t.Store(o, acc)",
		msg:    "store o[2, 0] at i=1, k=1 depends on memory never written: acc",
	},
	{
		name:  "scratch is never filled",
		build: func(t *tile.Builder) { sumBlocks(t, firstK) },
		edit:  func(p *tile.Program) { p.Body = p.Body[1:] },
		line:  "t.Store(o, acc)",
		msg:   "store o[0, 0] at i=0, k=1 depends on memory never written: acc",
	},
	{
		name:  "scratch is left by another parallel program",
		build: func(t *tile.Builder) { sumBlocks(t, firstK) },
		edit: func(p *tile.Program) {
			p.Body[0].Cond = tile.All(p.Grid[0].First(), p.Grid[1].First())
		},
		line: "t.Store(o, acc)",
		msg:  "store o[2, 0] at i=1, k=1 depends on memory never written: acc",
	},
	{
		name: "output accumulates on nothing",
		build: func(t *tile.Builder) {
			x := t.In("x", tile.Float32, tile.Array(2), tile.Block(2).At(tile.Const(0)))
			o := t.Out("o", tile.Float32, tile.Array(2), tile.Block(2).At(tile.Const(0)))
			count := t.Scratch("count", tile.Int32, 1)
			t.Fill(o, 0)
			t.Fill(count, 0)
			t.Loop("s", 3, func(s *tile.Axis) { t.Accumulate(count, tile.IndexValue(s)) })
			t.Accumulate(o, x)
		},
		edit: func(p *tile.Program) { p.Body = p.Body[1:] },
		line: "t.Accumulate(o, x)",
		msg:  "accumulate o[0] depends on memory never written: o",
	},
	{
		name:  "padding reaches an output that is longer than the input",
		build: func(t *tile.Builder) { i := t.Axis("i", 2, tile.Parallel); copyBlock(t, i, i) },
		edit:  func(p *tile.Program) { ref(p, "x").Array = tile.Array(7, 3) },
		line:  "t.Store(o, x)",
		msg:   "store o[7, 0] at i=1 depends on padding of x",
	},
	{
		name: "row maximum over padding",
		build: func(t *tile.Builder) {
			zero := tile.Const(0)
			x := t.In("x", tile.Float32, tile.Array(4, 8), tile.Block(4, 8).At(zero, zero))
			o := t.Out("o", tile.Float32, tile.Array(4, 8), tile.Block(4, 8).At(zero, zero))
			t.Store(o, tile.Sub(tile.Number(1), tile.RowMax(x)))
		},
		edit: func(p *tile.Program) { ref(p, "x").Array = tile.Array(4, 7) },
		line: "tile.RowMax(x)",
		msg:  "store o[0, 0] depends on padding of x",
	},
	{
		name: "row sum over padding, which a dot would otherwise leave out",
		build: func(t *tile.Builder) {
			zero := tile.Const(0)
			x := t.In("x", tile.Float32, tile.Array(4, 8), tile.Block(4, 8).At(zero, zero))
			w := t.In("w", tile.Float32, tile.Array(8, 2), tile.Block(8, 2).At(zero, zero))
			o := t.Out("o", tile.Float32, tile.Array(4, 2), tile.Block(4, 2).At(zero, zero))
			t.Store(o, tile.Dot(tile.Div(x, tile.RowSum(x)), w))
		},
		edit: func(p *tile.Program) {
			ref(p, "x").Array, ref(p, "w").Array = tile.Array(4, 7), tile.Array(7, 2)
		},
		line: "tile.RowSum(x)",
		msg:  "store o[0, 0] depends on padding of x",
	},
	{
		name: "row sum over padding as a column of products",
		build: func(t *tile.Builder) {
			zero := tile.Const(0)
			x := t.In("x", tile.Float32, tile.Array(4, 8), tile.Block(4, 8).At(zero, zero))
			w := t.In("w", tile.Float32, tile.Array(1, 2), tile.Block(1, 2).At(zero, zero))
			o := t.Out("o", tile.Float32, tile.Array(4, 2), tile.Block(4, 2).At(zero, zero))
			t.Store(o, tile.Dot(tile.RowSum(x), w))
		},
		edit: func(p *tile.Program) { ref(p, "x").Array = tile.Array(4, 7) },
		line: "tile.RowSum(x)",
		msg:  "store o[0, 0] depends on padding of x",
	},
	{
		name: "padding repeated along its dimension",
		build: func(t *tile.Builder) {
			zero := tile.Const(0)
			x := t.In("x", tile.Float32, tile.Array(4, 8), tile.Block(4, 8).At(zero, zero))
			w := t.In("w", tile.Float32, tile.Array(3, 2), tile.Block(3, 2).At(zero, zero))
			o := t.Out("o", tile.Float32, tile.Array(4, 2), tile.Block(4, 2).At(zero, zero))
			t.Store(o, tile.Dot(tile.Broadcast(tile.Slice(x, 1, tile.Const(7), 1), 4, 3), w))
		},
		edit: func(p *tile.Program) { ref(p, "x").Array = tile.Array(4, 7) },
		line: "tile.Slice(x",
		msg:  "store o[0, 0] depends on padding of x",
	},
	{
		name: "padding decides a select",
		build: func(t *tile.Builder) {
			x := t.In("x", tile.Float32, tile.Array(8), tile.Block(8).At(tile.Const(0)))
			o := t.Out("o", tile.Float32, tile.Array(8), tile.Block(8).At(tile.Const(0)))
			positive := tile.Compare(x, tile.GT, tile.Number(0))
			both := tile.And(positive, tile.InBounds(o, 0))
			t.Store(o, tile.Select(both, tile.Number(1), tile.Number(2)))
		},
		edit: func(p *tile.Program) { ref(p, "x").Array = tile.Array(5) },
		line: "tile.Select(both",
		msg:  "store o[5] depends on padding of x",
	},
	{
		name: "input block past the array",
		build: func(t *tile.Builder) {
			i := t.Axis("i", 2, tile.Parallel)
			copyBlock(t, t.Table("order", 2).At(i), i)
		},
		tables: map[string][]int{"order": {0, 2}},
		line:   `t.In("x"`,
		msg:    "x: block [2, 0] at i=1 is outside the array, which has [2, 1] blocks",
	},
	{
		name: "output block before the array",
		build: func(t *tile.Builder) {
			i := t.Axis("i", 2, tile.Parallel)
			copyBlock(t, i, tile.Plus(t.Table("order", 2).At(i), tile.Const(-1)))
		},
		tables: map[string][]int{"order": {1, 0}},
		line:   `t.Out("o"`,
		msg:    "o: block [-1, 0] at i=1 is outside the array, which has [2, 1] blocks",
	},
	{
		name: "table looked up out of range",
		build: func(t *tile.Builder) {
			i := t.Axis("i", 2, tile.Parallel)
			copyBlock(t, t.Table("inner", 3).At(t.Table("outer", 2).At(i)), i)
		},
		tables: map[string][]int{"inner": {0, 1, 0}, "outer": {2, 3}},
		line:   `t.In("x"`,
		msg:    "inner[3] at i=1 is outside the table, whose size is 3",
	},
	{
		name: "output block of two parallel programs",
		build: func(t *tile.Builder) {
			i := t.Axis("i", 3, tile.Parallel)
			copyBlock(t, tile.Const(0), t.Table("order", 3).At(i))
		},
		tables: map[string][]int{"order": {0, 1, 0}},
		line:   `t.Out("o"`,
		msg:    "o: block [0, 0] at i=2 is the block of another parallel program, i=0",
	},
	{
		name: "output block of two parallel programs in a row",
		build: func(t *tile.Builder) {
			i := t.Axis("i", 3, tile.Parallel)
			copyBlock(t, tile.Const(0), t.Table("order", 3).At(i))
		},
		tables: map[string][]int{"order": {1, 0, 0}},
		line:   `t.Out("o"`,
		msg:    "o: block [0, 0] at i=2 is the block of another parallel program, i=1",
	},
	{
		name: "output block left and visited again",
		build: func(t *tile.Builder) {
			k := t.Axis("k", 3, tile.Arbitrary)
			copyBlock(t, tile.Const(0), t.Table("order", 3).At(k))
		},
		tables: map[string][]int{"order": {0, 1, 0}},
		line:   `t.Out("o"`,
		msg:    "o: block [0, 0] is visited again at k=2 after it was left",
	},
	{
		name: "an element of two blocks that overlap",
		build: func(t *tile.Builder) {
			k := t.Axis("k", 2, tile.Arbitrary)
			o := t.Out("o", tile.Float32, tile.Array(8, 3), tile.Block(6, 3).At(t.Table("row", 2).At(k), tile.Const(0)).Every(1, 3))
			t.Fill(o, 1)
		},
		tables: map[string][]int{"row": {0, 5}},
		line:   "t.Fill(o, 1)",
		msg:    "fill o[5, 0] at k=1: another block of it that overlaps this one has stored that: which of both remains is left to the machine",
	},
	{
		name: "output element never written",
		build: func(t *tile.Builder) {
			k := t.Axis("k", 3, tile.Arbitrary)
			copyBlock(t, tile.Const(0), t.Table("order", 3).At(k))
		},
		tables: map[string][]int{"order": {0, 0, 0}},
		line:   `t.Out("o"`,
		msg:    "o[4, 0] is never written",
	},
	{
		name: "slice past its operand",
		build: func(t *tile.Builder) {
			x := t.In("x", tile.Float32, tile.Array(8), tile.Block(8).At(tile.Const(0)))
			o := t.Out("o", tile.Float32, tile.Array(4), tile.Block(4).At(tile.Const(0)))
			t.Fill(o, 0)
			t.Loop("s", 2, func(s *tile.Axis) { t.Accumulate(o, tile.Slice(x, 0, tile.Times(s, 4), 4)) })
		},
		edit: func(p *tile.Program) { p.Body[1].Body[0].Value.Index = tile.Times(p.Body[1].Axis, 5) },
		line: "t.Accumulate(o",
		msg:  "slice at s=1 takes elements 5 to 8 of dimension 0, whose size is 8",
	},
}

func TestRefusals(t *testing.T) {
	source, err := os.ReadFile("refusals_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			b := tile.New("wrong")
			c.build(b)
			programs := must(t)(b.Programs())
			if c.edit != nil {
				c.edit(programs[0])
			}
			_, err := interp.Run(context.Background(), programs, tableInputs(t, programs, c.tables))
			var e *tile.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want %s", err, c.msg)
			}
			if e.Msg != c.msg || e.Program != "wrong" {
				t.Errorf("have %s: %s\nwant wrong: %s", e.Program, e.Msg, c.msg)
			}
			if e.Pos.File != "interp/refusals_test.go" || !strings.Contains(lines[e.Pos.Line-1], c.line) {
				t.Errorf("at %s, want a line with %s", e.Pos, c.line)
			}
		})
	}
}

// tableInputs makes random arrays, and tables of the given values.
func tableInputs(t *testing.T, programs []*tile.Program, tables map[string][]int) []tile.Tensor {
	t.Helper()
	in := inputs(t, programs)
	bindings, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range bindings.In {
		for j, x := range tables[r.Name] {
			in[i].Set(j, float64(x))
		}
	}
	return in
}
