package triton_test

import (
	"errors"
	"strings"
	"testing"

	"matladder/kernels/kernelstest"
	"matladder/lower/triton"
	"matladder/problem"
	"matladder/tile"
)

// TestFits: what one multiprocessor cannot hold is told before any compiler runs.
func TestFits(t *testing.T) {
	square := func(n int, d tile.Dtype) problem.Matmul { return problem.New(n, n, n, d) }
	for _, test := range []struct {
		name, kernel string
		p            problem.Matmul
		b            tile.Blocks
		target       string
		params       triton.Params
		want         string // "" for none
	}{
		{"whole arrays, small", "v1", square(64, tile.Float32), tile.Blocks{M: 64, K: 64, N: 64}, "sm_80", triton.Params{}, ""},
		{"whole arrays", "v1", square(1024, tile.BFloat16), tile.Blocks{M: 1024, K: 1024, N: 1024}, "sm_90", triton.Params{},
			"triton: v1_naive: one program needs 4096.0 KiB of registers, sm_90 has 223.0 KiB"},
		{"panels", "v2", square(1024, tile.BFloat16), tile.Blocks{M: 8, K: 1024, N: 8}, "sm_80", triton.Params{}, ""},
		{"long panels", "v2", square(8192, tile.BFloat16), tile.Blocks{M: 64, K: 8192, N: 64}, "sm_90", triton.Params{}, "needs 2048.0 KiB of shared memory, sm_90 has 227.0 KiB"},
		{"the third rung", "v3", square(4096, tile.BFloat16), tile.Blocks{M: 128, K: 128, N: 128}, "sm_90", triton.Params{}, ""},
		{"the third rung of float32", "v3", square(4096, tile.Float32), tile.Blocks{M: 128, K: 128, N: 128}, "sm_80", triton.Params{}, ""},
		{"and where shared memory is small", "v3", square(4096, tile.Float32), tile.Blocks{M: 128, K: 128, N: 128}, "sm_89", triton.Params{},
			"needs 128.0 KiB of shared memory, sm_89 has 99.0 KiB"},
		{"large blocks", "v5", square(4096, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 256}, "sm_90", triton.Params{Warps: 8, Stages: 4}, ""},
		{"too few threads", "v5", square(4096, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 256}, "sm_90", triton.Params{Warps: 4}, "needs 128.0 KiB of registers, sm_90 has 111.5 KiB"},
		{"too many stages", "v5", square(4096, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 256}, "sm_90", triton.Params{Stages: 5}, "needs 240.0 KiB of shared memory"},
		{"AMD: one stage of two in registers", "v5", square(4096, tile.BFloat16), tile.Blocks{M: 256, K: 64, N: 256}, "gfx942", triton.Params{Stages: 2}, ""},
		{"AMD: both in shared memory", "v5", square(4096, tile.BFloat16), tile.Blocks{M: 256, K: 128, N: 256}, "gfx950", triton.Params{Stages: 2}, "needs 256.0 KiB of shared memory, gfx950 has 160.0 KiB"},
		{"AMD: one operand after the other", "v5", square(4096, tile.Float32), tile.Blocks{M: 128, K: 128, N: 128}, "gfx942", triton.Params{}, ""},
		{"AMD: 512 registers of each of 256 threads", "v5", square(4096, tile.BFloat16), tile.Blocks{M: 256, K: 64, N: 512}, "gfx942", triton.Params{Warps: 4}, "needs 512.0 KiB of registers, gfx942 has 480.0 KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			target, err := triton.FindTarget(test.target)
			if err != nil {
				t.Fatal(err)
			}
			_, err = triton.Lower(kernelstest.Build(t, test.kernel, test.p, test.b), triton.Options{Target: target, Params: test.params})
			var big *triton.TooBigError
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (!errors.As(err, &big) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestStages: where the compiler may read a block of an output before it is stored,
// there are no steps ahead.
func TestStages(t *testing.T) {
	for _, target := range triton.Targets() {
		for name, several := range map[string]bool{"v3": target.Name == "sm_90", "v5": true} {
			l, err := triton.Lower(kernelstest.Build(t, name, problem.New(512, 512, 512, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 128}),
				triton.Options{Target: target, Params: triton.Params{Stages: 2}})
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Kernels[0].Params.Stages; got != 1 && !several || got != 2 && several {
				t.Errorf("%s on %s: %d stages", name, target.Name, got)
			}
		}
	}
}

// TestRefusals: what has no text, or would be wrong, is told with its line.
func TestRefusals(t *testing.T) {
	reduction := kernelstest.Build(t, "v5", problem.New(64, 64, 64, tile.Float32), tile.Blocks{M: 16, K: 16, N: 16})
	reduction[0].Grid[2].Semantics = tile.Parallel

	one := func(f func(*tile.Builder, *tile.Ref, *tile.Ref)) []*tile.Program {
		b := tile.New("small")
		zero := tile.Const(0)
		x := b.In("x", tile.Uint8, tile.Array(8, 256), tile.Block(8, 256).At(zero, zero))
		o := b.Out("o", tile.Int32, tile.Array(8, 8), tile.Block(8, 8).At(zero, zero))
		f(b, x, o)
		programs, err := b.Programs()
		if err != nil {
			t.Fatal(err)
		}
		return programs
	}
	unsigned := one(func(b *tile.Builder, x, o *tile.Ref) { b.Store(o, tile.Dot(x, x, tile.TransB)) })
	large := one(func(b *tile.Builder, _, o *tile.Ref) { b.Store(o, tile.IndexValue(tile.Const(1<<31))) })
	float8 := kernelstest.Build(t, "v5", problem.New(64, 64, 64, tile.Float8E4M3FN), tile.Blocks{M: 16, K: 32, N: 16})
	for name, test := range map[string]struct {
		programs []*tile.Program
		want     string
	}{
		"parallel reduction":     {reduction, "parallel axis k"},
		"product of unsigned":    {unsigned, "triton/check_test.go:"},
		"large index":            {large, "triton: small: index: 2147483648 does not fit 32 bits"},
		"float8 before its time": {float8, "sm_80 has no float8_e4m3fn"},
	} {
		target, err := triton.FindTarget("sm_80")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := triton.Lower(test.programs, triton.Options{Target: target}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestParams(t *testing.T) {
	p, err := triton.ParseParams(map[string]string{"num_warps": "8", "num_stages": "3", "group": "4", "split_k": "2"})
	if want := (triton.Params{Warps: 8, Stages: 3, Group: 4, SplitK: 2}); err != nil || p != want {
		t.Errorf("%+v, %v", p, err)
	}
	if again, err := triton.ParseParams(p.Values()); err != nil || again != p {
		t.Errorf("%+v, %v", again, err)
	}
	for values, want := range map[[2]string]string{
		{"num_warps", "3"}:   "num_warps = 3: must be a power of two",
		{"num_warps", "64"}:  "num_warps = 64: must be 1 to 32",
		{"num_stages", "0"}:  `num_stages = "0": must be a positive integer`,
		{"group", "x"}:       `group = "x": must be a positive integer`,
		{"warps", "4"}:       `unknown parameter "warps" (known: group, num_stages, num_warps, split_k)`,
		{"group", "1000000"}: "must be 1 to 1024",
	} {
		if _, err := triton.ParseParams(map[string]string{values[0]: values[1]}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", values, err, want)
		}
	}
	if _, err := triton.Lower(nil, triton.Options{Params: triton.Params{Warps: -1}}); err == nil {
		t.Error("negative warps")
	}
}

// TestAMD: operands lie as they are given, and float32 is no product of threads.
func TestAMD(t *testing.T) {
	target, err := triton.FindTarget("gfx942")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		p := problem.New(512, 512, 512, d)
		if d == tile.Float32 {
			p.Precision = tile.Highest
		}
		l, err := triton.Lower(kernelstest.Build(t, "v5", p, tile.Blocks{M: 128, K: 64, N: 128}), triton.Options{Target: target})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Kernels[0].Params; len(l.Kernels) != 1 || got.Warps != 4 || got.Stages != 2 || strings.Count(l.Kernels[0].Body, "tt.dot") != 1 {
			t.Errorf("%s: %d kernels, %+v, %d products", d, len(l.Kernels), got, strings.Count(l.Kernels[0].Body, "tt.dot"))
		}
	}
}
