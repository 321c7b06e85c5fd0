package groups_test

import (
	"fmt"

	"matladder/tile"
	"matladder/tile/groups"
)

// A loop over four groups of 32 along k, of which each row of b has a scale.
func ExampleFind() {
	t := tile.New("scaled")
	zero := tile.Const(0)
	a := t.In("a", tile.Float8E4M3FN, tile.Array(16, 128), tile.Block(16, 128).At(zero, zero))
	b := t.In("b", tile.Float8E4M3FN, tile.Array(128, 16), tile.Block(128, 16).At(zero, zero))
	sb := t.In("sb", tile.Float8E8M0FNU, tile.Array(4, 16), tile.Block(4, 16).At(zero, zero))
	o := t.Out("o", tile.Float32, tile.Array(16, 16), tile.Block(16, 16).At(zero, zero))
	t.Fill(o, 0)
	t.Loop("g", 4, func(g *tile.Axis) {
		from := tile.Times(g, 32)
		sum := tile.Dot(tile.Slice(a, 1, from, 32), tile.Slice(b, 0, from, 32))
		t.Accumulate(o, tile.Mul(sum, tile.Cast(tile.Slice(sb, 0, g, 1), tile.Float32)))
	})
	programs, err := t.Programs()
	if err != nil {
		fmt.Println(err)
		return
	}
	p := programs[0]
	found := groups.Find(p, p.Body[1])
	fmt.Println(found.Dot().Shape, "of k", found.Dot().Args[0].Shape[1], "in groups of", found.Size, "scales", found.B.Ref.Name)
	// Output: [16 16] of k 128 in groups of 32 scales sb
}
