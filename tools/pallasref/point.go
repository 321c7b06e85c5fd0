package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"matladder/backend/xla/aot"
	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
)

// references is how many kernels, from the first, reference.py has.
const references = 5

// versions of libtpu, that of the plugin first.
var versions = []string{"0.0.51", "0.0.42.1"}

var (
	generations = []string{"v5e", "v6e", "v5p", "v7x", "v4"}
	dtypes      = []tile.Dtype{tile.BFloat16, tile.Float32, tile.Int8}
	sizes       = []int{512, 1024, 2048, 4096, 8192}
)

// The kernels that choose their blocks have two shapes at every size, and at one
// size all that they propose.
var (
	everySize = []tile.Blocks{{M: 128, K: 128, N: 128}, {M: 512, K: 1024, N: 1024}}
	allShapes = 4096
)

// machine is what kernels may know of every one of the generations.
var machine = problem.Machine{Parallel: 2}

// Point is one thing to compile: a kernel for square matrices.
type Point struct {
	Kernel   kernels.Kernel
	Dtype    tile.Dtype
	Size     int
	Blocks   tile.Blocks
	Topology string // generation: v5e
	Libtpu   string // version
}

// Matrix lists what is compared, in the order of the table.
func Matrix() []Point { return slices.Clone(points()) }

var points = sync.OnceValue(func() []Point { return append(matrix(), Further()...) })

// matrix is what somebody chose.
func matrix() []Point {
	var all []Point
	for _, version := range versions {
		for _, generation := range generations {
			for _, d := range dtypes {
				for _, kernel := range kernels.All[:references] {
					for _, size := range sizes {
						for _, b := range shapes(kernel, d, size) {
							all = append(all, Point{kernel, d, size, b, generation, version})
						}
					}
				}
			}
		}
	}
	return all
}

func shapes(kernel kernels.Kernel, d tile.Dtype, size int) []tile.Blocks {
	all := kernel.Candidates(problem.New(size, size, size, d), machine)
	if len(all) == 1 || size == allShapes {
		return all
	}
	few := tile.Candidates(size, size, size, everySize...)
	return slices.DeleteFunc(all, func(b tile.Blocks) bool { return !slices.Contains(few, b) })
}

// Key tells points apart.
func (p Point) Key() string {
	return fmt.Sprintf("%s %s %d %s %s %s", p.Kernel.Name(), p.Dtype, p.Size, p.Blocks, p.Topology, p.Libtpu)
}

func (p Point) program() (*tile.Program, error) {
	programs, err := p.Kernel.Build(problem.New(p.Size, p.Size, p.Size, p.Dtype), "", p.Blocks)
	if err != nil {
		return nil, err
	}
	return programs[0], nil
}

// hopeless reports whether windows and scratch exceed the memory itself. To find
// that out takes the compiler minutes, and some of them all of the machine's
// memory.
func hopeless(p *tile.Program, generation string) (bool, error) {
	target, err := mosaic.FindTarget(generation)
	return err == nil && mosaic.MemoryOf(p).Footprint > target.VMEMBytes, err
}

// libtpuName is what libtpu calls a generation.
func libtpuName(generation string) (string, error) {
	top, err := aot.FindTopology(generation)
	return top.Libtpu, err
}

// largest is how much VMEM a kernel may need, in bytes, and still be compiled in
// seconds: blocks of whole matrices are unrolled.
const largest = 40 << 20

// need is what a point's windows and scratch take of VMEM, in bytes.
func (p Point) need() int64 {
	program, err := p.program()
	if err != nil {
		return 0
	}
	return mosaic.MemoryOf(program).Footprint
}

// queue orders points for compilation: as they come, but those last that the
// compiler takes minutes for, and among them those with more to unroll.
func queue(points []Point) {
	cost := func(p Point) int64 {
		program, err := p.program()
		if err != nil {
			return 0
		}
		if over, err := hopeless(program, p.Topology); over || err != nil {
			return 0 // not compiled
		}
		return max(mosaic.MemoryOf(program).Footprint, largest)
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(cost(a), cost(b)) })
}
