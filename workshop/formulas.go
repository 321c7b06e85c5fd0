package workshop

import (
	"context"
	"fmt"
	"math"

	"matladder/machine"
	"matladder/machine/mesh"
	"matladder/model"
	"matladder/model/anatomy"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
	blank0 "matladder/workshop/blanks/ex0"
	blank10 "matladder/workshop/blanks/ex10"
	blank12 "matladder/workshop/blanks/ex12"
	blank4 "matladder/workshop/blanks/ex4"
	yours0 "matladder/workshop/exercises/ex0"
	yours10 "matladder/workshop/exercises/ex10"
	yours12 "matladder/workshop/exercises/ex12"
	yours4 "matladder/workshop/exercises/ex4"
	solved0 "matladder/workshop/solutions/ex0"
	solved10 "matladder/workshop/solutions/ex10"
	solved12 "matladder/workshop/solutions/ex12"
	solved4 "matladder/workshop/solutions/ex4"
)

// The exercises that are formulas, or numbers to choose by them.

var alikeAt512 = exerciseOf[alike](declares{"FLOPs": {yours0.FLOPs, blank0.FLOPs, solved0.FLOPs}, "DeviceSeconds": {yours0.DeviceSeconds, blank0.DeviceSeconds, solved0.DeviceSeconds}, "Ratio": {yours0.Ratio, blank0.Ratio, solved0.Ratio}})

type alike struct {
	FLOPs         func(m, k, n int) float64
	DeviceSeconds func(flops, peak, share float64) float64
	Ratio         func(n int, peak, slow, fast, dispatch float64) float64
}

func (a alike) check(_ context.Context, r *Report) error {
	for _, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {512, 512, 512}, {4096, 4096, 4096}} {
		got, want := a.FLOPs(s[0], s[1], s[2]), 2*float64(s[0])*float64(s[1])*float64(s[2])
		call := fmt.Sprintf("FLOPs(%d, %d, %d)", s[0], s[1], s[2])
		if !r.near(call, got, want, "") {
			return nil
		}
	}
	if !r.near("DeviceSeconds(1e12, 2e14, 0.5)", a.DeviceSeconds(1e12, 2e14, 0.5), 0.01, " s") {
		return nil
	}
	d, err := machine.Find("v5e")
	if err != nil {
		return err
	}
	peak, dispatch := d.PeakAt("bfloat16", "").Value, d.DispatchSeconds.Value
	const slow, fast = 0.1, 0.9
	for _, n := range []int{512, 1024, 4096, 8192} {
		flops := 2 * math.Pow(float64(n), 3)
		want := (dispatch + flops/(peak*slow)) / (dispatch + flops/(peak*fast))
		call := fmt.Sprintf("Ratio(%d, %.3g, %g, %g, %.3g)", n, peak, slow, fast, dispatch)
		if !r.near(call, a.Ratio(n, peak, slow, fast, dispatch), want, " times as fast") {
			break
		}
	}
	return nil
}

// near adds whether a formula gives what it should, but for float64's roundings.
func (r *Report) near(call string, got, want float64, unit string) bool {
	return r.expect(math.Abs(got-want) <= 1e-9*math.Abs(want),
		fmt.Sprintf("%s = %.4g%s", call, got, unit),
		fmt.Sprintf("%s is %.4g%s, should be %.4g", call, got, unit, want))
}

var countBytes = exerciseOf[counting](declares{"V2": {yours4.V2, blank4.V2, solved4.V2}, "V3": {yours4.V3, blank4.V3, solved4.V3}, "V4": {yours4.V4, blank4.V4, solved4.V4}})

type counting struct {
	V2 func(m, k, n, bm, bn int) int
	V3 func(m, k, n int) int
	V4 func(m, k, n int, s tile.Blocks) int
}

func (c counting) check(_ context.Context, r *Report) error {
	for _, x := range []struct {
		kernel  string
		m, k, n int
		s       tile.Blocks
	}{
		{"v2", 1024, 1024, 1024, tile.Blocks{M: 512, K: 1024, N: 512}},
		{"v2", 1024, 512, 4096, tile.Blocks{M: 256, K: 512, N: 2048}},
		{"v2", 1000, 300, 700, tile.Blocks{M: 128, K: 300, N: 256}},
		{"v4", 1024, 1024, 1024, tile.Blocks{M: 256, K: 256, N: 256}},
		{"v4", 4096, 4096, 4096, tile.Blocks{M: 512, K: 1024, N: 1024}},
		{"v4", 1000, 1300, 700, tile.Blocks{M: 256, K: 512, N: 128}},
		{"v3", 1024, 1024, 1024, tile.Blocks{M: 128, K: 128, N: 128}},
		{"v3", 1000, 300, 2000, tile.Blocks{M: 128, K: 128, N: 128}},
	} {
		want, err := counts(x.kernel, problem.New(x.m, x.k, x.n, tile.Float32), x.s)
		if err != nil {
			return err
		}
		var got int
		call := ""
		switch x.kernel {
		case "v2":
			got, call = c.V2(x.m, x.k, x.n, x.s.M, x.s.N), fmt.Sprintf("V2(%d, %d, %d, %d, %d)", x.m, x.k, x.n, x.s.M, x.s.N)
		case "v3":
			got, call = c.V3(x.m, x.k, x.n), fmt.Sprintf("V3(%d, %d, %d)", x.m, x.k, x.n)
		default:
			got, call = c.V4(x.m, x.k, x.n, x.s), fmt.Sprintf("V4(%d, %d, %d, %s)", x.m, x.k, x.n, x.s)
		}
		r.expect(int64(got) == want.BytesMoved, fmt.Sprintf("%s = %d", call, got), fmt.Sprintf("%s is %d, should be %d", call, got, want.BytesMoved))
	}
	return nil
}

