package tune

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/harness/tuned"
	"matladder/internal/thoroughtest"
	"matladder/machine"
	"matladder/stats/interval"
	"matladder/tile"
)

// adjuster is a fake with adjustments: keys with their values.
type adjuster struct {
	backend.Backend
	keys  map[string][]string
	wrong string // an adjustment whose output does not pass
	bad   string // one that does not compile
}

func (a adjuster) Adjustments(_ context.Context, _ []*tile.Program, params backend.Params) ([]backend.Params, error) {
	var list []backend.Params
	for _, key := range slices.Sorted(maps.Keys(a.keys)) {
		for _, value := range a.keys[key] {
			if params.Extra[key] != value {
				list = append(list, with(params, key, value))
			}
		}
	}
	return list, nil
}

func with(params backend.Params, key, value string) backend.Params {
	params.Extra = maps.Clone(params.Extra)
	if params.Extra == nil {
		params.Extra = map[string]string{}
	}
	params.Extra[key] = value
	return params
}

// has reports whether parameters have a pair, or with "key=" any of that key.
func has(params backend.Params, pair string) bool {
	key, value, _ := strings.Cut(pair, "=")
	have := params.Extra[key]
	return have != "" && (value == "" || have == value)
}

func (a adjuster) Compile(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	if has(params, a.bad) {
		return nil, backend.ErrUnsupported
	}
	e, err := backend.Compile(ctx, a.Backend, programs, params)
	if err == nil && has(params, a.wrong) {
		e = wrongExe{seeded.Of(e, programs, new(seeded.References))}
	}
	return e, err
}

type wrongExe struct{ backend.Seeded }

func (wrongExe) Check(context.Context, backend.CheckSpec) (backend.CheckResult, error) {
	return backend.CheckResult{Detail: "zeros"}, nil
}

// TestAdjust: an adjustment is taken if it is faster by what matters, and its output
// right, and others with it; the evidence shows it. Of machines that are noisy in other
// ways most agree.
func TestAdjust(t *testing.T) {
	t.Parallel()
	faster := func(by float64, pairs ...string) func(backend.Params) float64 {
		return func(p backend.Params) float64 {
			for _, pair := range pairs {
				if !has(p, pair) {
					return 1
				}
			}
			return 1 - by
		}
	}
	both := func(f, g func(backend.Params) float64) func(backend.Params) float64 {
		return func(p backend.Params) float64 { return f(p) * g(p) }
	}
	seeds := 40 / thoroughtest.OneIn(1, 4, 10)
	keys := map[string][]string{"b": {"pieces", "along"}, "c": {"past"}, "run": {"64", "256"}}
	for _, test := range []struct {
		name       string
		cost       func(backend.Params) float64
		wrong, bad string
		own        map[string]string // of the tuner's parameters
		want       string
		least      int // rows of 40 that have it
	}{
		{"10 % faster", faster(0.1, "b=pieces"), "", "", nil, "b=pieces", 38},
		{"0.3 % faster", faster(0.003, "b=pieces"), "", "", nil, "", 38},
		{"none matters", faster(0), "", "", nil, "", 38},
		{"slower", func(p backend.Params) float64 { return 1 + 0.02*float64(len(p.Extra)) }, "", "", nil, "", 40},
		{"wrong", faster(0.1, "b=pieces"), "b=pieces", "", nil, "", 38},
		{"wrong, and another", both(faster(0.1, "b=pieces"), faster(0.05, "run=64")), "b=pieces", "", nil, "run=64", 38},
		{"refused", faster(0.1, "b=pieces"), "", "b=pieces", nil, "", 38},
		{"two", both(faster(0.1, "b=pieces"), faster(0.05, "run=64")), "", "", nil, "b=pieces run=64", 38},
		{"one with the other", both(faster(0.1, "b=pieces"), faster(0.05, "b=pieces", "run=64")), "", "", nil, "b=pieces run=64", 38},
		{"together", faster(0.1, "b=pieces", "run=64"), "", "", nil, "b=pieces run=64", 34},
		{"beside its own", faster(0.1, "c=past"), "", "", map[string]string{"b": "pieces"}, "c=past", 38},
	} {
		t.Run(test.name, func(t *testing.T) {
			as := map[string]int{}
			for seed := range uint64(seeds) {
				n := newNoisy(seed, func(tile.Blocks) float64 { return 1e-3 })
				n.burst = func(slow float64, _ tile.Blocks) float64 { return slow }
				n.cost = func(_ tile.Blocks, p backend.Params) float64 { return test.cost(p) }
				u := tuner(n.fake)
				u.Backend, u.Seed, u.Space.Most = adjuster{n, keys, test.wrong, test.bad}, seed, 4
				u.Params.Extra = test.own
				row, err := u.Tune(context.Background(), job(1024))
				if err != nil || n.open != 0 {
					t.Fatal(err, n.open)
				}
				as[row.Params]++
				extra, err := backend.ParseExtra(row.Params)
				if err != nil {
					t.Fatal(err)
				}
				e := row.Evidence
				p := backend.Params{Extra: extra}
				for k, v := range test.own {
					p = with(p, k, v)
				}
				if has(p, test.wrong) || has(p, test.bad) || test.cost(p) > test.cost(backend.Params{Extra: test.own}) {
					t.Errorf("seed %d: %s with %+v", seed, row.Params, e.Adjusted)
				}
				if a := e.Adjusted; a.Tried < 3 || e.Ended != tuned.ByEvidence || (row.Params != "") != (a.Low >= 1+alike && a.Low <= a.Gain && a.Gain <= a.High && a.Rounds >= interval.Enough && a.Rounds == e.Samples) {
					t.Errorf("seed %d: %q: %+v", seed, row.Params, e)
				}
			}
			if as[test.want] < test.least*seeds/40 {
				t.Errorf("want %q: %v", test.want, as)
			}
		})
	}
}

