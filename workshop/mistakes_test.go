package workshop

import (
	"context"
	"strings"
	"testing"

	"matladder/problem"
	"matladder/tile"
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

// TestMistakes: what a learner may do is answered with a line that says what is
// wrong, never with a panic or a false ok.
func TestMistakes(t *testing.T) {
	ctx := context.Background()
	shape := func(s tile.Blocks) func() tile.Blocks { return func() tile.Blocks { return s } }
	one := func(build func(problem.Matmul) ([]*tile.Program, error)) checker {
		return activation(build).check
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
