package workshop

import (
	"context"
	"strings"
	"testing"

	"matladder/problem"
	"matladder/tile"
	core "matladder/workshop/solutions/ex12"
	own "matladder/workshop/solutions/ex13"
	round "matladder/workshop/solutions/ex5"
)

// twoPasses computes relu(a @ b), right but by two programs.
func twoPasses(p problem.Matmul) ([]*tile.Program, error) {
	zero := tile.Const(0)
	whole := tile.Block(p.M, p.N).At(zero, zero)
	t := tile.New("product")
	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(p.M, p.K).At(zero, zero))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(p.K, p.N).At(zero, zero))
	x := t.Out("x", tile.Float32, tile.Array(p.M, p.N), whole)
	t.Store(x, tile.Dot(a, b))
	first, err := t.Programs()
	if err != nil {
		return nil, err
	}
	t = tile.New("relu")
	x = t.In("x", tile.Float32, tile.Array(p.M, p.N), whole)
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), whole)
	t.Store(o, tile.Cast(tile.Relu(x), p.Out))
	second, err := t.Programs()
	return append(first, second...), err
}

// matchesInMemory finds the best matches by two programs.
func matchesInMemory(m, k, n int, s tile.Blocks) ([]*tile.Program, error) {
	zero := tile.Const(0)
	t := tile.New("matches")
	i, j := t.Axis("i", tile.Ceil(m, s.M), tile.Parallel), t.Axis("j", tile.Ceil(n, s.N), tile.Parallel)
	a := t.In("a", tile.Float32, tile.Array(m, k), tile.Block(s.M, k).At(i, zero))
	b := t.In("b", tile.Float32, tile.Array(n, k), tile.Block(s.N, k).At(j, zero))
	x := t.Out("x", tile.Float32, tile.Array(m, n), tile.Block(s.M, s.N).At(i, j))
	t.Store(x, tile.Dot(a, b, tile.TransB))
	first, err := t.Programs()
	if err != nil {
		return nil, err
	}
	t = tile.New("best")
	i = t.Axis("i", tile.Ceil(m, s.M), tile.Parallel)
	x = t.In("x", tile.Float32, tile.Array(m, n), tile.Block(s.M, n).At(i, zero))
	o := t.Out("o", tile.Float32, tile.Array(m, 1), tile.Block(s.M, 1).At(i, zero))
	t.Store(o, tile.RowMax(x))
	second, err := t.Programs()
	return append(first, second...), err
}

