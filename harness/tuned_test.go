package harness

import (
	"testing"

	"matladder/backend"
	"matladder/configs"
	"matladder/problem"
	"matladder/tile"
	"matladder/tuned"
)

// TestTunedTables reads every table that comes with matladder: it is of the machine
// that its name says, and its blocks lie within their arrays.
func TestTunedTables(t *testing.T) {
	for _, machine := range configs.TunedMachines() {
		text, file, _ := configs.Tuned(machine)
		table, err := tuned.Parse(file, text)
		if err != nil {
			t.Error(err)
			continue
		}
		if table.Machine != machine || len(table.Rows) == 0 {
			t.Errorf("%s: %d rows of %s", file, len(table.Rows), table.Machine)
		}
		for _, r := range table.Rows {
			if r.Blocks != r.Blocks.Clip(r.M, r.K, r.N) {
				t.Errorf("%s: %s: blocks %s", file, r.Key, r.Blocks)
			}
		}
	}
}

// TestTunedBlocks: a tuned row takes the place of the kernel's candidates, and the
// points say how it was found, unless blocks were asked for.
func TestTunedBlocks(t *testing.T) {
	f := newFake()
	best := tile.Blocks{M: 96, K: 112, N: 80}
	table := &tuned.Table{}
	table.Put(tuned.Row{Key: tuned.KeyOf("v4_optblock", "", problem.New(2048, 2048, 2048, tile.Float32)), Blocks: best})
	for _, test := range []struct {
		sizes, blocks, source string
		points                int
	}{
		{"2048", "", "tuned", 1},
		{"1024x2048x2048", "", "tuned_nearest_batch", 1},
		{"128", "", CandidateBlocks, 1},
		{"2048", "all", CandidateBlocks, 5},
		{"2048", "64x64x64", GivenBlocks, 1},
	} {
		c, err := Parse("t.yaml", []byte("sizes: ["+test.sizes+"]\nkernels: [3, 4]\ndtypes: [float32]\n"))
		if err != nil {
			t.Fatal(err)
		}
		if test.blocks != "" {
			if c.Blocks, c.AllBlocks, err = ParseBlocks(test.blocks); err != nil {
				t.Fatal(err)
			}
		}
		c.Tuned = table
		s, err := Plan(c, f.device, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		points := s.Groups[0].Points
		if len(points) != 1+test.points || points[0].BlockSource != FixedBlocks || points[1].BlockSource != test.source ||
			test.points == 1 && test.source != GivenBlocks && test.source != CandidateBlocks && points[1].Blocks != best {
			t.Errorf("%+v: %v", test, points)
		}
	}
}
