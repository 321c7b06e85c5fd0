package workshop

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"matladder/internal/cli"
	"matladder/internal/thoroughtest"
	"matladder/problem"
	"matladder/tile"
)

func float32Guess(s tile.Blocks) guess {
	return guess{"Float32", "v4", problem.New(4096, 4096, 4096, tile.Float32), s}
}

func bfloat16Guess(s tile.Blocks) guess {
	return guess{"BFloat16", "v5", problem.New(4096, 4096, 4096, tile.BFloat16), s}
}

// TestLargest_Compiles: libtpu has room for all blocks that the check of exercise
// 7 calls right, and refuses those which take 16 MiB by themselves.
func TestLargest_Compiles(t *testing.T) {
	if why := libtpu(t); why != "" {
		t.Skip(why)
	}
	bin := build(t, []string{"inspect"})
	inspect := func(g guess) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "inspect"), g.kernel, "--dtype", g.p.A.String(), "--sizes", "4096",
			"--blocks", g.blocks.String(), "--topology", "v5e", "--as", "schedule").CombinedOutput()
		return string(out), err
	}
	for _, with := range []func(tile.Blocks) guess{float32Guess, bfloat16Guess} {
		right := rightGuesses(t, with)
		if len(right) == 0 {
			t.Fatal("no blocks are right")
		}
		run := thoroughtest.Choose(1, 3, 3)
		for _, g := range right {
			if !run() {
				continue
			}
			if out, err := inspect(g); err != nil {
				t.Errorf("%s %s is called right, but %v\n%s", g.name, g.blocks, err, out)
			}
		}
	}
	var exit *exec.ExitError
	full := bfloat16Guess(tile.Blocks{M: 1024, K: 1024, N: 1024})
	if out, err := inspect(full); !errors.As(err, &exit) || exit.ExitCode() != cli.Failed {
		t.Errorf("%s %s: %v\n%s", full.name, full.blocks, err, out)
	}
}

// rightGuesses are all that the check calls right.
func rightGuesses(t *testing.T, with func(tile.Blocks) guess) []guess {
	t.Helper()
	zero := with(tile.Blocks{})
	best, err := bestPowers(zero.kernel, zero.p)
	if err != nil {
		t.Fatal(err)
	}
	var right []guess
	const step = 128
	for m := step; m <= zero.p.M; m += step {
		for n := step; n <= zero.p.N && 2*zero.p.Out.Bytes(int64(m*n)) <= room; n += step {
			for k := step; k <= zero.p.K; k += step {
				g, r := with(tile.Blocks{M: m, K: k, N: n}), &Report{}
				if err := g.judge(r, best); err != nil {
					t.Fatal(err)
				}
				if !r.OK() {
					if k > step && !r.Lines[0].OK {
						break // a deeper bk takes more
					}
					continue
				}
				right = append(right, g)
			}
		}
	}
	return right
}
