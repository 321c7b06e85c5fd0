package harness

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/configs"
	"matladder/machine"
	"matladder/model/anatomy"
	"matladder/problem"
	"matladder/tile"
)

// TestConfigs loads every sweep that comes with matladder and counts it.
func TestConfigs(t *testing.T) {
	for name, want := range map[string]struct{ groups, shapes, first, last int }{
		"quick":      {4 * 3, 4, 128, 1024},
		"ladder":     {6 * 3, 6, 128, 4096},
		"dynamic":    {1, 1, 2048, 2048},
		"full":       {5 * 4, 5, 512, 8192},
		"heldout":    {20 * 3, 20, 576, 600},
		"drawn":      {40 * 4, 40, 2, 341},
		"batched":    {4 * 2, 4, 16, 128},
		"llm":        {28 * 3, 28, 16, 5120},
		"peers":      {4 * 4, 4, 512, 4096},
		"scaled":     {5 * 3, 5, 2048, 6144},
		"thin":       {14 * 4, 14, 1, 1009},
		"subchannel": {9, 9, 16, 4096},
		"formats":    {2, 2, 16, 4096},
		"inputs":     {2, 1, 2048, 2048},
		"softmax":    {7 * 2, 7, 256, 0}, // of two sizes, as the next
		"norm":       {6 * 5, 6, 256, 0},
		"rope":       {4 * 4, 4, 512, 128},
		"grouped":    {3 * 2, 3, 2048, 1024},
		"mlp":        {4 * 5, 4, 512, 14336},

		"anatomy":         {1, 1, 1024, 1024},
		"attention_peers": {37 * 4, 37, 512, 8},
		"norm_peers":      {4 * 4, 4, 256, 0},
	} {
		c, s := planned(t, name)
		if c.Name != name || len(s.Groups) != want.groups || len(c.Sizes) != want.shapes ||
			c.Sizes[0][0] != want.first || c.Sizes[len(c.Sizes)-1][2] != want.last || c.TimeBudget == 0 {
			t.Errorf("%s: %d groups of %+v", name, len(s.Groups), c)
		}
	}
	if got := len(configs.Names()); got != 26 {
		t.Errorf("%d sweeps, 26 are tested", got)
	}
}

// TestConfigs_Attention counts the sweep of another family.
func TestConfigs_Attention(t *testing.T) {
	c, s := planned(t, "attention")
	if c.Name != "attention" || len(s.Groups) != 6*5 || c.TimeBudget == 0 {
		t.Errorf("%d groups of %+v", len(s.Groups), c)
	}
}

// TestConfigs_RopeFused: what the ways to turn q and k have in common is measured once.
func TestConfigs_RopeFused(t *testing.T) {
	c, s := planned(t, "rope_fused")
	if c.Name != "rope_fused" || len(s.Groups) != 11 || len(c.Layers) != 7 || c.TimeBudget == 0 {
		t.Errorf("%d groups of %+v", len(s.Groups), c)
	}
}

// TestConfigs_Sharded multiplies out a sweep for a mesh: four ways to spread a product, over
// 1, 2, 4 … 16 devices and each way the mesh may be shrunk, strong and weak; without a mesh
// it is refused.
func TestConfigs_Sharded(t *testing.T) {
	text, file, err := configs.Read("sharded")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := machine.Find("v5e")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Plan(t.Context(), c, d, backend.Params{}); err == nil || !strings.Contains(err.Error(), "--mesh") {
		t.Errorf("without a mesh: %v", err)
	}
	c.Mesh = "data=4,model=4"
	s, err := Plan(t.Context(), c, d, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	most := map[string]int{}
	for _, g := range s.Groups {
		if len(g.Points) != 4 {
			t.Errorf("%v: %d points, want one for each way", g.Problem, len(g.Points))
		}
		for _, p := range g.Points {
			most[p.Variant] = max(most[p.Variant], p.devices())
			if rows := p.Problem.(problem.Matmul).M; rows != 32768 && rows != 32768/16*p.devices() {
				t.Errorf("%d rows on %d devices are neither strong nor weak scaling", rows, p.devices())
			}
		}
	}
	if want := map[string]int{"split": 16, "gather": 16, "scatter": 16, "reduce": 16}; !maps.Equal(most, want) {
		t.Errorf("devices by way: %v, want %v", most, want)
	}
	c.Mesh = "data=5"
	if _, err := Plan(t.Context(), c, d, backend.Params{}); err == nil {
		t.Error("32768 rows over 5 devices, weakly: no error")
	}
}

// planned reads a sweep and multiplies it out.
func planned(t *testing.T, name string) (Config, Sweep) {
	t.Helper()
	text, file, err := configs.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Plan(t.Context(), c, newFake().device, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// TestConfigs_Anatomy: each step of the CPU backend once, in float32, those without blocks over
// whole arrays, and the kernel as it is in each dtype.
func TestConfigs_Anatomy(t *testing.T) {
	_, s := planned(t, "anatomy")
	var steps []string
	for p := range s.Points() {
		step := p.Params.Extra[anatomy.Param]
		steps = append(steps, step+" "+p.Problem.Asked().A.String())
		blocks := p.Contender.(Rung).Blocks
		if whole := blocks == (tile.Blocks{M: 1024, K: 1024, N: 1024}); whole != (len(steps) <= anatomy.Blocking) {
			t.Errorf("%s has blocks %s", step, blocks)
		}
	}
	var want []string
	for _, s := range anatomy.Steps {
		want = append(want, s.Word+" float32")
	}
	if want = append(want, " float32", " bfloat16", " int8"); !slices.Equal(steps, want) {
		t.Errorf("%q, want %q", steps, want)
	}
}
