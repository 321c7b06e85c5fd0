package blocking

import (
	"testing"

	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// TestRank_Attention: the model proposes blocks that are inside the arrays, no larger ones
// of keys where most rows see few of them, and enough of rows for all workers.
func TestRank_Attention(t *testing.T) {
	m := cores{workers: 4, Cores: &machine.Cores{L2: 1 << 20, L3: 32 << 20, Shared: 9e10, Memory: 7e10, Task: 2e-7, Rates: map[tile.Dtype]machine.ProductRate{
		tile.Float32: {FLOPs: 2.5e11, Fetch: 2e10}, tile.BFloat16: {FLOPs: 5e11, Fetch: 2e10},
	}}}
	for _, length := range []int{1, 70, 512, 8192} {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
			p := problem.Self(length, 64, d)
			full := m.rank(p, tile.Blocks{})
			p.Causal = true
			causal := m.rank(p, tile.Blocks{})
			for _, list := range [][]tile.Blocks{full, causal} {
				for _, b := range list {
					if b != problem.Clip(p, b) || b.M < 1 || b.K < 1 {
						t.Errorf("%d %s: blocks %s", length, d, b)
					}
				}
			}
			if causal[0].K > full[0].K {
				t.Errorf("%d %s: %s, causal %s", length, d, full[0], causal[0])
			}
			if tasks := tile.Ceil(length, full[0].M); length >= 512 && tasks < m.workers {
				t.Errorf("%d %s: %s are %d tasks for %d workers", length, d, full[0], tasks, m.workers)
			}
		}
	}
}
