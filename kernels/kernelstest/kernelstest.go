// Package kernelstest hands tests the programs of all problem families but matmul, which
// has suites of its own.
package kernelstest

import (
	"fmt"
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// A Case is a kernel on a problem.
type Case struct {
	Kernel   kernels.Kernel
	Problem  problem.Problem
	Programs []*tile.Program
}

// Ordered are the outputs of a launch in the order of tile.Bind.
func (c Case) Ordered(named map[string]tile.Tensor) []tile.Tensor {
	b, err := tile.Bind(c.Programs)
	if err != nil {
		panic(err) // whoever made them has bound them
	}
	var list []tile.Tensor
	for _, r := range b.Out {
		list = append(list, named[r.Name])
	}
	return list
}

// Each calls f, in a subtest, for each kernel of each family but the first: on the
// family's sample in all that it spells out, and of block shapes on the first that the
// kernel proposes and on small ones that do not divide the arrays.
func Each(t *testing.T, f func(t *testing.T, c Case)) { OneIn(t, 1, f) }

// OneIn is Each of one case in n of every kernel, but one at the least. Kernels begin with
// different ones of their first four, which differ in dtype and block shape.
func OneIn(t *testing.T, n int, f func(t *testing.T, c Case)) {
	met := map[string]int{} // cases by kernel
	for _, family := range problem.Families()[1:] {
		for _, words := range append(append([]string(nil), family.Dtypes...), family.Examples...) {
			asked, err := family.Parse(words)
			if err != nil {
				t.Fatal(err)
			}
			p := family.Make(family.Sample, asked)
			for _, k := range kernels.Ladder(family) {
				if k.Supports(p) != nil {
					continue
				}
				for _, b := range append(k.Candidates(p, problem.Machine{Parallel: 2})[:1], problem.Clip(p, tile.Blocks{M: 16, K: 32, N: 64})) {
					for _, variant := range k.Variants(p) {
						name := family.Name + "/" + k.Name()
						at, ok := met[name]
						if !ok {
							at = n - 1 - len(met)%min(n, 4)
						}
						if met[name] = at + 1; (at+1)%n != 0 {
							continue
						}
						t.Run(fmt.Sprintf("%s/%s/%s%s", name, words, b, variant), func(t *testing.T) {
							programs, err := k.Build(p, variant, b)
							if err != nil {
								t.Fatal(err)
							}
							f(t, Case{k, p, programs})
						})
					}
				}
			}
		}
	}
}

// Build builds a rung of matmul, by its number or name.
func Build(t testing.TB, rung string, p problem.Matmul, b tile.Blocks) []*tile.Program {
	t.Helper()
	k, err := kernels.Find(rung)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := k.Build(p, "", b)
	if err != nil {
		t.Fatal(err)
	}
	return programs
}
