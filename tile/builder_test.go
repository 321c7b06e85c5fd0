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

// TestVerify_ByHand: programs that no builder made have no positions, but names.
func TestVerify_ByHand(t *testing.T) {
	p := &tile.Program{Name: "by_hand", Grid: []*tile.Axis{{Name: "i"}}}
	const want = "unknown position: by_hand: axis i: size 0: an axis needs at least one program"
	if err := p.Verify(); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if err := (&tile.Program{Name: "empty"}).Verify(); err != nil {
		t.Errorf("a program that does nothing: %v", err)
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
	if edges := programs[0].Overhangs().Of(v); len(edges[0]) != 1 {
		t.Errorf("edges: %v", edges)
	}
}
