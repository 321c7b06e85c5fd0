package blocking

import (
	"math"
	"slices"
	"testing"

	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// zen5 has the figures of an AMD EPYC (Zen 5) with AVX-512, as its probes found them.
func zen5(workers int) cores {
	return cores{workers: workers, Cores: &machine.Cores{
		L2: 1 << 20, L3: 32 << 20, Shared: 98e9, Memory: 60e9, Launch: 0.53e-6, Pair: 0.33e-6, Task: 0.18e-6, CoreToCore: machine.CoreToCore{Line: 0.04e-6, ReadOthers: 56e9, WriteOthers: 80e9},
		Rates: map[tile.Dtype]machine.ProductRate{
			tile.Float32:  {Rows: 12, Columns: 32, Depth: 1, Few: 4, FLOPs: 263e9, Fetch: 21e9, PackA: 61e9, PackB: 60e9, InPlace: 1024, Direct: 48},
			tile.BFloat16: {Rows: 12, Columns: 32, Depth: 2, Few: 4, FLOPs: 525e9, Fetch: 21e9, PackA: 61e9, PackB: 60e9, InPlace: 1024, Direct: 48},
			tile.Int8:     {Rows: 12, Columns: 32, Depth: 4, FLOPs: 970e9, Fetch: 17e9, PackA: 59e9, PackB: 54e9, Direct: 24},
		},
	}}
}

// ranked are all shapes that are worth a look, the fastest first.
func (c cores) ranked(p problem.Matmul) []tile.Blocks {
	x, _ := c.product(p)
	list := x.search(tile.Blocks{})
	byTime(list, x.seconds)
	return list
}

func (c cores) seconds(p problem.Matmul, s tile.Blocks) float64 {
	x, _ := c.product(p)
	return x.seconds(s)
}

var shapes = [][3]int{
	{1, 1, 1}, {1, 4096, 6144}, {16, 4096, 6144}, {64, 64, 64}, {128, 128, 128}, {127, 4099, 257}, {512, 512, 512},
	{1009, 1009, 1009}, {1536, 64, 1536}, {96, 5120, 384}, {4096, 4096, 4096}, {2304, 192, 96},
}

// TestCandidates: some shapes, no two of which are equal, none larger than the arrays, the
// first as fast by the model as any.
func TestCandidates(t *testing.T) {
	for _, s := range shapes {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			for _, workers := range []int{1, 2, 3, 4, 64} {
				p, m := problem.New(s[0], s[1], s[2], d), zen5(workers)
				list := m.rank(p, tile.Blocks{})
				if len(list) == 0 || list[0] != m.ranked(p)[0] {
					t.Fatalf("%s, %d workers: %v", p, workers, list)
				}
				seen := map[tile.Blocks]bool{}
				for _, b := range list {
					if seen[b] || b.Clip(p.M, p.K, p.N) != b || m.seconds(p, b) < m.seconds(p, list[0]) {
						t.Errorf("%s, %d workers: %v among %v", p, workers, b, list)
					}
					seen[b] = true
				}
			}
		}
	}
	if list := Of(machine.Device{Kind: machine.CPU, Parallel: 4}, Setup{}).Rank(problem.New(64, 64, 64, tile.Float32)); list != nil {
		t.Errorf("of a machine that tells nothing: %v", list)
	}
}

// TestParts: sides are cut into whole register tiles, and into equal parts where these are of few
// tiles and leave no more beside them than allowed.
func TestParts(t *testing.T) {
	for _, test := range []struct {
		n, unit, few, most int
		want               []int
	}{
		{257, 32, 4, 4, []int{257, 160, 129, 96, 65}},
		{257, 32, 0, 4, []int{257, 160, 96}},
		{128, 12, 12, 4, []int{128, 72, 64, 48, 43, 36, 32}},
		{1024, 12, 12, 4, []int{1024, 516, 348, 264}},
		{20, 32, 4, 3, []int{20}},
	} {
		if have := parts(test.n, test.unit, test.few, test.most); !slices.Equal(have, test.want) {
			t.Errorf("%d in parts of %d: %v, want %v", test.n, test.unit, have, test.want)
		}
	}
}

// TestRank_Few: a few columns beyond whole register tiles go with those before them.
func TestRank_Few(t *testing.T) {
	if b := zen5(2).ranked(problem.New(127, 4099, 257, tile.Float32))[0]; b.N != 129 {
		t.Errorf("blocks %v", b)
	}
}

// TestRank_Packed: a b that is packed ahead and comes from memory is cut so that workers
// have some blocks each, over all of k.
func TestRank_Packed(t *testing.T) {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		m := zen5(4)
		m.packedB = true
		p := problem.New(16, 4096, 14336, d)
		if b := m.ranked(p)[0]; b.K != p.K || tile.Ceil(p.N, b.N) < 2*m.workers {
			t.Errorf("%s: %v", p, b)
		}
	}
}

// TestRank_Sharing: a product of a microsecond is one program, which shares nothing; the
// farther cores are apart, the larger is what they share.
func TestRank_Sharing(t *testing.T) {
	programs := func(side int, m cores) int {
		b := m.ranked(problem.New(side, side, side, tile.Float32))[0]
		return tile.Ceil(side, b.M) * tile.Ceil(side, b.N)
	}
	near, far := zen5(4), zen5(4)
	far.Launch, far.Pair, far.Line, far.ReadOthers, far.WriteOthers = 5e-6, 4e-6, 1e-6, 10e9, 5e9
	for _, test := range []struct {
		side      int
		near, far bool // several programs
	}{{16, false, false}, {32, false, false}, {64, true, false}, {256, true, true}} {
		if have := programs(test.side, near) > 1; have != test.near {
			t.Errorf("%d, cores near to each other: several programs: %v", test.side, have)
		}
		if have := programs(test.side, far) > 1; have != test.far {
			t.Errorf("%d, cores far apart: several programs: %v", test.side, have)
		}
	}
}

