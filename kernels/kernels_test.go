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
	for _, f := range problem.Families() {
		ladder := Ladder(f)
		dirs, err := filepath.Glob(filepath.Join(folder(f), "v*_*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(dirs) != len(ladder)+apart(f) {
			t.Errorf("%d folders (%v), %d kernels of %s in the table", len(dirs), dirs, len(ladder), f.Name)
		}
		for i, k := range ladder {
			if k.Number() != i+1 {
				t.Errorf("%s: number %d in place %d", k.Name(), k.Number(), i+1)
			}
			for _, file := range []string{"kernel.go", "README.md"} {
				if _, err := os.Stat(filepath.Join(folder(f), k.Name(), file)); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// folder is where a family's kernels are: those of the first are here.
func folder(f *problem.Family) string {
	if f == problem.Families()[0] {
		return "."
	}
	return f.Name
}

// rungs are the kernels whose support is known here; more may follow them.
const rungs = 5

// TestBuild builds every candidate of every kernel that supports a problem.
func TestBuild(t *testing.T) {
	machines := []problem.Machine{{Parallel: 1}, {Parallel: 2}, {Parallel: 7, FastBytes: 1 << 20}}
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

// TestCandidates_Panels: panels are cut as fast memory that is tiled asks for.
func TestCandidates_Panels(t *testing.T) {
	align := map[tile.Dtype][2]int{tile.Int8: {32, 128}, tile.Int32: {8, 128}}
	for _, test := range []struct{ m, n, bm, bn int }{{128, 128, 64, 128}, {1000, 1000, 512, 512}, {20, 1000, 20, 512}} {
		b := All[1].Candidates(problem.New(test.m, 256, test.n, tile.Int8), problem.Machine{Parallel: 1, Align: align})[0]
		if b.M != test.bm || b.N != test.bn {
			t.Errorf("panels of %d×%d: %d×%d, want %d×%d", test.m, test.n, b.M, b.N, test.bm, test.bn)
		}
	}
}

// apart counts the rungs that are in no sweep: the tables of attention's fifth follow from
// the block shape, which inputs are filled without.
func apart(f *problem.Family) int {
	if f == problem.AttentionFamily {
		return 1
	}
	return 0
}
