package tuned

import (
	"fmt"
	"testing"

	"matladder/backend"
	"matladder/problem"
	"matladder/tile"

	"github.com/google/go-cmp/cmp"
)

func row(m, k, n int, d tile.Dtype, blocks tile.Blocks, tried map[tile.Blocks]float64) Row {
	return Row{Key: KeyOf("v4_optblock", "", problem.New(m, k, n, d)), Blocks: blocks,
		Evidence: Evidence{Mode: Measured, Seconds: 2, Low: 1, High: 3, Samples: 9, Tried: tried, Versions: "matladder 1", Date: "2026-11-21"}}
}

func TestPutReplaces(t *testing.T) {
	var table Table
	table.Put(row(512, 512, 512, tile.Int8, tile.Blocks{M: 1, K: 1, N: 1}, nil))
	table.Put(row(512, 512, 512, tile.Int8, tile.Blocks{M: 2, K: 2, N: 2}, nil))
	if len(table.Rows) != 1 || table.Rows[0].Blocks.M != 2 {
		t.Errorf("%+v", table.Rows)
	}
}

// TestOffer: a row whose search was ended by the budget takes the place of another only
// if that was no better founded, or if it shows its block shape to be the faster.
func TestOffer(t *testing.T) {
	old, other := tile.Blocks{M: 1, K: 1, N: 1}, tile.Blocks{M: 2, K: 2, N: 2}
	of := func(b tile.Blocks, ended string, launched int) Row {
		r := row(512, 512, 512, tile.Int8, b, map[tile.Blocks]float64{b: 1})
		r.Evidence.Ended, r.Evidence.Launched, r.Evidence.Candidates = ended, launched, 99
		return r
	}
	confirmed := func(low float64, overOld float64) Row {
		r := of(other, ByBudget, 5)
		r.Evidence.Confirmed = Confirmation{Rival: old, Ratio: 1.1, Low: low, High: 1.2, Rounds: 6}
		r.Evidence.Tried[old] = overOld
		return r
	}
	with := func(r Row, params string, low float64) Row {
		if r.Evidence.Adjusted.Tried = 5; params != "" {
			r.Params, r.Evidence.Adjusted = params, Adjustment{Tried: 5, Gain: 1.1, Low: low, High: 1.2, Rounds: 6}
		}
		return r
	}
	for _, test := range []struct {
		name    string
		old     Row
		new     Row
		want    bool
		unknown bool // the new one's search did not know the old one
	}{
		{"evidence for unknown", of(old, "", 0), of(other, ByEvidence, 5), true, false},
		{"evidence for budget", of(old, ByBudget, 9), of(other, ByEvidence, 5), true, false},
		{"budget for evidence", of(old, ByEvidence, 5), of(other, ByBudget, 9), false, false},
		{"budget for unknown", of(old, "", 0), of(other, ByBudget, 9), false, false},
		{"more for less", of(old, ByBudget, 5), of(other, ByBudget, 5), true, false},
		{"less for more", of(old, ByBudget, 6), of(other, ByBudget, 5), false, false},
		{"shown to be faster", of(old, ByEvidence, 30), confirmed(1.05, 1.1), true, false},
		{"not clearly faster", of(old, ByEvidence, 30), confirmed(0.99, 1.1), false, false},
		{"the old one is not slower", of(old, ByEvidence, 30), confirmed(1.05, 0.99), false, false},
		{"the same with parameters", of(old, ByEvidence, 30), with(of(old, ByBudget, 5), "b=pieces", 1.05), true, false},
		{"with parameters, of another block shape that was not compared", of(old, ByEvidence, 30), with(of(other, ByBudget, 5), "b=pieces", 1.05), false, false},
		{"faster than without its parameters", with(of(old, ByEvidence, 30), "b=pieces", 1.05), confirmed(1.05, 1.1), false, false},
		{"fewer adjustments", with(of(old, ByBudget, 5), "b=pieces", 1.05), of(old, ByBudget, 5), false, false},
		{"as many adjustments", with(of(old, ByBudget, 5), "", 0), with(of(old, ByBudget, 5), "b=pieces", 1.05), true, false},
		{"found at once", of(old, ByEvidence, 30), of(other, ByEvidence, 30), false, true},
		{"found at once, the earlier by budget", of(old, ByBudget, 30), of(other, ByEvidence, 5), true, true},
		{"found at once, shown to be faster", of(old, ByEvidence, 30), confirmed(1.05, 1.1), true, true},
	} {
		var table Table
		if !table.Offer(test.old, false) {
			t.Errorf("%s: an empty table has no place", test.name)
		}
		took := table.Offer(test.new, !test.unknown)
		have, ok := table.Row(test.new.Key)
		want := test.old
		if test.want {
			want = test.new
		}
		if d := cmp.Diff(want, have); took != test.want || !ok || d != "" || len(table.Rows) != 1 {
			t.Errorf("%s: took %v, %s", test.name, took, d)
		}
	}
}

