package tiletest

import (
	"math"

	"matladder/tile"
)

// Case is a program at some sizes, or several that run one after another in a launch.
type Case struct {
	Name     string
	Programs []*tile.Program
	// Rounding is by how much a result may be off, relative to the largest of the
	// output: what a few operations in float32, or casts on the way, differ by.
	Rounding float64
	// Tables are the elements of the tables that must be right, by name.
	Tables map[string][]int
}

// Small are the programs at sizes that take no time to interpret, with blocks that reach past
// the end of their arrays wherever they may.
func Small() ([]Case, error) {
	return cases(
		attention{batch: 2, heads: 4, kvHeads: 2, seq: 37, dim: 16, bq: 8, bk: 16},
		layerNorm{rows: 11, dim: 100, br: 4, bd: 128},
		rope{heads: 2, seq: 13, dim: 8, bs: 4},
		int4Weights{m: 6, k: 650, n: 11, bm: 4, bk: 512, bn: 8, scaled: 128},
		int4Weights{m: 3, k: 333, n: 9, bm: 4, bk: 666, bn: 8, scaled: 9},
		batched{batch: 3, m: 13, k: 21, n: 10, bm: 8, bk: 8, bn: 4, activate: tile.Gelu},
		batched{batch: 2, m: 9, k: 14, n: 6, bm: 4, bk: 4, bn: 4, transA: true, transB: true, activate: tile.Silu},
		grouped{experts: 4, rows: 50, k: 23, n: 17, bm: 8, bk: 8, bn: 8},
		dynamicQuant{m: 9, k: 70, n: 14, bm: 4, bk: 32, bn: 8},
		float8{m: 9, k: 70, n: 14, bm: 4, bk: 32, bn: 8},
		bytes{m: 7, n: 19, bm: 4, bn: 8},
		ragged{sizes: []int{5, 0, 11, 8, 1}, k: 23, n: 17, bm: 8, bk: 8, bn: 8},
		columns{m: 11, n: 13, bm: 4, bn: 8},
		rowNumbers{m: 16, n: 16, bm: 8},
		rowNumbers{m: 24, n: 200, bm: 8},
		rowNumbers{m: 16, n: 256, bm: 16},
		rowNumbers{m: 12, n: 256, bm: 4},
	)
}

// Tiled are the programs at sizes whose blocks are whole tiles of a TPU's memory, so that
// libtpu can compile them for every generation.
func Tiled() ([]Case, error) {
	return cases(
		attention{batch: 1, heads: 4, kvHeads: 2, seq: 300, dim: 128, bq: 128, bk: 128},
		layerNorm{rows: 100, dim: 1000, br: 64, bd: 1024},
		rope{heads: 2, seq: 200, dim: 128, bs: 64},
		int4Weights{m: 100, k: 1300, n: 300, bm: 64, bk: 1024, bn: 128, scaled: 128},
		int4Weights{m: 64, k: 2560, n: 256, bm: 64, bk: 2560, bn: 128, scaled: 64},
		int4Weights{m: 64, k: 10240, n: 256, bm: 64, bk: 10240, bn: 128, scaled: 128},
		batched{batch: 3, m: 200, k: 300, n: 260, bm: 128, bk: 128, bn: 128, activate: tile.Gelu},
		batched{batch: 3, m: 200, k: 300, n: 260, bm: 128, bk: 128, bn: 128, transB: true, activate: tile.Silu},
		batched{batch: 3, m: 200, k: 300, n: 260, bm: 128, bk: 128, bn: 128, transA: true, activate: tile.Relu},
		batched{batch: 3, m: 200, k: 300, n: 260, bm: 128, bk: 128, bn: 128, transA: true, transB: true, activate: tile.Relu},
		grouped{experts: 4, rows: 500, k: 300, n: 200, bm: 64, bk: 128, bn: 128},
		dynamicQuant{m: 100, k: 700, n: 300, bm: 64, bk: 256, bn: 128},
		float8{m: 100, k: 700, n: 300, bm: 64, bk: 256, bn: 128},
		bytes{m: 100, n: 300, bm: 32, bn: 128},
		ragged{sizes: []int{100, 0, 300, 57, 43}, k: 300, n: 200, bm: 64, bk: 128, bn: 128},
		columns{m: 300, n: 500, bm: 128, bn: 256},
		rowNumbers{m: 192, n: 128, bm: 64},
		rowNumbers{m: 192, n: 200, bm: 64},
		rowNumbers{m: 192, n: 512, bm: 64},
	)
}