// TestAdjust_Known: what a table answers with parameters stays if the block shape that
// was found is not faster with its own, whatever else seems faster, and the evidence is
// then that of its block shape.
func TestAdjust_Known(t *testing.T) {
	t.Parallel()
	known := tuned.Answer{Blocks: tile.Blocks{M: 96, K: 1024, N: 192}, Params: "b=pieces"}
	found := tuned.Answer{Blocks: tile.Blocks{M: 256, K: 64, N: 256}}
	for _, test := range []struct {
		gain float64
		bad  string // what this backend does not know any more
		more string // what is faster than all, and wrong
		want tuned.Answer
	}{{0.1, "", "", known}, {0.03, "", "", found}, {0.1, known.Params, "", found}, {0.1, "", "c=", known}} {
		f := newFake(func(b tile.Blocks) float64 {
			if b == found.Blocks {
				return 0.95e-3
			}
			return 1e-3
		})
		f.cost = func(b tile.Blocks, p backend.Params) float64 {
			switch {
			case has(p, test.more):
				return 0.8
			case b == known.Blocks && has(p, known.Params):
				return 1 - test.gain
			}
			return 1
		}
		u := tuner(f)
		u.Backend, u.Space.Most = adjuster{f, map[string][]string{"c": {"past", "copied", "cached", "never"}}, test.more, test.bad}, 1000
		j := job(1024)
		j.Known = []tuned.Answer{known}
		row, err := u.Tune(context.Background(), j)
		if have := (tuned.Answer{Blocks: row.Blocks, Params: row.Params}); err != nil || have != test.want || row.Evidence.Tried[row.Blocks] != 1 || row.Evidence.RunnerUp == row.Blocks || test.bad == "" && row.Evidence.Adjusted.Tried < 2 {
			t.Errorf("%v: %v %+v", test.gain, have, row.Evidence)
		}
	}
}

// stepper is a fake whose adjustments are half and double of a number, and a word.
type stepper struct{ *fake }

func (stepper) Adjustments(_ context.Context, _ []*tile.Program, params backend.Params) ([]backend.Params, error) {
	n := kibOf(params)
	list := []backend.Params{with(params, "kib", strconv.Itoa(n/2)), with(params, "kib", strconv.Itoa(2*n))}
	if params.Extra["c"] == "" {
		list = append(list, with(params, "c", "past"))
	}
	return list, nil
}

// kibOf is the number of a stepper: 256 if nothing else is asked for.
func kibOf(params backend.Params) int {
	if n, err := strconv.Atoi(params.Extra["kib"]); err == nil {
		return n
	}
	return 256
}

