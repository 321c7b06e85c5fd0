package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/tile"
)

// drawn is how many points Further draws.
const drawn = 60

// Further are points of the last rung that nobody chose: sizes, dtypes, generations and
// block shapes drawn at random, by a fixed seed, from those whose blocks the compiler
// grants memory without being asked. Blocks cut an array into whole ones: Pallas does not
// mask what lies behind the end of k.
func Further() []Point {
	rng := rand.New(rand.NewPCG(25, 60))
	var all []Point
	for len(all) < drawn {
		p := Point{
			Kernel: kernels.All[references-1], Dtype: dtypes[rng.IntN(len(dtypes))], Size: 128 * (4 + rng.IntN(29)),
			Topology: generations[rng.IntN(len(generations))], Libtpu: versions[0],
		}
		side := func() int {
			for {
				if n := 128 * (1 + rng.IntN(min(p.Size/128, 16))); p.Size%n == 0 {
					return n
				}
			}
		}
		p.Blocks = tile.Blocks{M: side(), K: side(), N: side()}
		known := func(q Point) bool { return q.Key() == p.Key() }
		if p.granted() && !slices.ContainsFunc(all, known) && !slices.ContainsFunc(matrix(), known) {
			all = append(all, p)
		}
	}
	return all
}

// granted reports whether a generation has the point's dtype and grants its memory.
func (p Point) granted() bool {
	target, err := mosaic.FindTarget(p.Topology)
	if err != nil {
		panic(fmt.Sprintf("pallasref: %v", err)) // the list of generations is wrong
	}
	program, err := p.program()
	if err != nil || target.Check([]*tile.Program{program}, mosaic.Options{}) != nil {
		return false
	}
	const kept = 5 // fourths of what windows and scratch take, with what the compiler spills
	return mosaic.MemoryOf(program).Footprint*kept/4 <= target.DefaultVMEMBytes
}
