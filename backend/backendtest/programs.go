package backendtest

import (
	"errors"
	"slices"
	"testing"

	"matladder/backend"
	"matladder/tile"
)

// program is a sequence beyond the kernels.
type program struct {
	name  string
	build func() ([]*tile.Program, error)
	exact bool // on small integers
}

// programs are variations that a backend for products may be expected to take.
var programs = []program{
	{"batched", batched, true},
	{"transposed a", func() ([]*tile.Program, error) { return transposed(true, false) }, true},
	{"transposed b", func() ([]*tile.Program, error) { return transposed(false, true) }, true},
	{"transposed both", func() ([]*tile.Program, error) { return transposed(true, true) }, true},
	{"bias and relu", func() ([]*tile.Program, error) { return epilogue(tile.Relu) }, true},
	{"bias and gelu", func() ([]*tile.Program, error) { return epilogue(tile.Gelu) }, false},
	{"bias and silu", func() ([]*tile.Program, error) { return epilogue(tile.Silu) }, false},
	{"gated", gated, true},
	{"unsigned", func() ([]*tile.Program, error) { return mixed(tile.Uint8, tile.Uint8) }, true},
	{"signed by unsigned", func() ([]*tile.Program, error) { return mixed(tile.Int8, tile.Uint8) }, true},
	{"sequence", sequence, true},
	{"grouped order", groupedOrder, true},
	{"column scales", columnScales, true},
	{"rows by table", rowsByTable, true},
	{"causal mask", causalMask, true},
}

// testPrograms compares programs beyond the kernels with interp.
func testPrograms(t *testing.T, s suite) {
	for _, p := range slices.Concat(programs, language) {
		t.Run(p.name, func(t *testing.T) {
			ps, err := p.build()
			if err != nil {
				t.Fatal(err)
			}
			e, err := s.tryCompile(t.Context(), ps, s.Params)
			if errors.Is(err, backend.ErrUnsupported) && slices.Contains(s.MayRefuse, p.name) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			for i, launches := range []int{several, 1} { // of other inputs, of which nothing may be left
				in := smallIntegers(t, ps, 11+uint64(i))
				setTables(t, ps, in, tables[p.name])
				got := s.run(t, e, ps, in, launches)
				if p.exact {
					sameBits(t, oracle(t, ps, in), got)
				} else {
					within(t, 0x1p-18, ps, in, got)
				}
			}
		})
	}
}

// setTables writes the elements of tables, by name.
func setTables(t *testing.T, programs []*tile.Program, in []tile.Tensor, tables map[string][]float64) {
	t.Helper()
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range bound.In {
		for e, x := range tables[r.Name] {
			in[i].Set(e, x)
		}
	}
}

// grid is the axes of a product in blocks of 8×8×8.
func grid(t *tile.Builder, m, k, n int) (i, j, kk *tile.Axis) {
	i = t.Axis("i", tile.Ceil(m, 8), tile.Parallel)
	j = t.Axis("j", tile.Ceil(n, 8), tile.Parallel)
	return i, j, t.Axis("k", tile.Ceil(k, 8), tile.Arbitrary)
}

func batched() ([]*tile.Program, error) {
	const m, k, n, batch = 19, 21, 13, 3
	t := tile.New("batched")
	h := t.Axis("batch", batch, tile.Parallel)
	i, j, kk := grid(t, m, k, n)
	block := tile.Block(tile.Squeezed, 8, 8)
	a := t.In("a", tile.BFloat16, tile.Array(batch, m, k), block.At(h, i, kk))
	b := t.In("b", tile.BFloat16, tile.Array(batch, k, n), block.At(h, kk, j))
	o := t.Out("o", tile.Float32, tile.Array(batch, m, n), block.At(h, i, j))
	t.When(kk.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(a, b))
	return t.Programs()
}

func transposed(transA, transB bool) ([]*tile.Program, error) {
	const m, k, n = 19, 21, 13
	t := tile.New("transposed")
	i, j, kk := grid(t, m, k, n)
	block := tile.Block(8, 8)
	var opts []tile.DotOption
	a, b := tile.Array(m, k), tile.Array(k, n)
	as, bs := block.At(i, kk), block.At(kk, j)
	if transA {
		opts = append(opts, tile.TransA)
		a, as = tile.Array(k, m), block.At(kk, i)
	}
	if transB {
		opts = append(opts, tile.TransB)
		b, bs = tile.Array(n, k), block.At(j, kk)
	}
	x, y := t.In("a", tile.Float32, a, as), t.In("b", tile.Float32, b, bs)
	o := t.Out("o", tile.Float32, tile.Array(m, n), block.At(i, j))
	t.When(kk.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(x, y, opts...))
	return t.Programs()
}

func epilogue(activate func(tile.Value) *tile.Expr) ([]*tile.Program, error) {
	const m, k, n = 19, 21, 13
	t := tile.New("epilogue")
	i, j, kk := grid(t, m, k, n)
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(8, 8).At(i, kk))
	b := t.In("b", tile.Float32, tile.Array(k, n), tile.Block(8, 8).At(kk, j))
	bias := t.In("bias", tile.Float32, tile.Array(n), tile.Block(8).At(j))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	acc := t.Scratch("acc", tile.Float32, 8, 8)
	t.When(kk.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(kk.Last(), func() { t.Store(o, activate(tile.Add(acc, bias))) })
	return t.Programs()
}

// gated multiplies two products of the same a.
func gated() ([]*tile.Program, error) {
	const m, k, n = 19, 21, 13
	t := tile.New("gated")
	i, j := t.Axis("i", tile.Ceil(m, 8), tile.Parallel), t.Axis("j", tile.Ceil(n, 8), tile.Parallel)
	zero := tile.Const(0)
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(8, k).At(i, zero))
	up := t.In("up", tile.Float32, tile.Array(k, n), tile.Block(k, 8).At(zero, j))
	gate := t.In("gate", tile.Float32, tile.Array(k, n), tile.Block(k, 8).At(zero, j))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	t.Store(o, tile.Mul(tile.Dot(a, up), tile.Relu(tile.Dot(a, gate))))
	return t.Programs()
}