// TestMistakes: what a learner may do is answered with a line that says what is
// wrong, never with a panic or a false ok.
func TestMistakes(t *testing.T) {
	ctx := context.Background()
	shape := func(s tile.Blocks) func() tile.Blocks { return func() tile.Blocks { return s } }
	one := func(build func(problem.Matmul) ([]*tile.Program, error)) checker {
		return activation{build}.check
	}
	for name, c := range map[string]struct {
		check checker
		want  []string
	}{
		"a panic": {
			one(func(problem.Matmul) ([]*tile.Program, error) { panic("out of order") }),
			[]string{"your code panics", "out of order"},
		},
		"nothing built": {
			one(func(problem.Matmul) ([]*tile.Program, error) { return nil, nil }),
			[]string{"no program yet"},
		},
		"a nil program": {
			one(func(problem.Matmul) ([]*tile.Program, error) { return []*tile.Program{nil}, nil }),
			[]string{"no program yet"},
		},
		"a program of something else": {
			one(func(p problem.Matmul) ([]*tile.Program, error) { p.M++; return twoPasses(p) }),
			[]string{"want one output, o of float32[24, 56]"},
		},
		"an input that is not there": {
			one(func(p problem.Matmul) ([]*tile.Program, error) {
				programs, err := twoPasses(p)
				return programs[1:], err
			}),
			[]string{"result wrong", "x"},
		},
		"two passes": {
			one(twoPasses),
			[]string{"ok     result right on 24x40x56, float32", "WRONG  grid steps: 2, target at most 1", "WRONG  bytes moved: 28.9 kB, target at most 18.2 kB"},
		},
		"the output as accumulator": {
			rounding{round.Roundings, func(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
				return rung("v3", p, s)
			}}.check,
			[]string{"It grows with k."},
		},
		"a sum that is rounded at every step": {
			rounding{round.Roundings, func(p problem.Matmul, s tile.Blocks) ([]*tile.Program, error) {
				programs, err := round.Build(p, s)
				for _, x := range programs {
					last := len(x.Body) - 1
					x.Body = append(x.Body[:last:last], x.Body[last].Body...)
				}
				return programs, err
			}}.check,
			[]string{"ok     rel_err by k", "WRONG  stores of blocks of o: 96, target at most 6. Each rounds."},
		},
		"blocks that do not fit": {
			largest{shape(tile.Blocks{M: 1024, K: 1024, N: 1024}), shape(tile.Blocks{M: 2048, K: 256, N: 1024})}.check,
			[]string{"fast memory: 24.0 MiB, target at most 12.0 MiB. That leaves the compiler", "BFloat16 2048x256x1024: fast memory:"},
		},
		"blocks that the compiler refuses": {
			largest{shape(tile.Blocks{M: 1024, K: 512, N: 1024}), shape(tile.Blocks{M: 1024, K: 1024, N: 1024})}.check,
			[]string{"BFloat16 1024x1024x1024: fast memory: 16.0 MiB, target at most 12.0 MiB"},
		},
		"blocks that are too small": {
			largest{shape(tile.Blocks{M: 512, K: 1024, N: 512}), shape(tile.Blocks{M: 1024, K: 128, N: 1024})}.check,
			[]string{"Other blocks that there is room for move less", "There is room for a deeper bk"},
		},
		"a tile that waits, and cuts that read much": {
			cutting{core.Loads, func() (int, int) { return 3, 2 }, func() (int, int) { return 64, 64 }}.check,
			[]string{"tile 3×2: latency is the limit, 75 % of the peak", "WRONG  m_c 64 is not a multiple of 3", "WRONG  bytes from behind L2, for 1000 products: 187, target at most 70"},
		},
		"a tile that does not fit registers": {
			cutting{core.Loads, func() (int, int) { return 12, 2 }, core.Cut}.check,
			[]string{"WRONG  registers: 27, target at most 16", "ok     a panel of B in L1: 16.0 KiB"},
		},
		"a tile of one vector, and cuts beyond caches": {
			cutting{core.Loads, func() (int, int) { return 14, 1 }, func() (int, int) { return 1024, 140 }}.check,
			[]string{"ok     registers: 16", "WRONG  tile 14×1: issue is the limit, 93.3 % of the peak", "WRONG  a panel of B in L1: 32.0 KiB", "WRONG  a block of A in L2: 560.0 KiB"},
		},
		"no tile": {
			cutting{core.Loads, func() (int, int) { return 0, -1 }, core.Cut}.check,
			[]string{"tile 0×-1, k_c 256, m_c 126: each is from 1 to 1024"},
		},
		"matches in memory": {
			matching{matchesInMemory}.check,
			[]string{"ok     result right on 40 queries, 128 texts of 24", "WRONG  bytes moved: 81.8 kB, target at most 40.9 kB. Matches stay"},
		},
		"the best of a program of something else": {
			matching{func(m, k, n int, s tile.Blocks) ([]*tile.Program, error) { return own.Build(m+1, k, n, s) }}.check,
			[]string{"result wrong on 32 queries", "a: have float32[32, 16], want float32[33, 16]"},
		},
	} {
		r, err := look(ctx, c.check, learnersLine)
		said := text(t, r, err)
		if r.OK() {
			t.Errorf("%s passes:\n%s", name, said)
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in\n%s", name, want, said)
			}
		}
	}
}

// TestReport: nothing looked at is no success.
func TestReport(t *testing.T) {
	if (&Report{}).OK() {
		t.Error("an empty report is right")
	}
}
