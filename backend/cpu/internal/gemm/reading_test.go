package gemm

import (
	"math/rand/v2"
	"testing"
)

// TestReadCosts: each way that a path has is measured, and takes time.
func TestReadCosts(t *testing.T) {
	for _, isa := range Supported() {
		k := For(isa)
		check := func(name string, can func(ReadB) bool, costs map[ReadB]ReadCost) {
			for read := ReadPacked; read <= ReadPieces; read++ {
				c, ok := costs[read]
				if ok != can(read) || ok && (c.Multiply <= 0 || (c.Pack > 0) != (read == ReadPacked)) {
					t.Errorf("%s, way %d: %+v, %v", name, read, c, ok)
				}
			}
		}
		check(k.Float32.Name, k.Float32.CanRead, k.Float32.ReadCosts(2, 5, 1<<20, 4096, 0))
		for read, c := range k.Float32.ReadCosts(2, 5, 1<<20, 0, 100) {
			if c.Multiply <= 0 || (c.Pack > 0) != (read == ReadPacked) || !k.Float32.CanRead(read) {
				t.Errorf("%s, transposed, way %d: %+v", k.Float32.Name, read, c)
			}
		}
		check("short rows", k.Float32.CanRead, k.Float32.ReadCosts(2, 4, 1<<20, 200, 0))
		check(k.Int8.Name, k.Int8.CanRead, k.Int8.ReadCosts(1, 16, 1<<10, 600, 0))
	}
}

// TestRowOf: rows of what is measured begin as rows of the B do: in as few sets of the caches,
// or as far into a line.
func TestRowOf(t *testing.T) {
	alignment := func(bytes int) int { return min(bytes&-bytes, cacheLine) }
	for apart := 1; apart <= cacheLine; apart++ {
		if row := rowOf(apart); row != cacheLine {
			t.Errorf("rows %d bytes apart are measured %d apart", apart, row)
		}
	}
	for range 1000 {
		apart := cacheLine + 1 + rand.IntN(1<<16)
		row := rowOf(apart)
		if alignment(row) != alignment(apart) && alignment(apart) < cacheLine || apart%sameSets == 0 && row != apart {
			t.Errorf("rows %d bytes apart are measured %d apart", apart, row)
		}
		if row < apart/2 || row > 2*apart+4*cacheLine {
			t.Errorf("rows %d bytes apart are measured %d apart: far from it", apart, row)
		}
	}
	for apart := 1; apart <= cacheLine; apart++ {
		if row := rowOf(apart); row != cacheLine {
			t.Errorf("rows %d bytes apart are measured %d apart, not a line", apart, row)
		}
	}
}
