package mosaic_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"matladder/kernels/kernelstest"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
)

func TestCheck(t *testing.T) {
	square := func(n int, d tile.Dtype) problem.Matmul { return problem.New(n, n, n, d) }
	for _, test := range []struct {
		name, kernel string
		p            problem.Matmul
		b            tile.Blocks
		target       string
		vmem         int64
		want         string // "" for none
	}{
		{"whole arrays", "v1", square(100, tile.Int8), tile.Blocks{M: 100, K: 100, N: 100}, "v5e", 0, ""},
		{"ragged", "v5", square(1000, tile.BFloat16), tile.Blocks{M: 128, K: 256, N: 512}, "v4", 0, ""},
		{"columns", "v3", square(1000, tile.Float32), tile.Blocks{M: 100, K: 100, N: 100}, "v5e", 0,
			"mosaic: v3_block: block of a: 100 of the 1000 elements along the last dimension of a float32 array: memory is tiled, take a multiple of 128, or all"},
		{"rows", "v5", square(1000, tile.BFloat16), tile.Blocks{M: 100, K: 128, N: 128}, "v6e", 0,
			"block of a: 100 of the 1000 elements along the second to last dimension of a bfloat16 array: memory is tiled, take a multiple of 8, or all"},
		{"packed rows", "v5", square(1024, tile.Int8), tile.Blocks{M: 16, K: 128, N: 128}, "v5e", 0, "take a multiple of 32, or all"},
		{"packed rows of no whole tiles", "v5", square(1000, tile.Int8), tile.Blocks{M: 16, K: 128, N: 128}, "v5e", 0, ""},
		{"no int8", "v2", square(1024, tile.Int8), tile.Blocks{M: 512, K: 1024, N: 512}, "v4", 0, "mosaic: v2_parallel: dot: v4 does not multiply int8 by int8"},
		{"fits by default", "v1", square(1024, tile.Float32), tile.Blocks{M: 1024, K: 1024, N: 1024}, "v5e", 0, ""},
		{"too big by default", "v1", square(2048, tile.Float32), tile.Blocks{M: 2048, K: 2048, N: 2048}, "v5e", 0,
			"mosaic: v1_naive: needs 48.00 MiB of VMEM for its blocks and scratch, v5e has 16.00 MiB"},
		{"fits with more", "v1", square(2048, tile.Float32), tile.Blocks{M: 2048, K: 2048, N: 2048}, "v5e", 64 << 20, ""},
		{"too big for the chip", "v1", square(4096, tile.Float32), tile.Blocks{M: 4096, K: 4096, N: 4096}, "v5e", 1 << 30, "needs 192.00 MiB of VMEM for its blocks and scratch, v5e has 128.00 MiB"},
		{"two of each block", "v5", square(8192, tile.BFloat16), tile.Blocks{M: 1024, K: 1024, N: 1024}, "v5e", 15 << 20, "needs 16.00 MiB"},
		{"may stay in VMEM", "v1", square(2048, tile.Float32), tile.Blocks{M: 2048, K: 2048, N: 2048}, "v7x", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			target, err := mosaic.FindTarget(test.target)
			if err != nil {
				t.Fatal(err)
			}
			programs := kernelstest.Build(t, test.kernel, test.p, test.b)
			err = target.Check(programs, mosaic.Options{VMEMBytes: test.vmem})
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v, want %q", err, test.want)
			}
			var big *mosaic.TooBigError
			var unsupported *mosaic.UnsupportedError
			if strings.Contains(test.want, "needs") != errors.As(err, &big) || errors.As(err, &big) == errors.As(err, &unsupported) {
				t.Errorf("%T", err)
			}
		})
	}
	if _, err := mosaic.FindTarget("v9"); err == nil || !strings.Contains(err.Error(), "v4, v5e, v5p, v6e, v7x") {
		t.Error(err)
	}
}

// TestRefusals: what has no text, or would be wrong, is told with its line.
func TestRefusals(t *testing.T) {
	reduction := kernelstest.Build(t, "v5", problem.New(64, 64, 64, tile.Float32), tile.Blocks{M: 16, K: 16, N: 16})
	reduction[0].Grid[2].Semantics = tile.Parallel
	short := kernelstest.Build(t, "v5", problem.New(64, 64, 64, tile.Float32), tile.Blocks{M: 16, K: 16, N: 16})
	short[0].Grid[0].Size = 3

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
	moving := one(func(b *tile.Builder, x, o *tile.Ref) {
		b.Fill(o, 0)
		b.Loop("s", 200, func(s *tile.Axis) {
			b.Accumulate(o, tile.Slice(tile.Cast(tile.Add(x, x), tile.Int32), 1, s, 8))
		})
	})
	large := one(func(b *tile.Builder, x, o *tile.Ref) {
		b.Store(o, tile.IndexValue(tile.Const(1<<31)))
	})
	for name, test := range map[string]struct {
		programs []*tile.Program
		want     string
	}{
		"parallel reduction":  {reduction, "parallel axis k"},
		"part of the output":  {short, "the last ones are never written"},
		"product of unsigned": {unsigned, "mosaic/check_test.go:"},
		"moving slice":        {moving, "mosaic: small: slice: where it starts changes in a loop"},
		"large index":         {large, "mosaic: small: index: 2147483648 does not fit 32 bits"},
	} {
		if _, err := mosaic.Lower(test.programs, mosaic.Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestConfig reads what the custom call says to the compiler.
func TestConfig(t *testing.T) {
	programs := kernelstest.Build(t, "v5", problem.New(256, 256, 256, tile.BFloat16), tile.Blocks{M: 128, K: 128, N: 128})
	launch, err := mosaic.Lower(programs, mosaic.Options{VMEMBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	text := launch.Module()
	var config string
	for _, line := range strings.Split(text, "\n") {
		if m := callPattern.FindStringSubmatch(line); m != nil {
			config = strings.ReplaceAll(m[3], `\22`, `"`)
		}
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(config), &got); err != nil {
		t.Fatal(err)
	}
	call := got["custom_call_config"].(map[string]any)
	delete(call, "body")
	have, _ := json.Marshal(got)
	const want = `{"custom_call_config":{"needs_layout_passes":true,"serialization_format":1},"scoped_memory_configs":[{"memory_space":1,"offset":0,"size":67108864}]}`
	if string(have) != want {
		t.Errorf("%s, want %s", have, want)
	}
	if !strings.Contains(text, `loc("v5_quant")`) || !strings.HasPrefix(text, "module @v5_quant {\n  func.func public @main(") {
		t.Error(text)
	}
}