func mixed(a, b tile.Dtype) ([]*tile.Program, error) {
	const m, k, n = 19, 21, 13
	t := tile.New("mixed")
	i, j, kk := grid(t, m, k, n)
	x := t.In("a", a, tile.Array(m, k), tile.Block(8, 8).At(i, kk))
	y := t.In("b", b, tile.Array(k, n), tile.Block(8, 8).At(kk, j))
	o := t.Out("o", tile.Int32, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	t.When(kk.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(x, y))
	return t.Programs()
}

// sequence doubles a, rounds it to bfloat16 and multiplies what came out.
func sequence() ([]*tile.Program, error) {
	const m, k, n = 19, 21, 13
	t := tile.New("double")
	r := t.Axis("r", tile.Ceil(m, 4), tile.Parallel)
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(4, k).At(r, tile.Const(0)))
	x := t.Out("x", tile.BFloat16, tile.Array(m, k), tile.Block(4, k).At(r, tile.Const(0)))
	t.Store(x, tile.Cast(tile.Add(a, a), tile.BFloat16))
	first, err := t.Programs()
	if err != nil {
		return nil, err
	}
	t = tile.New("multiply")
	i, j, kk := grid(t, m, k, n)
	x = t.In("x", tile.BFloat16, tile.Array(m, k), tile.Block(8, 8).At(i, kk))
	b := t.In("b", tile.BFloat16, tile.Array(k, n), tile.Block(8, 8).At(kk, j))
	o := t.Out("o", tile.BFloat16, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	t.When(kk.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(x, b))
	second, err := t.Programs()
	return append(first, second...), err
}

// groupedOrder walks one parallel axis in groups of rows.
func groupedOrder() ([]*tile.Program, error) {
	const m, k, n, rows = 32, 21, 24, 2
	t := tile.New("grouped_order")
	columns := tile.Ceil(n, 8)
	pid := t.Axis("pid", tile.Ceil(m, 8)*columns, tile.Parallel)
	i := tile.Plus(tile.Times(tile.FloorDiv(pid, rows*columns), rows), tile.Mod(pid, rows))
	j := tile.FloorDiv(tile.Mod(pid, rows*columns), rows)
	a := t.In("a", tile.Int8, tile.Array(m, k), tile.Block(8, k).At(i, tile.Const(0)))
	b := t.In("b", tile.Int8, tile.Array(k, n), tile.Block(k, 8).At(tile.Const(0), j))
	o := t.Out("o", tile.Int32, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	t.Store(o, tile.Dot(a, b))
	return t.Programs()
}

func columnScales() ([]*tile.Program, error) {
	const m, k, n = 19, 21, 13
	t := tile.New("column_scales")
	i, j, kk := grid(t, m, k, n)
	zero := tile.Const(0)
	a := t.In("a", tile.Int8, tile.Array(m, k), tile.Block(8, 8).At(i, kk))
	b := t.In("b", tile.Int8, tile.Array(k, n), tile.Block(8, 8).At(kk, j))
	rows := t.In("rows", tile.Float32, tile.Array(m, 1), tile.Block(8, 1).At(i, zero))
	columns := t.In("columns", tile.Float32, tile.Array(1, n), tile.Block(1, 8).At(zero, j))
	o := t.Out("o", tile.BFloat16, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	acc := t.Scratch("acc", tile.Int32, 8, 8)
	t.When(kk.First(), func() { t.Fill(acc, 0) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(kk.Last(), func() {
		scaled := tile.Mul(tile.Mul(tile.Cast(acc, tile.Float32), rows), columns)
		t.Store(o, tile.Cast(scaled, tile.BFloat16))
	})
	return t.Programs()
}

// rowsByTable takes the blocks of a in the order of a table.
func rowsByTable() ([]*tile.Program, error) {
	const m, k, n = 32, 21, 13
	t := tile.New("rows_by_table")
	i, j, kk := grid(t, m, k, n)
	order := t.Table("order", tile.Ceil(m, 8))
	a := t.In("a", tile.Float32, tile.Array(8*7, k), tile.Block(8, 8).At(tile.Mod(order.At(i), 7), kk))
	b := t.In("b", tile.Float32, tile.Array(k, n), tile.Block(8, 8).At(kk, j))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	t.When(kk.First(), func() { t.Fill(o, 0) })
	t.Accumulate(o, tile.Dot(a, b))
	return t.Programs()
}

// causalMask keeps the lower triangle of a product.
func causalMask() ([]*tile.Program, error) {
	const m, k, n = 19, 21, 13
	t := tile.New("causal_mask")
	i, j := t.Axis("i", tile.Ceil(m, 8), tile.Parallel), t.Axis("j", tile.Ceil(n, 8), tile.Parallel)
	zero := tile.Const(0)
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(8, k).At(i, zero))
	b := t.In("b", tile.Float32, tile.Array(k, n), tile.Block(k, 8).At(zero, j))
	o := t.Out("o", tile.Float32, tile.Array(m, n), tile.Block(8, 8).At(i, j))
	row := tile.Add(tile.Iota(0, 8, 8), tile.IndexValue(tile.Times(i, 8)))
	column := tile.Add(tile.Iota(1, 8, 8), tile.IndexValue(tile.Times(j, 8)))
	t.Store(o, tile.Select(tile.Compare(row, tile.GE, column), tile.Dot(a, b), tile.Number(-1)))
	return t.Programs()
}
