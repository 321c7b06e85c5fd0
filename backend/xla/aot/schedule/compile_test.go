package schedule_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/xla/aot"
	"matladder/backend/xla/aot/schedule"
	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

func TestMain(m *testing.M) {
	aot.Child()
	os.Exit(m.Run())
}

// compile compiles a kernel and reads its schedule. libtpu is a large download:
// without it the test is skipped, unless MATLADDER_REQUIRE names it.
func compile(t *testing.T, topology string, program *tile.Program) *schedule.Schedule {
	t.Helper()
	dir := t.TempDir()
	c, err := aot.Open(aot.Options{Parallel: 1, Flags: "--xla_jf_dump_to=" + dir})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "tpu") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer c.Close()
	if _, err := c.CompileKernels(t.Context(), topology, []*tile.Program{program}, backend.Params{}); err != nil {
		t.Fatal(err)
	}
	names, err := schedule.Kernels(os.DirFS(dir))
	if err != nil || len(names) != 1 {
		t.Fatalf("kernels %q, %v", names, err)
	}
	s, err := schedule.Read(os.DirFS(dir), names[0])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func steady(t *testing.T, s *schedule.Schedule, p *tile.Program) float64 {
	t.Helper()
	w, err := model.WorkOf(p)
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := s.Steady(mosaic.Conditional(p.Body, w.Shares)...)
	if err != nil {
		t.Fatal(err)
	}
	return bundles
}

// TestPublished compiles the kernels that the step model was fitted with, and
// finds the bundles that analyze's table says, within what versions of libtpu
// differ in.
func TestPublished(t *testing.T) {
	f, err := os.Open("../../../../model/testdata/v5e_published.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]bool{}
	for _, r := range rows[1:] {
		var n [6]int // kernel, -, blocks, size
		for i := range n {
			n[i], _ = strconv.Atoi(r[i])
		}
		loop, _ := strconv.Atoi(r[6])
		key := fmt.Sprint(n[0], r[1:5], loop)
		if done[key] { // a schedule does not depend on the size of the arrays
			continue
		}
		done[key] = true
		dtype := map[string]tile.Dtype{"float32": tile.Float32, "bfloat16": tile.BFloat16}[r[1]]
		build := kernels.All[n[0]-1].Build
		if n[0] == 5 {
			build = tutorial
		}
		programs, err := build(problem.New(n[5], n[5], n[5], dtype), "", tile.Blocks{M: n[2], K: n[3], N: n[4]})
		if err != nil {
			t.Fatal(err)
		}
		s := compile(t, "v5e", programs[0])
		var regions []int
		if r[7] != "" {
			for c := range strings.SplitSeq(r[7], "+") {
				bundles, _ := strconv.Atoi(c)
				regions = append(regions, bundles)
			}
		}
		grid, _ := s.Grid()
		near(t, key+": loop", grid.Len(), loop)
		conditional := s.Conditional()
		if len(conditional) != len(regions) {
			t.Errorf("%s: %d conditional regions, want %v", key, len(conditional), regions)
			continue
		}
		for i, c := range conditional {
			near(t, key+": region", c.Len(), regions[i])
		}
		if int64(s.Steps()) != programs[0].Steps() {
			t.Errorf("%s: %d steps, the grid has %d", key, s.Steps(), programs[0].Steps())
		}
	}
}

// tutorial is the fifth rung as it was measured, in Pallas: the sum is set to 0 in memory,
// where lower/mosaic writes a Fill as the sum's beginning, and the block is stored in a
// region of its own, where it would write the last product with it.
func tutorial(q problem.Problem, _ string, s tile.Blocks) ([]*tile.Program, error) {
	p := q.(problem.Matmul)
	t := tile.New("v5_quant")
	i := t.Axis("i", tile.Ceil(p.M, s.M), tile.Parallel)
	j := t.Axis("j", tile.Ceil(p.N, s.N), tile.Parallel)
	k := t.Axis("k", tile.Ceil(p.K, s.K), tile.Arbitrary)
	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(s.M, s.K).At(i, k))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(s.K, s.N).At(k, j))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(s.M, s.N).At(i, j))
	acc := t.Scratch("acc", p.Acc, s.M, s.N)
	t.When(k.First(), func() { t.Store(acc, tile.Broadcast(tile.Number(0), s.M, s.N)) })
	t.Accumulate(acc, tile.Dot(a, b))
	t.When(tile.Test(tile.Const(0), tile.EQ, tile.Const(1)), func() { t.Fill(acc, 0) }) // nothing, between the two
	t.When(k.Last(), func() { t.Store(o, tile.Cast(acc, p.Out)) })
	return t.Programs()
}

func near(t *testing.T, what string, have, want int) {
	t.Helper()
	if math.Abs(float64(have-want)) > max(3, 0.02*float64(want)) {
		t.Errorf("%s: %d bundles, want %d", what, have, want)
	}
}

// TestEveryGeneration reads a schedule of each: the body does the work, the
// matrix unit is used, whole blocks move, and a step takes the bundles that its
// products need at least.
func TestEveryGeneration(t *testing.T) {
	for generation, delay := range map[string]int{"v4": 1, "v5e": 4, "v5p": 4, "v6e": 4, "v7x": 6} {
		const m, k, n, block = 16384, 8192, 32768, 256 // arrays that could live in VMEM might be put there
		programs, err := kernels.All[4].Build(problem.New(m, k, n, tile.BFloat16), "", tile.Blocks{M: block, K: block, N: block})
		if err != nil {
			t.Fatal(err)
		}
		s := compile(t, generation, programs[0])
		steps := m / block * k / block * n / block
		if generation == "v5p" { // its two cores share the grid
			steps /= 2
		}
		if s.DelaySlots != delay || s.Steps() != steps {
			t.Errorf("%s: %d delay slots, %d steps; want %d, %d", generation, s.DelaySlots, s.Steps(), delay, steps)
		}
		if b := steady(t, s, programs[0]); b < 64 || b > 600 {
			t.Errorf("%s: a step takes %.0f bundles", generation, b)
		}
		body, _ := s.Body()
		if busy := s.Busy(schedule.Matrix, body.Span); 10*busy < body.Len() {
			t.Errorf("%s: %d slots of the matrix unit in use in %d bundles", generation, busy, body.Len())
		}
		if len(s.Transfers) != 3 {
			t.Errorf("%s: transfers %+v", generation, s.Transfers)
		}
		for _, x := range s.Transfers {
			if granule := map[string]int64{"v4": 512}[generation]; x.Granules*max(granule, 32) != 2*block*block {
				t.Errorf("%s: transfer %+v", generation, x)
			}
		}
	}
}