// example is one of the programs at some sizes.
type example interface {
	programs() ([]*tile.Program, error)
	rounding() float64
	name() string
}

func cases(examples ...example) ([]Case, error) {
	var all []Case
	for _, e := range examples {
		programs, err := e.programs()
		if err != nil {
			return nil, err
		}
		c := Case{e.name(), programs, e.rounding(), nil}
		if r, ok := e.(ragged); ok {
			c.Tables = r.tables()
		}
		all = append(all, c)
	}
	return all, nil
}

// attention is causal self-attention with grouped queries, in one pass over the
// blocks of k and v.
type attention struct{ batch, heads, kvHeads, seq, dim, bq, bk int }

func (attention) name() string      { return "attention" }
func (attention) rounding() float64 { return 3 * tile.BFloat16.Epsilon() }

func (c attention) programs() ([]*tile.Program, error) {
	t := tile.New("attention")
	b := t.Axis("b", c.batch, tile.Parallel)
	h := t.Axis("h", c.heads, tile.Parallel)
	i := t.Axis("i", tile.Ceil(c.seq, c.bq), tile.Parallel)
	j := t.Axis("j", tile.Ceil(c.seq, c.bk), tile.Arbitrary)
	zero, kvHead := tile.Const(0), tile.FloorDiv(h, c.heads/c.kvHeads)
	qArray, kvArray := tile.Array(c.batch, c.heads, c.seq, c.dim), tile.Array(c.batch, c.kvHeads, c.seq, c.dim)
	qBlock := tile.Block(tile.Squeezed, tile.Squeezed, c.bq, c.dim).At(b, h, i, zero)
	kvBlock := tile.Block(tile.Squeezed, tile.Squeezed, c.bk, c.dim).At(b, kvHead, j, zero)
	q, k := t.In("q", tile.BFloat16, qArray, qBlock), t.In("k", tile.BFloat16, kvArray, kvBlock)
	v, o := t.In("v", tile.BFloat16, kvArray, kvBlock), t.Out("o", tile.BFloat16, qArray, qBlock)
	scores := t.Scratch("scores", tile.Float32, c.bq, c.bk)
	acc := t.Scratch("acc", tile.Float32, c.bq, c.dim)
	top := t.Scratch("top", tile.Float32, c.bq, 1)
	newTop := t.Scratch("new_top", tile.Float32, c.bq, 1)
	sum := t.Scratch("sum", tile.Float32, c.bq, 1)

	const never = -1e30
	t.When(j.First(), func() {
		t.Fill(acc, 0)
		t.Fill(top, never)
		t.Fill(sum, 0)
	})
	t.When(tile.Test(tile.Times(j, c.bk), tile.LE, tile.Plus(tile.Times(i, c.bq), tile.Const(c.bq-1))), func() {
		row := tile.Add(tile.Iota(0, c.bq, c.bk), tile.IndexValue(tile.Times(i, c.bq)))
		column := tile.Add(tile.Iota(1, c.bq, c.bk), tile.IndexValue(tile.Times(j, c.bk)))
		visible := tile.And(tile.InBoundsRow(k, 0), tile.Compare(column, tile.LE, row))
		scaled := tile.Mul(tile.Dot(q, k, tile.TransB), tile.Number(1/math.Sqrt(float64(c.dim))))
		t.Store(scores, tile.Select(visible, scaled, tile.Number(never)))
		t.Store(newTop, tile.Max(top, tile.RowMax(scores)))
		p, shrink := tile.Exp(tile.Sub(scores, newTop)), tile.Exp(tile.Sub(top, newTop))
		t.Store(sum, tile.Add(tile.Mul(sum, shrink), tile.RowSum(p)))
		t.Store(acc, tile.Add(tile.Mul(acc, shrink), tile.Dot(tile.Cast(p, tile.BFloat16), v)))
		t.Store(top, newTop)
	})
	t.When(j.Last(), func() { t.Store(o, tile.Cast(tile.Div(acc, sum), tile.BFloat16)) })
	return t.Programs()
}