var sharePod = exerciseOf[podShare](declares{"Gather": {yours10.Gather, blank10.Gather, solved10.Gather}, "Most": {yours10.Most, blank10.Most, solved10.Most}})

type podShare struct {
	Gather func(bytes float64, chips int) float64
	Most   func(hidden int) int
}

// along are meshes of v5e with so many chips along model, of one kind: a shorter axis than 16
// is a line.
func along(chips int) (model.Placement, error) {
	d, _, err := model.FindSlice("v5e")
	if err != nil {
		return model.Placement{}, err
	}
	return model.Place(mesh.Mesh{{Name: mesh.Data, Size: chips}, {Name: mesh.Model, Size: chips}}, d)
}

func (p podShare) check(_ context.Context, r *Report) error {
	const peak = 197e12
	axes := map[int]model.Placement{}
	for _, n := range []int{1, 2, 4, 8, 16} {
		at, err := along(n)
		if err != nil {
			return err
		}
		axes[n] = at
	}
	for _, x := range []struct {
		bytes int64
		chips int
	}{{33554432, 16}, {33554432, 4}, {1 << 30, 8}, {65536, 16}, {65536, 2}, {65536, 1}} {
		want, got := axes[x.chips].Collective("all-gather", x.bytes, mesh.Model).Seconds, p.Gather(float64(x.bytes), x.chips)
		call := fmt.Sprintf("Gather(%d, %d)", x.bytes, x.chips)
		r.expect(math.Abs(got-want) <= 1e-6*want, fmt.Sprintf("%s = %s", call, micro(got)), fmt.Sprintf("%s is %s, should be %s", call, micro(got), micro(want)))
	}
	for _, hidden := range []int{28672, 14336, 4096, 2048, 53248} {
		want := 1
		const rows = 1 << 20
		for n := 2; n <= 16; n *= 2 {
			at := axes[n]
			send := 2 * 2 * rows * float64(n-1) / float64(n) / at.Bandwidth(mesh.Model) // of each column of D
			if multiply := 6 * rows * float64(hidden) / float64(n) / peak; send <= multiply {
				want = n
			}
		}
		got := p.Most(hidden)
		r.expect(got == want, fmt.Sprintf("Most(%d) = %d", hidden, got), fmt.Sprintf("Most(%d) is %d, should be %d", hidden, got, want))
	}
	return nil
}

// micro is a time in µs.
func micro(seconds float64) string { return fmt.Sprintf("%.4g µs", seconds*1e6) }

var cutForCore = exerciseOf[cutting](declares{"Loads": {yours12.Loads, blank12.Loads, solved12.Loads}, "Tile": {yours12.Tile, blank12.Tile, solved12.Tile}, "Cut": {yours12.Cut, blank12.Cut, solved12.Cut}})

type cutting struct {
	Loads     func(rows, vectors int) float64
	Tile, Cut func() (int, int)
}

func (e cutting) check(_ context.Context, r *Report) error {
	for _, c := range [][2]int{{1, 1}, {6, 2}, {12, 2}} {
		got, want, call := e.Loads(c[0], c[1]), float64(c[0]+c[1])/float64(c[0]*c[1]), fmt.Sprintf("Loads(%d, %d)", c[0], c[1])
		r.expect(got == want, fmt.Sprintf("%s = %.4g", call, got), fmt.Sprintf("%s is %.4g, should be %.4g: loads over products.", call, got, want))
	}
	core, _ := anatomy.CoreOf("avx2")
	const size, word = 1024, 4
	rows, vectors := e.Tile()
	kc, mc := e.Cut()
	if min(rows, vectors, kc, mc) < 1 || max(rows, vectors, kc, mc) > size {
		r.wrong("tile %d×%d, k_c %d, m_c %d: each is from 1 to %d", rows, vectors, kc, mc, size)
		return nil
	}
	core.MR, core.NR = rows, vectors*core.Lanes
	limit, cycles := core.Count(anatomy.Packing, core.MR, 1, core.NR).Limit() // one step along k: nothing is far
	peak := 100 / (cycles * core.FMAs * float64(core.Lanes))
	said := fmt.Sprintf("tile %d×%d: %s is the limit, %.3g %% of the peak", rows, vectors, limit, peak)
	r.atMost("registers", int64(rows*vectors+vectors+1), 16, whole, "Others would go to memory and back at each step.")
	r.expect(peak > 99.9, said, said+". Are there sums enough to begin two a cycle, and fewer loads than products?")
	panel, block := int64(kc*core.NR*word), int64(mc*kc*word)
	r.atMost("a panel of B in L1", panel, 16<<10, traverse.FastMemory, "Rows of A pass through the other half.")
	r.atMost("a block of A in L2", block, 128<<10, traverse.FastMemory, "Panels of B pass through the other half.")
	r.expect(mc%rows == 0, "m_c is whole tiles", fmt.Sprintf("m_c %d is not a multiple of %d rows", mc, rows))
	// An element of B serves m_c products, one of C comes and goes once in k_c.
	r.atMost("bytes from behind L2, for 1000 products", int64(1000*(word/float64(mc)+2*word/float64(kc))), 70, whole, "B costs 4 / m_c for each product, and C 8 / k_c: it comes and goes once for each cut of k.")
	return nil
}
