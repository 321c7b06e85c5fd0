package tile_test

import (
	"errors"
	"strings"
	"testing"

	"matladder/tile"
)

// TestBuilder_CollectsMistakes: a kernel hears of its mistakes at once, but not
// of hundreds; each is a *tile.Error.
func TestBuilder_CollectsMistakes(t *testing.T) {
	b := tile.New("wrong")
	x := b.Scratch("x", tile.Float32, 4)
	for range 300 {
		b.Store(x, tile.Cast(tile.Number(1), tile.Int8))
	}
	_, err := b.Programs()
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 10 {
		t.Errorf("%d messages", len(lines))
	}
	const want = "tile/builder_test.go:17: wrong: store: x is float32, the value int8: cast it"
	if lines[0] != want {
		t.Errorf("got %s\nwant %s", lines[0], want)
	}
	var e *tile.Error
	if !errors.As(err, &e) || e.Program != "wrong" || e.Pos.Line != 17 {
		t.Errorf("no *tile.Error: %#v", err)
	}
}

// TestVerify_ByHand: a program that no builder made has no positions, and its
// expressions may say what their operands do not make.
func TestVerify_ByHand(t *testing.T) {
	if err := (&tile.Program{Name: "empty"}).Verify(); err != nil {
		t.Errorf("a program that does nothing: %v", err)
	}
	s := &tile.Ref{Name: "s", Kind: tile.Scratch, Dtype: tile.Float32, Array: []int{4}, Block: []int{4}}
	load := &tile.Expr{Op: tile.OpLoad, Ref: s, Dtype: tile.Float32, Shape: []int{4}}
	store := func(e tile.Expr) *tile.Stmt { return &tile.Stmt{Kind: tile.Store, Ref: s, Value: &e} }
	two := []*tile.Expr{load, load}
	for want, stmt := range map[string]*tile.Stmt{
		"a statement is nil": nil,
		"statement: no such kind, or fields that its kind does not have":     {Kind: tile.When, Ref: s},
		"store: a value is missing":                                          {Kind: tile.Store, Ref: s},
		"operation 77 does not exist":                                        store(tile.Expr{Op: 77}),
		"add: it cannot have 1 operands":                                     store(tile.Expr{Op: tile.OpAdd, Args: two[:1]}),
		"neg: its value has no dtype: cast it to one":                        store(tile.Expr{Op: tile.OpNeg, Args: two[:1]}),
		"neg: an operand is [4], the value [5]":                              store(tile.Expr{Op: tile.OpNeg, Args: two[:1], Dtype: tile.Float32, Shape: []int{5}}),
		"neg: it says int8, its operands make float32":                       store(tile.Expr{Op: tile.OpNeg, Args: two[:1], Dtype: tile.Int8, Shape: []int{4}}),
		"and: no such operation on float32":                                  store(tile.Expr{Op: tile.OpAnd, Args: two, Dtype: tile.Float32, Shape: []int{4}}),
		"compare: it says float32, its operands make bool":                   store(tile.Expr{Op: tile.OpCompare, Args: two, Dtype: tile.Float32, Shape: []int{4}}),
		"reduce_sum: it says float32[4], its operands make float32[1]":       store(tile.Expr{Op: tile.OpReduceSum, Args: two[:1], Dtype: tile.Float32, Shape: []int{4}}),
		"concat: it says float32[4], its operands make float32[8]":           store(tile.Expr{Op: tile.OpConcat, Args: two, Dtype: tile.Float32, Shape: []int{4}}),
		"load: it says float32[5] and is float32[4]":                         store(tile.Expr{Op: tile.OpLoad, Ref: s, Dtype: tile.Float32, Shape: []int{5}}),
		"in_bounds: s: scratch float32[4]: dimension 0 does not make [2, 2]": store(tile.Expr{Op: tile.OpInBounds, Ref: s, Dtype: tile.Bool, Shape: []int{2, 2}}),
		"iota: no dimension 1 in [4]":                                        store(tile.Expr{Op: tile.OpIota, Dim: 1, Dtype: tile.Int32, Shape: []int{4}}),
		"broadcast: [4] does not fit [6]":                                    store(tile.Expr{Op: tile.OpBroadcast, Args: two[:1], Dtype: tile.Float32, Shape: []int{6}}),
		"slice: an index expression is missing":                              store(tile.Expr{Op: tile.OpSlice, Args: two[:1], Dtype: tile.Float32, Shape: []int{4}}),
		"store: s: scratch float32[4]: the value is []":                      store(tile.Expr{Op: tile.OpConst, Dtype: tile.Float32}),
		"store: s is float32, the value int8: cast it":                       store(tile.Expr{Op: tile.OpCast, Args: two[:1], Dtype: tile.Int8, Shape: []int{4}}),
		"dot: operands must be of rank 2, have [4] and [4]":                  store(tile.Expr{Op: tile.OpDot, Args: two, Dtype: tile.Float32, Shape: []int{4}}),
	} {
		p := &tile.Program{Name: "by_hand", Refs: []*tile.Ref{s}, Body: []*tile.Stmt{stmt}}
		if err := p.Verify(); err == nil || err.Error() != "unknown position: by_hand: "+want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestSharedExpressions: an expression of 2^60 paths is one of 60 operations.
func TestSharedExpressions(t *testing.T) {
	b := tile.New("shared")
	x := b.In("x", tile.Float32, tile.Array(5), tile.Block(4).At(b.Axis("i", 2, tile.Parallel)))
	o := b.Out("o", tile.Float32, tile.Array(5), tile.Block(4).At(x.Index[0]))
	v := tile.Add(x, x)
	for range 60 {
		v = tile.Mul(v, v)
	}
	b.Store(o, v)
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	tile.WalkExpr(v, func(*tile.Expr) { n++ })
	if n != 63 {
		t.Errorf("%d operations, want 60 products, one sum and two loads", n)
	}
	if lines := strings.Count(programs[0].String(), "\n"); lines != 2+2+60+1 {
		t.Errorf("printed in %d lines:\n%s", lines, programs[0])
	}
	if edges := programs[0].PartialTiles().Of(v); len(edges[0]) != 1 {
		t.Errorf("edges: %v", edges)
	}
}
