package cpu

import (
	"errors"
	"testing"

	"matladder/backend"
	"matladder/tile"
)

// TestCompileCall_Packed: of a program that also goes along rows, a second operand of products
// may be packed beforehand, and nothing else.
func TestCompileCall_Packed(t *testing.T) {
	const n = 16
	b := tile.New("packed")
	block := tile.Block(n, n).At(tile.Const(0), tile.Const(0))
	x := b.In("x", tile.Float32, tile.Array(n, n), block)
	y := b.In("y", tile.Float32, tile.Array(n, n), block)
	sum := b.Out("sum", tile.Float32, tile.Array(n, n), block)
	twice := b.Out("twice", tile.Float32, tile.Array(n, n), block)
	product := b.Out("product", tile.Float32, tile.Array(n, n), block)
	b.Store(sum, tile.Add(x, x))
	b.Store(twice, tile.Mul(x, sum))
	b.Store(product, tile.Dot(x, y))
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	machine, err := Open(Options{NoProbe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer machine.Close()
	for name, ok := range map[string]bool{"y": true, "x": false, "sum": false, "z": false} {
		c, err := machine.CompileCall(t.Context(), programs, backend.Params{}, backend.Layout{Packed: []string{name}})
		if ok != (err == nil) || !ok && !errors.Is(err, backend.ErrUnsupported) {
			t.Errorf("%s packed beforehand: %v", name, err)
		}
		if c != nil {
			c.Close()
		}
	}
}