// TestLookup_ByBudget: what a look-up answers says if it was found in too little time.
func TestLookup_ByBudget(t *testing.T) {
	var table Table
	r := row(512, 512, 512, tile.Int8, tile.Blocks{M: 1, K: 1, N: 1}, nil)
	r.Evidence.Ended = ByBudget
	table.Put(r)
	for m, want := range map[int]Source{512: "tuned_by_budget", 1024: "tuned_nearest_batch_by_budget"} {
		if have, ok := table.Lookup(KeyOf("v4_optblock", "", problem.New(m, 512, 512, tile.Int8))); !ok || have.Source != want {
			t.Errorf("%d: %s, want %s", m, have.Source, want)
		}
	}
}

// TestLookup_Predicted: a prediction answers for its own problem alone, and a measured
// row further away for others.
func TestLookup_Predicted(t *testing.T) {
	var table Table
	r := row(1024, 512, 512, tile.Int8, tile.Blocks{M: 2, K: 2, N: 2}, nil)
	r.Evidence.Mode = Predicted
	table.Put(r)
	look := func(m int) (Answer, bool) {
		return table.Lookup(KeyOf("v4_optblock", "", problem.New(m, 512, 512, tile.Int8)))
	}
	if have, ok := look(1024); !ok || have.Source != Exact {
		t.Errorf("its own problem: %+v %v", have, ok)
	}
	if have, ok := look(2048); ok {
		t.Errorf("another: %+v", have)
	}
	table.Put(row(256, 512, 512, tile.Int8, tile.Blocks{M: 1, K: 1, N: 1}, nil))
	if have, ok := look(2048); !ok || have.Source != SameKN || have.Blocks.M != 1 {
		t.Errorf("beside a measured row: %+v %v", have, ok)
	}
}

// TestLookup_Rows: blocks that held all rows of a small batch hold those of a
// larger one too, within bounds; smaller blocks stay what they are.
func TestLookup_Rows(t *testing.T) {
	var table Table
	table.Put(row(16, 4096, 6144, tile.BFloat16, tile.Blocks{M: 16, K: 1024, N: 1024}, nil))
	table.Put(row(256, 4096, 4096, tile.BFloat16, tile.Blocks{M: 128, K: 1024, N: 1024}, nil))
	for _, test := range []struct{ m, n, want int }{
		{8, 6144, 8}, {16, 6144, 16}, {48, 6144, 48}, {64, 6144, 64}, {1000, 6144, 64},
		{64, 4096, 64}, {512, 4096, 128},
	} {
		have, ok := table.Lookup(KeyOf("v4_optblock", "", problem.New(test.m, 4096, test.n, tile.BFloat16)))
		if !ok || have.Blocks.M != test.want {
			t.Errorf("%d×4096×%d: blocks %v %v, want %d rows", test.m, test.n, have.Blocks, ok, test.want)
		}
	}
}

