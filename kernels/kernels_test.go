package kernels

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"matladder/problem"
	"matladder/tile"
)

// TestAll_Folders compares the table with the folders: a kernel that is written
// is in the ladder, in its place, under its own name.
func TestAll_Folders(t *testing.T) {
	dirs, err := filepath.Glob("v*_*")
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) != len(All) {
		t.Errorf("%d folders (%v), %d kernels in the table", len(dirs), dirs, len(All))
	}
	for i, k := range All {
		if k.Number() != i+1 {
			t.Errorf("%s: number %d in place %d", k.Name(), k.Number(), i+1)
		}
		for _, file := range []string{"kernel.go", "README.md"} {
			if _, err := os.Stat(filepath.Join(k.Name(), file)); err != nil {
				t.Error(err)
			}
		}
	}
}

// rungs are the kernels whose support is known here; more may follow them.
const rungs = 5

// TestBuild builds every candidate of every kernel that supports a problem.
func TestBuild(t *testing.T) {
	machines := []tile.Machine{{Parallel: 1}, {Parallel: 2}, {Parallel: 7, FastBytes: 1 << 20}}
	for _, s := range [][3]int{{1, 1, 1}, {1024, 1024, 1024}, {1, 4096, 14336}, {1009, 1013, 1019}} {
		for _, p := range problems(s[0], s[1], s[2]) {
			supported := 0
			for _, k := range All {
				if k.Supports(p) != nil {
					continue
				}
				if k.Number() <= rungs {
					supported++
				}
				for _, m := range machines {
					blocks := k.Candidates(p, m)
					seen := map[tile.Blocks]bool{}
					for _, b := range blocks {
						if seen[b] || b != b.Clip(p.M, p.K, p.N) {
							t.Errorf("%s %s: candidate %s is doubled or larger than the arrays", k.Name(), p, b)
						}
						seen[b] = true
						for _, v := range k.Variants(p) {
							programs, err := k.Build(p, v, b)
							if err != nil {
								t.Errorf("%s %s %s: %v", k.Name(), p, b, err)
								continue
							}
							if programs[0].Name != k.Name() {
								t.Errorf("program %s of kernel %s", programs[0].Name, k.Name())
							}
						}
					}
					if len(blocks) == 0 {
						t.Errorf("%s %s: no candidates", k.Name(), p)
					}
				}
			}
			if want := map[bool]int{true: 1, false: rungs}[p.Quant != problem.NoQuant]; supported != want {
				t.Errorf("%s: %d kernels support it, want %d", p, supported, want)
			}
		}
	}
}

func problems(m, k, n int) []problem.Matmul {
	scaled := problem.New(m, k, n, tile.Int8)
	scaled.Quant, scaled.Out = problem.PerTensor, tile.BFloat16
	return []problem.Matmul{
		problem.New(m, k, n, tile.Float32), problem.New(m, k, n, tile.BFloat16), problem.New(m, k, n, tile.Int8), scaled,
	}
}

func TestFind(t *testing.T) {
	for _, s := range []string{"3", "v3", "v3_block", "block"} {
		if k, err := Find(s); err != nil || k.Number() != 3 {
			t.Errorf("%s: %v, %v", s, k, err)
		}
	}
	beyond := fmt.Sprint(len(All) + 1)
	for _, s := range []string{"", "0", beyond, "v" + beyond, "V3"} {
		if k, err := Find(s); err == nil {
			t.Errorf("%q finds %s", s, k.Name())
		}
	}
}