// TestSeconds_Bounds: no shape is faster than all workers at the rate of packed operands,
// nor is one first that leaves a worker without work where there is much.
func TestSeconds_Bounds(t *testing.T) {
	for _, s := range shapes {
		for _, workers := range []int{1, 2, 4, 7} {
			p, m := problem.New(s[0], s[1], s[2], tile.Float32), zen5(workers)
			least := float64(p.FLOPs()) / m.Rates[tile.Float32].FLOPs / float64(workers)
			for _, b := range m.ranked(p) {
				if v := m.seconds(p, b); !(v >= least) || math.IsInf(v, 0) {
					t.Fatalf("%s, %d workers, %v: %v s, at least %v s", p, workers, b, v, least)
				}
			}
			b := m.ranked(p)[0]
			if programs := tile.Ceil(p.M, b.M) * tile.Ceil(p.N, b.N); p.FLOPs() > 1e7 && workers <= 4 && programs < workers {
				t.Errorf("%s: %d workers, %d programs of %v", p, workers, programs, b)
			}
		}
	}
}

// TestSeconds_Kept: what a core does not keep of a is packed again for each block of its
// row, from memory where the arrays are larger than the caches.
func TestSeconds_Kept(t *testing.T) {
	for _, test := range []struct {
		side, cols int
		kept       int64
		packs      float64 // of all of a by each worker
		rate       float64 // bytes/s
	}{
		{1024, 64, 1 << 20, 1, 59e9},
		{1024, 64, 1 << 19, 4, 59e9},
		{1024, 256, 1 << 19, 1, 59e9},
		{4096, 256, 1 << 19, 4, 15e9},
	} {
		m := zen5(4)
		m.Kept = test.kept
		p := problem.New(test.side, test.side, test.side, tile.Int8)
		x, _ := m.product(p)
		g := newGrid(x, tile.Blocks{M: p.M, K: p.K, N: test.cols})
		packed := -float64(g.cols/g.workers) * g.blocks[0][0].product
		for r, n := (&run{row: -1, col: -1}), 0; n < g.cols/g.workers; n++ {
			packed += g.step(r, n) - g.blocks[0][0].packB.Alone - g.apart - g.task
		}
		want := test.packs * float64(p.A.Bytes(int64(p.M)*int64(p.K))) / test.rate
		if math.Abs(packed-want) > 1e-3*want {
			t.Errorf("%s in blocks of %d columns, %d bytes kept: packs a in %v s, want %v", p, test.cols, test.kept, packed, want)
		}
	}
}

// TestRank_Large: of a product that is larger than the caches no first choice has a block
// of a that its worker packs anew for many blocks of b, or sums that go to memory and back
// many times.
func TestRank_Large(t *testing.T) {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		for _, side := range []int{2048, 4096} {
			m := zen5(4)
			m.Kept = 6 << 20
			p := problem.New(side, side, side, d)
			b := m.ranked(p)[0]
			a := p.A.Bytes(int64(b.M) * int64(p.K))
			if columns := tile.Ceil(p.N, b.N) / 4; a > m.Kept && columns > 2 {
				t.Errorf("%s: %v: a block of %d bytes is packed %d times", p, b, a, columns)
			}
			if steps := tile.Ceil(p.K, b.K); steps > 4 && p.Acc.Bytes(int64(b.M)*int64(b.N)) > m.L3/8 {
				t.Errorf("%s: %v: sums go in and out %d times", p, b, steps)
			}
		}
	}
}

// TestRank_Rows: of a b that comes from memory for few rows of a, blocks have long rows, each
// of which begins with a wait.
func TestRank_Rows(t *testing.T) {
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		for _, m := range []int{64, 128} {
			p := problem.New(m, 4096, 6144, d)
			if b := zen5(4).ranked(p)[0]; p.B.Bytes(int64(b.N)) < 3<<10 {
				t.Errorf("%s: rows of %v are %d bytes long", p, b, p.B.Bytes(int64(b.N)))
			}
		}
	}
	p, m := problem.New(64, 4096, 6144, tile.Float32), zen5(4)
	if short := m.seconds(p, tile.Blocks{M: 64, K: 512, N: 256}) / m.seconds(p, tile.Blocks{M: 64, K: 512, N: 1536}); short < 1.1 {
		t.Errorf("%s: blocks of 256 columns take %.2f times as long as of 1536", p, short)
	}
}

// TestMakespan holds the time of the last worker to what follows without playing it
// through: equal programs that workers share evenly, and one too many; and half a program
// more where a worker is held up.
func TestMakespan(t *testing.T) {
	for _, test := range []struct {
		rows, cols int
		want       float64
	}{{4, 4, 4}, {1, 4, 1}, {1, 5, 2}, {1, 1, 1}, {8, 1, 2}} {
		g := &grid{batch: 1, rows: test.rows, cols: test.cols, workers: 4, sharing: 1}
		for i := range g.blocks {
			for j := range g.blocks[i] {
				g.blocks[i][j] = block{product: 1, packB: Packing{Packers: 1}}
			}
		}
		if have, want := g.makespan(), test.want+heldUp/2; have != want {
			t.Errorf("%d×%d programs of one second on 4 workers: %v s, want %v", test.rows, test.cols, have, want)
		}
	}
}
