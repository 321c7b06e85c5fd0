package harness

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/configs"
	"matladder/harness/tuned"
	"matladder/problem"
	"matladder/tile"
)

// TestTunedTables reads every table that comes with matladder: it is of the machine
// that its name says, and its blocks lie within their arrays.
func TestTunedTables(t *testing.T) {
	files, err := filepath.Glob("../configs/tuned/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		machine := strings.TrimSuffix(filepath.Base(file), ".yaml")
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
			if r.Blocks != problem.Clip(r.Problem, r.Blocks) {
				t.Errorf("%s: %s: blocks %s", file, r.Key, r.Blocks)
			}
		}
	}
}

// TestTunedBlocks: a tuned row takes the place of the kernel's candidates and adds its
// parameters to those of the sweep, which win, and the points say how it was found,
// unless blocks were asked for.
func TestTunedBlocks(t *testing.T) {
	f := newFake()
	best := tile.Blocks{M: 96, K: 112, N: 80}
	table := &tuned.Table{}
	table.Put(tuned.Row{Key: tuned.KeyOf("v4_optblock", "", problem.New(2048, 2048, 2048, tile.Float32)), Blocks: best, Params: "b=pieces run=256"})
	for _, test := range []struct {
		sizes, blocks, own string // own parameters of the sweep
		source, params     string
		points             int
	}{
		{"2048", "", "", "tuned", "b=pieces run=256", 1},
		{"1024x2048x2048", "", "x=1", "tuned_nearest_batch", "b=pieces run=256 x=1", 1},
		{"2048", "", "run=64", "tuned", "run=64", 1},
		{"128", "", "", CandidateBlocks, "", 1},
		{"2048", "all", "", CandidateBlocks, "", 5},
		{"2048", "64x64x64", "x=1", GivenBlocks, "x=1", 1},
	} {
		c, err := Parse("t.yaml", []byte("sizes: ["+test.sizes+"]\nkernels: [3, 4]\ndtypes: [float32]\n"))
		if err != nil {
			t.Fatal(err)
		}
		if test.blocks != "" {
			if c.Blocks, c.AllBlocks, err = ParseBlocks(c.Family, test.blocks); err != nil {
				t.Fatal(err)
			}
		}
		c.Tuned = table
		own, err := backend.ParseExtra(test.own)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Plan(t.Context(), c, f.device, backend.Params{Extra: own})
		if err != nil {
			t.Fatal(err)
		}
		points := s.Groups[0].Points
		if points[0].Params.String() != test.own || points[1].Params.String() != test.params {
			t.Errorf("%+v: parameters %s, and beside them %s", test, points[1].Params, points[0].Params)
		}
		fixed, chosen := points[0].Contender.(Rung), points[1].Contender.(Rung)
		if len(points) != 1+test.points || fixed.Source != FixedBlocks || chosen.Source != test.source ||
			test.points == 1 && test.source != GivenBlocks && test.source != CandidateBlocks && chosen.Blocks != best {
			t.Errorf("%+v: %v", test, points)
		}
	}
}

// TestTunedParams: parameters of a tuned row reach the backend and the rows of results,
// a resumed sweep knows its rows by them, and those of another table are others.
func TestTunedParams(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	c := small(t, "kernels: [3, 4]\n")
	g := c.Family.Make(c.Sizes[0], c.Asked[0])
	row := tuned.Row{Key: tuned.KeyOf("v4_optblock", "", g), Blocks: tile.Blocks{M: 16, K: 16, N: 16}, Params: "b=pieces run=256"}
	c.Asked, c.Sizes, c.Tuned = c.Asked[:1], c.Sizes[:1], &tuned.Table{}
	for i, params := range []string{"b=pieces run=256", "b=pieces run=256", "b=along"} {
		f := newFake()
		row.Params = params
		c.Tuned.Put(row)
		opt := options(f, path)
		opt.Resume = i > 0
		out, err := start(context.Background(), plan(t, c, f), opt, f.now)
		if err != nil {
			t.Fatal(err)
		}
		if have := f.params["v4_optblock"]; i != 1 && have != params || f.params["v3_block"] != "" {
			t.Errorf("compiled with %q and %q, want %q", have, f.params["v3_block"], params)
		}
		for _, r := range out.Rows[len(out.Rows)-out.New:] {
			if want := map[string]string{"v4_optblock": params}[r.Kernel]; r.Params != want {
				t.Errorf("%d: a row of %s with %q", i, r.Kernel, r.Params)
			}
		}
		if (out.New == 0) != (i == 1) {
			t.Errorf("%d: %d new rows", i, out.New)
		}
	}
}