// TestLookup walks the chain from an exact row to none.
func TestLookup(t *testing.T) {
	var table Table
	for i, shape := range [][3]int{{16, 4096, 14336}, {64, 4096, 14336}, {1024, 4096, 14336}, {512, 512, 512}, {1024, 1024, 1024}} {
		r := row(shape[0], shape[1], shape[2], tile.BFloat16, tile.Blocks{M: 4096, K: 128 + i, N: 128}, nil)
		r.Params = fmt.Sprintf("row=%d", i)
		table.Put(r)
	}
	for _, test := range []struct {
		m, k, n int
		d       tile.Dtype
		want    int // bk - 128 of the row that answers; -1 for none
		source  Source
	}{
		{64, 4096, 14336, tile.BFloat16, 1, Exact},
		{64, 4096, 14336, tile.Float32, -1, ""}, // another dtype is another key
		{128, 4096, 14336, tile.BFloat16, 1, NearestBatch},
		{32, 4096, 14336, tile.BFloat16, 1, NearestBatch}, // 16 and 64 are as near: the larger
		{4096, 4096, 14336, tile.BFloat16, 2, SameKN},
		{1, 4096, 14336, tile.BFloat16, 0, SameKN},
		{600, 600, 600, tile.BFloat16, 3, ShapeClass},
		{1000, 1000, 1000, tile.BFloat16, 4, ShapeClass},
		{16, 16, 16, tile.BFloat16, -1, ""},
	} {
		have, ok := table.Lookup(KeyOf("v4_optblock", "", problem.New(test.m, test.k, test.n, test.d)))
		if ok != (test.want >= 0) || have.Source != test.source || ok && (have.Blocks.K != min(test.k, 128+test.want) || have.Params != fmt.Sprintf("row=%d", test.want)) {
			t.Errorf("%+v: have %v %q %v", test, have, have.Source, ok)
		}
		if ok && have.Blocks.M != test.m {
			t.Errorf("%+v: blocks %v are not cut to the array", test, have)
		}
	}
	if _, ok := table.Lookup(KeyOf("v5_quant", "", problem.New(64, 4096, 14336, tile.BFloat16))); ok {
		t.Error("a row of v4 answered for v5")
	}
}

// TestAddTo: an answer adds its parameters in a map of its own, or none of them.
func TestAddTo(t *testing.T) {
	for _, test := range []struct {
		params, own, want string
	}{
		{"", "", ""},
		{"", "x=1", "x=1"},
		{"b=pieces run=256", "", "b=pieces run=256"},
		{"b=pieces run=256", "x=1", "b=pieces run=256 x=1"},
		{"b=pieces run=256", "run=256", "b=pieces run=256"},
		{"b=pieces run=256", "run=64", "run=64"},
	} {
		own, err := backend.ParseExtra(test.own)
		if err != nil {
			t.Fatal(err)
		}
		have, err := Answer{Params: test.params}.AddTo(backend.Params{Threads: 3, Extra: own})
		if have.String() != test.want || have.Threads != 3 || err != nil {
			t.Errorf("%q to %q: %v %v", test.params, test.own, have, err)
		}
		if was := (backend.Params{Extra: own}).String(); was != test.own {
			t.Errorf("%q to %q has changed it to %q", test.params, test.own, was)
		}
	}
	if _, err := (Answer{Params: "b"}).AddTo(backend.Params{}); err == nil {
		t.Error("a parameter without a value was added")
	}
}

// TestCosts takes rows out one by one: 64 falls to 32 at 1.5 ×, 32 to 64, which it
// never tried, and the square stands alone.
func TestCosts(t *testing.T) {
	small, large := tile.Blocks{M: 16, K: 16, N: 16}, tile.Blocks{M: 32, K: 32, N: 32}
	var table Table
	table.Put(row(64, 4096, 4096, tile.Int8, large, map[tile.Blocks]float64{large: 1, small: 1.5}))
	table.Put(row(32, 4096, 4096, tile.Int8, small, map[tile.Blocks]float64{small: 1}))
	table.Put(row(256, 256, 256, tile.Int8, small, nil))
	want := []Cost{{Source: NearestBatch, Rows: 2, Unknown: 1, Mean: 1.5, Worst: 1.5}}
	if d := cmp.Diff(want, table.Costs()); d != "" {
		t.Error(d)
	}
}
