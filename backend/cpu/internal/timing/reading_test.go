package timing

import (
	"math/rand/v2"
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
)

// TestReadCosts: each way that a path has is measured, and takes time.
func TestReadCosts(t *testing.T) {
	for _, isa := range gemm.Supported() {
		k := gemm.For(isa)
		check := func(name string, can func(gemm.ReadB) bool, costs map[gemm.ReadB]gemm.ReadCost) {
			for read := gemm.ReadPacked; read <= gemm.ReadPieces; read++ {
				c, ok := costs[read]
				if ok != can(read) || ok && (c.Multiply <= 0 || (c.Pack > 0) != (read == gemm.ReadPacked)) {
					t.Errorf("%s, way %d: %+v, %v", name, read, c, ok)
				}
			}
		}
		check(k.Float32.Name, k.Float32.CanRead, ReadCosts(k.Float32, 2, 5, 1<<20, 4096, 0))
		for read, c := range ReadCosts(k.Float32, 2, 5, 1<<20, 0, 100) {
			if c.Multiply <= 0 || (c.Pack > 0) != (read == gemm.ReadPacked) || !k.Float32.CanRead(read) {
				t.Errorf("%s, transposed, way %d: %+v", k.Float32.Name, read, c)
			}
		}
		check("short rows", k.Float32.CanRead, ReadCosts(k.Float32, 2, 4, 1<<20, 200, 0))
		check(k.Int8.Name, k.Int8.CanRead, ReadCosts(k.Int8, 1, 16, 1<<10, 600, 0))
	}
}

// TestRowOf: rows of what is measured begin as rows of the B do: in as few sets of the caches,
// or as far into a line.
func TestRowOf(t *testing.T) {
	alignment := func(bytes int) int { return min(bytes&-bytes, memory.CacheLine) }
	for apart := 1; apart <= memory.CacheLine; apart++ {
		if row := rowOf(apart); row != memory.CacheLine {
			t.Errorf("rows %d bytes apart are measured %d apart", apart, row)
		}
	}
	for range 1000 {
		apart := memory.CacheLine + 1 + rand.IntN(1<<16)
		row := rowOf(apart)
		if alignment(row) != alignment(apart) && alignment(apart) < memory.CacheLine || apart%sameSets == 0 && row != apart {
			t.Errorf("rows %d bytes apart are measured %d apart", apart, row)
		}
		if row < apart/2 || row > 2*apart+4*memory.CacheLine {
			t.Errorf("rows %d bytes apart are measured %d apart: far from it", apart, row)
		}
	}
	for apart := 1; apart <= memory.CacheLine; apart++ {
		if row := rowOf(apart); row != memory.CacheLine {
			t.Errorf("rows %d bytes apart are measured %d apart, not a line", apart, row)
		}
	}
}
