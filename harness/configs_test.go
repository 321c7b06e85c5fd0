package harness

import (
	"testing"

	"matladder/backend"
	"matladder/configs"
)

// TestConfigs loads every sweep that comes with matladder and counts it.
func TestConfigs(t *testing.T) {
	for name, want := range map[string]struct{ groups, shapes, first, last int }{
		"quick":      {4 * 3, 4, 128, 1024},
		"ladder":     {6 * 3, 6, 128, 4096},
		"dynamic":    {1, 1, 2048, 2048},
		"full":       {5 * 4, 5, 512, 8192},
		"heldout":    {20 * 3, 20, 576, 600},
		"llm":        {28 * 3, 28, 16, 5120},
		"peers":      {4 * 4, 4, 512, 4096},
		"scaled":     {5 * 3, 5, 2048, 6144},
		"thin":       {14 * 4, 14, 1, 1009},
		"subchannel": {9, 9, 16, 4096},
		"softmax":    {7 * 2, 7, 256, 0}, // of two sizes, as the next
		"norm":       {6 * 5, 6, 256, 0},
		"rope":       {4 * 4, 4, 512, 128},
		"grouped":    {3 * 2, 3, 2048, 1024},
		"mlp":        {4 * 5, 4, 512, 14336},

		"attention_peers": {7 * 4, 7, 512, 8},
		"norm_peers":      {4 * 4, 4, 256, 0},
	} {
		c, s := planned(t, name)
		if c.Name != name || len(s.Groups) != want.groups || len(c.Sizes) != want.shapes ||
			c.Sizes[0][0] != want.first || c.Sizes[len(c.Sizes)-1][2] != want.last || c.TimeBudget == 0 {
			t.Errorf("%s: %d groups of %+v", name, len(s.Groups), c)
		}
	}
	if got := len(configs.Names()); got != 19 {
		t.Errorf("%d sweeps, 19 are tested", got)
	}
}

// TestConfigs_Attention counts the sweep of another family.
func TestConfigs_Attention(t *testing.T) {
	c, s := planned(t, "attention")
	if c.Name != "attention" || len(s.Groups) != 6*5 || c.TimeBudget == 0 {
		t.Errorf("%d groups of %+v", len(s.Groups), c)
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
