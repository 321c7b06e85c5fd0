package model

import (
	"math"
	"strings"
	"testing"

	"matladder/machine"
	"matladder/machine/mesh"
)

func placed(t *testing.T, chip, text string) Placement {
	t.Helper()
	d, err := machine.Find(chip)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mesh.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Place(m, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCollective holds the model to figures worked out by hand from the formulas of
// scaling-book's sharding.md: v5e has links of 43 GB/s one way, v5p of 86.6, a hop takes 0.5 µs,
// and a collective starts in 4.4 µs, 12.2 on v7x.
func TestCollective(t *testing.T) {
	const GB = 1e9
	for _, c := range []struct {
		chip, mesh, kind, axis string
		slice                  string
		bytes, want            float64
	}{
		// a ring of 16: 15/16 of the bytes over two links, 8 hops
		{"v5e", "data=16,model=16", "all-gather", "model", "16x16", GB, 15./16*GB/86e9 + 4e-6 + 4.4e-6},
		{"v5e", "data=16,model=16", "reduce-scatter", "data", "16x16", GB, 15./16*GB/86e9 + 4e-6 + 4.4e-6},
		{"v5e", "data=16,model=16", "all-reduce", "model", "16x16", GB, 2*(15./16*GB/86e9+4e-6) + 4.4e-6},
		// a quarter of an all-gather, but for its hops and that it has all of the bytes
		{"v5e", "data=16,model=16", "all-to-all", "model", "16x16", GB, GB*16/8/43e9 + 4e-6 + 4.4e-6},
		// a line: one link at a time
		{"v5e", "data=4,model=4", "all-gather", "model", "4x4", GB, 3./4*GB/43e9 + 1.5e-6 + 4.4e-6},
		// both dimensions of a whole pod
		{"v5e", "data=1,model=256", "all-gather", "model", "16x16", GB, 255./256*GB/172e9 + 8e-6 + 4.4e-6},
		{"v5p", "data=16,model=32", "all-gather", "data", "4x8x16", GB, 15./16*GB/173.2e9 + 4e-6 + 4.4e-6},
		{"v5p", "data=16,model=32", "all-gather", "model", "4x8x16", GB, 31./32*GB/346.4e9 + 3e-6 + 4.4e-6},
		{"v5e", "data=1,model=1", "all-reduce", "model", "1x1", GB, 0},
		// two devices of a chip: through its memory, half of 7380 GB/s over two
		{"v7x", "data=1,model=2", "all-gather", "model", "1x1x1", GB, GB/2/(7380e9/4) + 12.2e-6},
	} {
		p := placed(t, c.chip, c.mesh)
		got := p.Collective(c.kind, int64(c.bytes), c.axis)
		if math.Abs(got.Seconds-c.want) > 1e-9*c.want || got.Least > got.Seconds || got.Most < got.Seconds || p.Slice() != c.slice {
			t.Errorf("%s %s on %s: %v, want %g on %s", c.chip, c.kind, p.Slice(), got, c.want, c.slice)
		}
	}
}

func TestPlace_Refuses(t *testing.T) {
	for chip, cases := range map[string]map[string]string{
		"v5e": {"data=3": "does not fit the topology of TPU v5e", "data=32,model=16": "a pod of TPU v5e has 256", "model=5": "no slice"},
		"v5p": {"data=81": "no slice of a pod has 81", "data=16384": "a pod of TPU v5p has 8960"},
		"v2":  {"data=2": "nothing is known of the links"},
	} {
		d, err := machine.Find(chip)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range cases {
			m, err := mesh.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Place(m, d); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", chip, text, err, want)
			}
		}
	}
}