// layerNorm normalizes rows in blocks that are wider than a row; gamma and beta
// are arrays of one dimension.
type layerNorm struct{ rows, dim, br, bd int }

func (layerNorm) name() string      { return "layer_norm" }
func (layerNorm) rounding() float64 { return 16 * tile.Float32.Epsilon() }

func (c layerNorm) programs() ([]*tile.Program, error) {
	t := tile.New("layer_norm")
	i, zero := t.Axis("i", tile.Ceil(c.rows, c.br), tile.Parallel), tile.Const(0)
	x := t.In("x", tile.Float32, tile.Array(c.rows, c.dim), tile.Block(c.br, c.bd).At(i, zero))
	gamma := t.In("gamma", tile.Float32, tile.Array(c.dim), tile.Block(c.bd).At(zero))
	beta := t.In("beta", tile.Float32, tile.Array(c.dim), tile.Block(c.bd).At(zero))
	o := t.Out("o", tile.Float32, tile.Array(c.rows, c.dim), tile.Block(c.br, c.bd).At(i, zero))
	centred := t.Scratch("centred", tile.Float32, c.br, c.bd)
	mean := func(v tile.Value) *tile.Expr {
		return tile.Mul(tile.RowSum(tile.Select(tile.InBounds(x, 1), v, tile.Number(0))), tile.Number(1/float64(c.dim)))
	}
	t.Store(centred, tile.Sub(x, mean(x)))
	normal := tile.Mul(centred, tile.Rsqrt(tile.Add(mean(tile.Mul(centred, centred)), tile.Number(1e-5))))
	t.Store(o, tile.Add(tile.Mul(normal, gamma), beta))
	return t.Programs()
}

// rope turns pairs of elements that are half a row apart.
type rope struct{ heads, seq, dim, bs int }

func (rope) name() string      { return "rope" }
func (rope) rounding() float64 { return 2 * tile.BFloat16.Epsilon() }

func (c rope) programs() ([]*tile.Program, error) {
	t := tile.New("rope")
	h, i := t.Axis("h", c.heads, tile.Parallel), t.Axis("i", tile.Ceil(c.seq, c.bs), tile.Parallel)
	zero, half := tile.Const(0), c.dim/2
	angles := tile.Block(c.bs, half).At(i, zero)
	rows := tile.Block(tile.Squeezed, c.bs, c.dim).At(h, i, zero)
	x := t.In("x", tile.BFloat16, tile.Array(c.heads, c.seq, c.dim), rows)
	cos, sin := t.In("cos", tile.Float32, tile.Array(c.seq, half), angles), t.In("sin", tile.Float32, tile.Array(c.seq, half), angles)
	o := t.Out("o", tile.BFloat16, tile.Array(c.heads, c.seq, c.dim), rows)
	wide := tile.Cast(x, tile.Float32)
	turned := tile.Concat(1, tile.Neg(tile.Slice(wide, 1, tile.Const(half), half)), tile.Slice(wide, 1, zero, half))
	rotated := tile.Add(tile.Mul(wide, tile.Concat(1, cos, cos)), tile.Mul(turned, tile.Concat(1, sin, sin)))
	t.Store(o, tile.Cast(rotated, tile.BFloat16))
	return t.Programs()
}

// Padding returns the coordinates from … to-1 of an expression that an edge says are padding in
// the program that env describes; from == to if none is. It says nothing of an Unknown edge.
func Padding(e tile.Edge, env tile.Env) (from, to int) {
	d := e.Ref.ArrayDim(e.Dim)
	inside := e.Ref.Array[d] - tile.Eval(e.Ref.Index[d], env)*e.Ref.Step(d) - tile.Eval(e.Offset, env)
	if !e.Stretched {
		return min(max(e.From, inside), e.To), e.To
	}
	if inside > 0 {
		return e.To, e.To
	}
	return e.From, e.To
}
