package traverse_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
)

// table writes block groups[i] of an array at step i.
func table(t *testing.T, values ...float64) ([]*tile.Program, map[string]tile.Tensor) {
	b := tile.New("table")
	i := b.Axis("i", len(values), tile.Arbitrary)
	groups := b.Table("groups", len(values))
	w := b.In("w", tile.Float32, tile.Array(20, 8), tile.Block(8, 8).At(groups.At(i), tile.Const(0)))
	o := b.Out("o", tile.Float32, tile.Array(20, 8), tile.Block(8, 8).At(groups.At(i), tile.Const(0)))
	b.Store(o, w)
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	x := tile.NewTensor(tile.Int32, len(values))
	for i, v := range values {
		x.Set(i, v)
	}
	return programs, map[string]tile.Tensor{"groups": x}
}

func TestSteps_Tables(t *testing.T) {
	programs, tables := table(t, 1, 1, 2, 0)
	s := sum(t, programs, tables)
	want := traverse.Counters{GridSteps: 4, BlocksLoaded: 4, LoadsSkipped: 1, BytesLoaded: 16 + 20*8*4, BlocksStored: 3, BytesStored: 20 * 8 * 4, FastBytes: 16 + 4*256}
	if s.Counters != want {
		t.Errorf("have %+v, want %+v", s.Counters, want)
	}
	for want, values := range map[string][]float64{
		"o: block [1, 0] is visited again": {1, 2, 1},
		"w: block [3, 0] at (i=1)":         {0, 3},
		"w: block [-1, 0]":                 {-1},
	} {
		programs, tables := table(t, values...)
		var wrong *tile.Error
		if _, err := traverse.Sum(context.Background(), programs, tables); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "walk_test.go:") {
			t.Errorf("have %v, want %q", err, want)
		}
	}
	for want, tables := range map[string]map[string]tile.Tensor{
		"groups of 4 is not given":     nil,
		"have int32[3], want int32[4]": {"groups": tile.NewTensor(tile.Int32, 3)},
		"no program has a table x":     {"groups": tables["groups"], "x": tables["groups"]},
	} {
		if _, err := traverse.Sum(context.Background(), programs, tables); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("have %v, want %q", err, want)
		}
	}
}

func ragged(t *testing.T) []*tile.Program {
	programs, err := kernels.All[4].Build(problem.New(20, 30, 25, tile.BFloat16), "", tile.Blocks{M: 8, K: 16, N: 16})
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// TestWrite_Golden has every way to write a traversal.
func TestWrite_Golden(t *testing.T) {
	ctx := context.Background()
	var text, csv, json bytes.Buffer
	if err := traverse.WriteText(ctx, &text, ragged(t), nil, 9); err != nil {
		t.Fatal(err)
	}
	if err := traverse.WriteCSV(ctx, &csv, ragged(t), nil, 3); err != nil {
		t.Fatal(err)
	}
	r, err := traverse.Record(ctx, "ragged", ragged(t), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJSON(&json); err != nil {
		t.Fatal(err)
	}
	goldentest.Assert(t, "testdata/ragged.txt", text.Bytes())
	goldentest.Assert(t, "testdata/ragged.csv", csv.Bytes())
	goldentest.Assert(t, "testdata/ragged.json", json.Bytes())
}

// TestSum_Canceled: a walk over a grid without end ends with its context.
func TestSum_Canceled(t *testing.T) {
	programs, err := kernels.All[2].Build(problem.New(1<<14, 1<<14, 1<<14, tile.Int8), "", tile.Blocks{M: 1, K: 1, N: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := traverse.Sum(ctx, programs, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("have %v", err)
	}
}