// TestAdjust_Farther: a number is taken on to where it is best, however far that is from
// the rule's, whether another adjustment is faster too or not, and no farther.
func TestAdjust_Farther(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		best int     // the number
		step float64 // that each factor of 2 costs
		past float64 // what c=past is multiplied by
		want string
		most int    // adjustments that are tried
		own  string // number of the tuner's parameters
	}{
		{256, 0.05, 1, "", 6, ""}, // with the pairs of what does not matter
		{16, 0.05, 1.05, "kib=16", 20, ""},
		{2048, 0.05, 1.05, "kib=2048", 20, ""},
		{32, 0.05, 0.8, "c=past kib=32", 20, ""},
		{32, 0.2, 0.9, "c=past kib=32", 20, ""},
		{16, 0.001, 1.05, "", 6, ""}, // no step matters
		{16, 0.2, 0.8, "c=past", 20, "64"},
	} {
		for seed := range uint64(10 / thoroughtest.OneIn(1, 3, 10)) {
			f := newFake(func(tile.Blocks) float64 { return 1e-3 })
			f.cost = func(_ tile.Blocks, p backend.Params) float64 {
				cost := 1 + test.step*math.Abs(math.Log2(float64(kibOf(p))/float64(test.best)))
				if has(p, "c=past") {
					cost *= test.past
				}
				return cost
			}
			u := tuner(f)
			u.Backend, u.Seed, u.Space.Most = stepper{f}, seed, 4
			if test.own != "" {
				u.Params = with(u.Params, "kib", test.own)
			}
			row, err := u.Tune(context.Background(), job(1024))
			if tried := row.Evidence.Adjusted.Tried; err != nil || row.Params != test.want || tried > test.most || f.open != 0 || test.own != "" && row.Evidence.Adjusted.Gain > 1.4 {
				t.Errorf("%+v: seed %d: %q of %d: %+v %v", test, seed, row.Params, tried, row.Evidence.Adjusted, err)
			}
		}
	}
}

// TestAdjust_Memory: no more executables are open at a time than have room.
func TestAdjust_Memory(t *testing.T) {
	for room, want := range map[float64]string{2: "b=pieces", 3: "b=pieces c=past"} {
		f := newFake(func(tile.Blocks) float64 { return 1e-3 })
		f.cost = func(_ tile.Blocks, p backend.Params) float64 { return 1 - 0.1*float64(len(p.Extra)) }
		u := tuner(f)
		j := job(1024)
		u.Space.Device.MemoryBytes = machine.Figure{Value: 4 * room * float64(j.Problem.Bytes()), Source: "made up"}
		u.Backend = adjuster{f, map[string][]string{"b": {"pieces"}, "c": {"past"}}, "", ""}
		row, err := u.Tune(context.Background(), j)
		if room == 2 && row.Params == "c=past" { // as fast
			want = row.Params
		}
		if err != nil || row.Params != want || f.most > int(room) {
			t.Errorf("room for %v: %v, %q, %d open at a time", room, err, row.Params, f.most)
		}
	}
}

// TestAdjust_Ends: over budget there are no adjustments, and the row says so; a
// cancelled search has no row.
func TestAdjust_Ends(t *testing.T) {
	open := func() (*fake, *Tuner) {
		f := newFake(valley)
		f.cost = func(_ tile.Blocks, p backend.Params) float64 { return 1 - 0.1*float64(len(p.Extra)) }
		u := tuner(f)
		u.Backend = adjuster{f, map[string][]string{"b": {"pieces"}}, "", ""}
		return f, u
	}
	f, u := open()
	begin := f.clock
	var found, ended time.Duration // since begin: the block shape, and all
	u.Observe = func(e Event) {
		if !e.Adjusting {
			found = f.clock.Sub(begin)
		}
	}
	row, err := u.Tune(context.Background(), job(1024))
	ended = f.clock.Sub(begin)
	if err != nil || row.Params != "b=pieces" || row.Evidence.Ended != tuned.ByEvidence || found >= ended {
		t.Fatalf("%v %+v in %v of %v", err, row, found, ended)
	}
	for _, part := range []float64{0, 0.3} {
		f, u := open()
		u.Budget = found + time.Duration(part*float64(ended-found))
		u.now = func() time.Time { // no part of the block shape's search is left out
			if f.clock.Sub(begin) < found {
				return begin
			}
			return f.clock
		}
		row, err := u.Tune(context.Background(), job(1024))
		if err != nil || row.Params != "" || row.Evidence.Ended != tuned.ByBudget || (row.Evidence.Adjusted.Tried > 0) != (part > 0) || f.open != 0 {
			t.Errorf("%v of the time: %v %+v", part, err, row)
		}
	}
	f, u = open()
	ctx, cancel := context.WithCancel(context.Background())
	u.Observe = func(e Event) {
		if e.Adjusting {
			cancel()
		}
	}
	if row, err := u.Tune(ctx, job(1024)); !errors.Is(err, context.Canceled) || f.open != 0 {
		t.Errorf("%v %v, %d open", row, err, f.open)
	}
}
